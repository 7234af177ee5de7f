# SPDX-License-Identifier: MIT
"""A demo's verdict, or a launch that ended without Ctrl-C, is the exit status of scripts/sim; roslaunch hides both."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "lib" / "run_launch.py"

# plays roslaunch: leaves the summary named by the last argument, or waits to be interrupted
STAND_IN = """
import json, pathlib, signal, sys, time
results = [a for a in sys.argv if a.startswith("results:=")][-1:]
if sys.argv[1] == "wait":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as roslaunch does, also where the caller ignores SIGINT
    try:
        print("started", flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        print("interrupted once", flush=True)
elif sys.argv[1] == "refuses":
    sys.exit(3)
elif sys.argv[1] != "nothing":
    summary = {"success": sys.argv[1] == "good", "message": "fell over"}
    pathlib.Path(results[0][9:], "summary.json").write_text(json.dumps(summary))
"""


def command(*words):
    return [sys.executable, str(SCRIPT), sys.executable, "-c", STAND_IN, *words]


def ended(*words):
    return subprocess.run(command(*words), capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.parametrize(
    "what, status, words", [("good", 0, ""), ("bad", 1, "fell over"), ("nothing", 1, "no summary")]
)
def test_verdict(tmp_path, what, status, words):
    for arguments in ([f"results:={tmp_path}"], ["results:="], []):
        for file in tmp_path.iterdir():
            file.unlink()
        done = ended(what, "demo:=mission", *arguments)
        assert done.returncode == status
        assert words in done.stderr
        assert ("results:=FOLDER" in done.stdout) == (arguments != [f"results:={tmp_path}"])
        assert (tmp_path / "summary.json").exists() == (what != "nothing" and arguments == [f"results:={tmp_path}"])


def test_an_old_summary_does_not_count(tmp_path):
    (tmp_path / "summary.json").write_text(json.dumps({"success": True}), encoding="utf-8")
    os.utime(tmp_path / "summary.json", (0, 0))
    assert ended("nothing", "demo:=true", f"results:={tmp_path}").returncode == 1


def test_a_robot_that_nobody_ended_has_failed(tmp_path):
    for arguments in ([], ["demo:=false"], ["demo:=true", "demo:=false"]):
        done = ended("nothing", *arguments)
        assert done.returncode == 1 and "the launch ended without Ctrl-C: 'REQUIRED process' above names" in done.stderr
    assert ended("refuses").returncode == 3, "as roslaunch says"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("arguments, status", [(["demo:=true"], 1), ([], 0)])
def test_ctrl_c_reaches_the_launch(arguments, status, number):
    process = subprocess.Popen(
        command("wait", *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # the tests themselves may run under nohup
    )
    assert process.stdout.readline() == "started\n"
    process.send_signal(number)
    output, words = process.communicate(timeout=600)
    assert output.startswith("interrupted once\n") and "without Ctrl-C" not in words
    assert process.returncode == status


def test_nohup_outlives_its_terminal():
    process = subprocess.Popen(
        ["nohup", *command("wait")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGHUP)
    time.sleep(1.0)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=600)[0] == "interrupted once\n" and process.returncode == 0
