# SPDX-License-Identifier: MIT
"""Run every rostest of the workspace, one after the other, and say which failed."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

LIMIT_S = 420  # longer than any <test time-limit>: only a hung roslaunch meets it


def count(xml_folder: Path) -> tuple:
    """Return (tests, failures and errors) over the JUnit files of a folder."""
    tests = bad = 0
    for file in xml_folder.rglob("*.xml"):
        try:
            root = ElementTree.parse(str(file)).getroot()
        except ElementTree.ParseError:
            return tests, bad + 1
        for suite in root.iter("testsuite"):
            tests += int(suite.get("tests", 0))
            bad += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    return tests, bad


def end(process: subprocess.Popen) -> None:
    """Let roslaunch end its nodes as at Ctrl-C, so that none of them disturbs the next test; then insist."""
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run_one(file: Path, results: Path) -> bool:
    """Run one .test file; print its output only if it failed."""
    folder = results / "ros" / file.parents[2].name / file.stem
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    start = time.monotonic()
    command = ["rostest", "--results-base-dir", str(folder), str(file)]
    with open(folder / "output.log", "w+", encoding="utf-8", errors="replace") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = process.wait(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            code = -1
            end(process)
        except KeyboardInterrupt:
            end(process)
            raise
    tests, bad = count(folder)
    good = code == 0 and bad == 0 and tests > 0
    print(f"{'ok    ' if good else 'FAILED'} {tests:3d} tests {time.monotonic() - start:6.1f} s  {file}", flush=True)
    if not good:
        if tests == 0:
            print(f"       no test ran (exit status {code})")
            (folder / "none.xml").write_text(
                f'<testsuite name="{file.stem}" tests="1" failures="1" errors="0"><testcase name="starts" '
                f'classname="{file.stem}"><failure>no test ran</failure></testcase></testsuite>',
                encoding="utf-8",
            )
        print("\n".join((folder / "output.log").read_text(encoding="utf-8", errors="replace").splitlines()[-80:]))
    return good


def main() -> int:
    """Find the .test files and run them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, required=True, help="folder for the JUnit files")
    parser.add_argument("-k", dest="word", default="", help="only files whose path has this word in it")
    options = parser.parse_args()
    files = [f for f in sorted(Path("src").glob("*/test/ros/*.test")) if options.word in str(f)]
    if not files:
        print("no rostest matches" if options.word else "no rostest found")
        return 0 if options.word else 1
    shutil.rmtree(options.results / "ros", ignore_errors=True)  # what an earlier call left is no result of this one
    failed = [f for f in files if not run_one(f, options.results)]
    for file in failed:
        print(f"failed: {file}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
