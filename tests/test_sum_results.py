# SPDX-License-Identifier: MIT
"""The closing line of scripts/test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "scripts/lib/sum_results.py"
SUITE = '<testsuites><testsuite tests="{}" failures="{}" errors="{}" skipped="{}"/></testsuites>'


@pytest.mark.parametrize(
    ("what", "again", "line", "status"),
    [
        ("all", (4, 0, 0, 1), "12 passed, 0 failed, 1 skipped; 3 of them also interpreted, 0 failed there", 0),
        ("all", (4, 1, 1, 0), "12 passed, 0 failed, 1 skipped; 4 of them also interpreted, 2 failed there", 1),
        ("unit", None, "9 passed, 0 failed, 1 skipped; 0 of them also interpreted, 0 failed there", 0),
        ("ros", (4, 1, 1, 0), "3 passed, 0 failed, 0 skipped", 0),
    ],
)
def test_a_test_that_is_also_interpreted_counts_once(tmp_path, what, again, line, status):
    (tmp_path / "ros/walk").mkdir(parents=True)
    (tmp_path / "unit.xml").write_text(SUITE.format(10, 0, 0, 1), encoding="utf-8")
    (tmp_path / "ros/walk/live.xml").write_text(SUITE.format(3, 0, 0, 0), encoding="utf-8")
    (tmp_path / "ros/walk/rostest-live.xml").write_text(SUITE.format(1, 0, 0, 0), encoding="utf-8")
    if again:
        (tmp_path / "interpreted.xml").write_text(SUITE.format(*again), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), what], stdout=subprocess.PIPE, text=True, check=False
    )
    assert (done.stdout, done.returncode) == (f"{line}\n", status)


def test_a_rostest_that_did_not_end_is_a_failure(tmp_path):
    (tmp_path / "ros/walk").mkdir(parents=True)
    (tmp_path / "ros/walk/rostest-live.xml").write_text(SUITE.format(2, 1, 0, 0), encoding="utf-8")
    done = subprocess.run([sys.executable, str(SCRIPT), str(tmp_path), "ros"], stdout=subprocess.PIPE, check=False)
    assert (done.stdout, done.returncode) == (b"0 passed, 1 failed, 0 skipped\n", 1)
