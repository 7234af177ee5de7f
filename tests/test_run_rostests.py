# SPDX-License-Identifier: MIT
"""Rostests run side by side, the longest first; what fails, or runs no test, is named."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts" / "lib"))

import run_rostests  # noqa: E402

# plays rostest --results-base-dir FOLDER FILE: `long` ends only when `middle` has begun
ROSTEST = """#!/bin/sh
name=$(basename "$3" .test)
echo "$name" >> begun
[ "$name" = long ] && for i in $(seq 600); do grep -q middle begun && break; sleep 0.1; done
grep -q middle begun || exit 1
echo "<testsuite tests='1' failures='0' errors='0'/>" > "$2/rostest-$name.xml"
[ "$name" = empty ] && echo "<testsuite tests='0' failures='0' errors='0'/>" > "$2/result.xml" && exit 0
[ "$name" = short ] && failures=1 || failures=0
[ "$name" = short ] && case="<testcase name='test_1'><failure>fell at 3 s</failure></testcase>"
echo "<testsuite tests='2' failures='$failures' errors='0'>$case</testsuite>" > "$2/result.xml"
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    program = tmp_path / "rostest"
    program.write_text(ROSTEST)
    program.chmod(0o755)
    folder = tmp_path / "src" / "robot" / "test" / "ros"
    folder.mkdir(parents=True)
    made = []
    for name, limit in (("short", 20), ("empty", 10), ("long", 400), ("middle", 100)):
        made.append(folder / f"{name}.test")
        made[-1].write_text(f"<launch><test test-name='{name}' time-limit='{limit}'/></launch>")
    return made


def test_two_at_a_time_the_longest_first_and_failures_are_named(files, tmp_path, capsys):
    failed = run_rostests.run_all(files, tmp_path / "results", jobs=2)
    short, empty = (str(tmp_path / "src" / "robot" / "test" / "ros" / f"{name}.test") for name in ("short", "empty"))
    reasons = dict(zip(failed[0::2], failed[1::2]))
    assert reasons == {short: "       test_1: fell at 3 s", empty: "       no test ran (exit status 0)"}
    begun = (tmp_path / "begun").read_text().split()
    assert set(begun[:2]) == {"long", "middle"} and set(begun[2:]) == {"short", "empty"}
    said = capsys.readouterr().out
    assert "no test ran (exit status 0)" in said and said.count("  2 tests") == 3
    assert "test_1: fell at 3 s" in said
    none = tmp_path / "results" / "ros" / "robot" / "empty" / "none.xml"
    assert "no test ran" in none.read_text()
