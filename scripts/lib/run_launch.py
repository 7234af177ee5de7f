# SPDX-License-Identifier: MIT
"""Run a launch for scripts/sim and end with a status that says how it went: roslaunch says 0 however a node ended."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import List, Tuple

DEMOS = ("true", "mission")


def launch(command: List[str]) -> Tuple[int, bool]:
    """Run a command to its end; Ctrl-C, SIGTERM and a terminal that closes reach it once, as SIGINT.

    Returns
    -------
    int, bool
        Its exit status, and whether the user ended it so.
    """
    ended: List[int] = []  # perhaps before there is anything to pass it on to
    started: List[subprocess.Popen[bytes]] = []

    def pass_on(number: int, _: object) -> None:
        ended.append(number)
        if started:
            started[0].send_signal(signal.SIGINT)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup
            signal.signal(number, pass_on)
    started.append(subprocess.Popen(command, start_new_session=True))
    if ended:
        started[0].send_signal(signal.SIGINT)
    return started[0].wait(), bool(ended)


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


def run_robot(command: List[str]) -> int:
    """Run a robot until Ctrl-C; a launch that ends before has lost the simulator or failed to spawn the robot."""
    status, by_user = launch(command)
    if status or by_user:
        return status
    sys.stderr.write(
        "the launch ended without Ctrl-C: 'REQUIRED process' above names the node; its error stands before\n"
    )
    return 1


def run_demo(command: List[str]) -> int:
    """Run a demo to its verdict; without results:=FOLDER the summary goes to a folder that is removed."""
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


def main() -> int:
    """Arguments: the roslaunch command."""
    command = sys.argv[1:]
    demos = [argument[len("demo:=") :] for argument in command if argument.startswith("demo:=")]
    return (run_demo if demos and demos[-1] in DEMOS else run_robot)(command)


if __name__ == "__main__":
    sys.exit(main())
