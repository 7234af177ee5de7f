# SPDX-License-Identifier: MIT
"""The demo's verdict becomes the exit status of scripts/sim, which roslaunch would hide."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "lib" / "run_demo.py"

# plays roslaunch: leaves the summary named by the last argument, or waits to be interrupted
STAND_IN = """
import json, pathlib, signal, sys, time
results = [a for a in sys.argv if a.startswith("results:=")][-1][9:]
if sys.argv[1] == "wait":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as roslaunch does, also where the caller ignores SIGINT
    try:
        print("started", flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        print("interrupted once", flush=True)
elif sys.argv[1] != "nothing":
    summary = {"success": sys.argv[1] == "good", "message": "fell over"}
    pathlib.Path(results, "summary.json").write_text(json.dumps(summary))
"""


def command(what, *arguments):
    return [sys.executable, str(SCRIPT), sys.executable, "-c", STAND_IN, what, *arguments]


@pytest.mark.parametrize(
    "what, status, words", [("good", 0, ""), ("bad", 1, "fell over"), ("nothing", 1, "no summary")]
)
def test_verdict(tmp_path, what, status, words):
    for arguments in ([f"results:={tmp_path}"], ["results:="], []):
        for file in tmp_path.iterdir():
            file.unlink()
        done = subprocess.run(command(what, *arguments), capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == status
        assert words in done.stderr
        assert ("results:=FOLDER" in done.stdout) == (arguments != [f"results:={tmp_path}"])
        assert (tmp_path / "summary.json").exists() == (what != "nothing" and arguments == [f"results:={tmp_path}"])


def test_an_old_summary_does_not_count(tmp_path):
    (tmp_path / "summary.json").write_text(json.dumps({"success": True}), encoding="utf-8")
    os.utime(tmp_path / "summary.json", (0, 0))
    done = subprocess.run(
        command("nothing", f"results:={tmp_path}"), capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 1


def test_ctrl_c_reaches_the_launch(tmp_path):
    process = subprocess.Popen(command("wait", f"results:={tmp_path}"), stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=600)
    assert output == "interrupted once\n"
    assert process.returncode == 1
