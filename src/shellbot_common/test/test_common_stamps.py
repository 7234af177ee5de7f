# SPDX-License-Identifier: MIT
"""The reset rule, and that every core and node keeps to it."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import pytest

from shellbot_common import GAP, TICK, SettingsError, Stamp, classify_stamp, labelled_stamp, stamp_label

NEWEST = 12.34


@pytest.mark.parametrize(
    "elapsed, kind",
    [
        (TICK, Stamp.NEXT),
        (GAP, Stamp.NEXT),
        (GAP + TICK, Stamp.AFTER_GAP),
        (60.0, Stamp.AFTER_GAP),
        (0.0, Stamp.REPEATED),
        (-TICK, Stamp.LATE),
        (-GAP, Stamp.LATE),
        (-GAP - TICK, Stamp.RESET),
        (-NEWEST, Stamp.RESET),
    ],
)
@pytest.mark.parametrize("start", [0.0, 1.7e9])  # simulated time, and the wall clock's
def test_what_a_stamp_means(elapsed, kind, start):
    assert classify_stamp(start + NEWEST, start + NEWEST + elapsed) is kind


@pytest.mark.parametrize("nothing", [None, -math.inf])
def test_the_first_stamp(nothing):
    assert classify_stamp(nothing, 0.0) is Stamp.FIRST


def test_five_ticks_are_late_wherever_they_begin():
    for tick in range(5, 100_000, 37):  # 0.35 - 0.30 is a little less than 0.05, 0.15 - 0.10 is not
        newest, before = tick / 100, (tick - 5) / 100
        assert classify_stamp(newest, before) is Stamp.LATE
        assert classify_stamp(before, newest) is Stamp.NEXT


@pytest.mark.parametrize(
    "module",
    [
        "shellbot_action_manager/**/core.py",
        "shellbot_action_manager/**/action_manager_node.py",
        "shellbot_action_manager/**/odometry.py",
        "shellbot_action_manager/**/odometry_node.py",
        "shellbot_kinematics/**/server_core.py",
        "shellbot_gazebo_connector/**/connector_core.py",
    ],
)
def test_whoever_looks_at_stamps_uses_the_one_rule(module):
    (file,) = Path(__file__).resolve().parents[2].glob(module)
    calls = {node.func.id for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
             if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}  # fmt: skip
    assert "classify_stamp" in calls


def test_the_label_of_a_command_carries_its_stamp_and_other_labels_carry_none():
    assert stamp_label(12_340_000_000) == "stamp:12340000000"
    assert labelled_stamp(stamp_label(12_340_000_000)) == 12_340_000_000
    assert labelled_stamp("") is None and labelled_stamp("joints") is None
    for label in ("stamp:", "stamp:-1", "stamp:1.5", "stamp:\u0662", "stamp:soon"):
        with pytest.raises(SettingsError, match="is no stamp; give 'stamp:' and whole nanoseconds"):
            labelled_stamp(label)
