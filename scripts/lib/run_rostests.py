# SPDX-License-Identifier: MIT
"""Run every rostest of the workspace, as many at a time as there are cores, and say which failed."""

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
from typing import List, Tuple

OF_ROSTEST = "rostest-"  # begins the file in which rostest has, as tests, that each of its programs came to its end
LIMIT_S = 1500  # longer than any <test time-limit>: only a hung roslaunch meets it


def read_results(xml_folder: Path) -> Tuple[int, List[str]]:
    """Return the number of tests in the JUnit files of a folder, and what failed: the test and its message."""
    tests, bad = 0, []
    for file in xml_folder.rglob("*.xml"):
        try:
            root = ElementTree.parse(str(file)).getroot()
        except ElementTree.ParseError as error:
            bad.append(f"{file.name}: {error}")
            continue
        for suite in root.iter("testsuite"):
            tests += 0 if file.name.startswith(OF_ROSTEST) else int(suite.get("tests", 0))
            if int(suite.get("failures", 0)) + int(suite.get("errors", 0)):
                cases = [
                    (case, part) for case in suite.iter("testcase") for part in case if part.tag in ("failure", "error")
                ]
                bad += [
                    f"{case.get('name')}: {(part.text or 'no message').strip().splitlines()[0]}" for case, part in cases
                ]
                bad += [] if cases else [f"{file.name}: counts a failure, names none"]
    return tests, bad


class Rostest:
    """One .test file under way, with a master, a log and a folder of results of its own."""

    def __init__(self, file: Path, results: Path) -> None:
        self.file = file
        self.folder = results / "ros" / file.parents[2].name / file.stem
        self.folder.mkdir(parents=True)
        self._log = self.folder / "output.log"
        self._start = time.monotonic()
        command = ["rostest", "--results-base-dir", str(self.folder), str(file)]
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)

    def ended(self) -> bool:
        """Say whether it is over; one that hangs is ended."""
        if self._process.poll() is None and time.monotonic() - self._start > LIMIT_S:
            self.end()
        return self._process.poll() is not None

    def end(self) -> None:
        """Let roslaunch end its nodes as at Ctrl-C, so that none of them disturbs the next test; then insist."""
        os.killpg(self._process.pid, signal.SIGINT)
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def report(self) -> List[str]:
        """Print one line, with the output if it failed; return the lines of a failure: file, tests, their messages."""
        code = self._process.returncode
        tests, bad = read_results(self.folder)
        good = code == 0 and not bad and tests > 0
        spent = time.monotonic() - self._start
        print(f"{'ok    ' if good else 'FAILED'} {tests:3d} tests {spent:6.1f} s  {self.file}", flush=True)
        if not good:
            if tests == 0:
                bad.append(f"no test ran (exit status {code})")
                stem = self.file.stem
                (self.folder / "none.xml").write_text(
                    f'<testsuite name="{stem}" tests="1" failures="1" errors="0"><testcase name="starts" '
                    f'classname="{stem}"><failure>no test ran</failure></testcase></testsuite>',
                    encoding="utf-8",
                )
            bad = [str(self.file)] + [f"       {line}" for line in dict.fromkeys(bad or [f"exit status {code}"])]
            print("\n".join(bad[1:]))
            print("\n".join(self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-80:]))
        return bad


def time_limit(file: Path) -> float:
    """Return the sum of the time limits in a .test file: the longest go first, so that all cores end together."""
    tests = ElementTree.parse(str(file)).getroot().iter("test")
    return sum(float(test.get("time-limit", 60.0)) for test in tests)


def run_all(files: List[Path], results: Path, jobs: int) -> List[str]:
    """Run the files, as many at a time as `jobs`, and return the lines that say which failed and why."""
    waiting, running, failed = sorted(files, key=time_limit), [], []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(Rostest(waiting.pop(), results))
            time.sleep(0.1)
            for test in [test for test in running if test.ended()]:
                running.remove(test)
                failed += test.report()
    finally:
        for test in running:
            test.end()
    return failed


def main() -> int:
    """Find the .test files and run them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, required=True, help="folder for the JUnit files")
    parser.add_argument("-k", dest="word", default="", help="only files whose path has this word in it")
    parser.add_argument("-j", dest="jobs", type=int, default=len(os.sched_getaffinity(0)), help="files at a time")
    options = parser.parse_args()
    # in the background SIGINT is ignored, and the nodes, which end on it, would inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)
    files = [f for f in sorted(Path("src").glob("*/test/ros/*.test")) if options.word in str(f)]
    if not files:
        print("no rostest matches" if options.word else "no rostest found")
        return 0 if options.word else 1
    shutil.rmtree(options.results / "ros", ignore_errors=True)  # what an earlier call left is no result of this one
    failed = run_all(files, options.results, max(options.jobs, 1))
    if failed:  # again, below all output: where it is cut, its end survives
        print("\n".join(["failed:", *failed]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
