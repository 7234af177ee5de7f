# SPDX-License-Identifier: MIT
"""Run the demo's launch and end with the demo's own verdict: roslaunch says 0 however a node ended."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import List


def launch(command: List[str]) -> None:
    """Run a command to its end; Ctrl-C and SIGTERM reach it once, as SIGINT."""
    early: List[int] = []  # Ctrl-C before there is anything to pass it on to
    started: List[subprocess.Popen[bytes]] = []

    def pass_on(number: int, _: object) -> None:
        if started:
            started[0].send_signal(signal.SIGINT)
        else:
            early.append(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, pass_on)
    started.append(subprocess.Popen(command, start_new_session=True))
    if early:
        started[0].send_signal(signal.SIGINT)
    started[0].wait()


def verdict(summary: Path, newer_than: float) -> int:
    """Return 0 if the summary of this run says success, else 1 with a sentence on the error stream."""
    if not summary.exists() or summary.stat().st_mtime < newer_than:
        sys.stderr.write("the demo left no summary: see its last message above\n")
        return 1
    found = json.loads(summary.read_text(encoding="utf-8"))
    if found.get("success"):
        return 0
    sys.stderr.write(f"the demo did not succeed: {found.get('message', 'no reason given')}\n")
    return 1


def main() -> int:
    """Arguments: the roslaunch command. Without results:=FOLDER the summary goes to a folder that is removed."""
    command = sys.argv[1:]
    folders = [argument[len("results:=") :] for argument in command if argument.startswith("results:=")]
    has_folder = bool(folders and folders[-1])
    with tempfile.TemporaryDirectory() as own:
        folder = Path(folders[-1]) if has_folder else Path(own)
        mark = Path(own) / "start"
        mark.touch()
        if not has_folder:
            command = [a for a in command if not a.startswith("results:=")] + ["pictures:=false", f"results:={own}"]
        launch(command)
        status = verdict(folder / "summary.json", mark.stat().st_mtime)
    if not has_folder:
        sys.stdout.write("for pictures, and of the mission a film: the same with results:=FOLDER\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
