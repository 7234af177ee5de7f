# SPDX-License-Identifier: MIT
"""Waiting for a robot that runs over ROS: news of its clock, not the wall's, decide."""

from __future__ import annotations

import pytest

pytest.importorskip("rospy")

from robot_evaluation import running_robot_node as running  # noqa: E402
from shellbot_common import SettingsError  # noqa: E402


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(running, "PERIOD", 0.001)
    monkeypatch.setattr(running, "WAIT", 0.3)


def test_it_waits_as_long_as_the_clock_goes_on():
    stamps = iter(0.01 * k for k in range(2000))
    seen, commands = [0.0], []

    def clock():
        seen.append(next(stamps))
        return seen[-1]

    running.wait_until(lambda: seen[-1] >= 10.0, clock, lambda: commands.append(1))
    assert 9.0 < seen[-1] < 11.0 and len(commands) > 400


def test_a_clock_that_stands_still_ends_the_wait():
    with pytest.raises(SettingsError, match="is it paused"):
        running.wait_until(lambda: False, lambda: 5.0)


def test_a_reset_ends_the_wait_and_a_late_stamp_does_not():
    stamps = [5.0, 5.01, 5.0, 5.02, 0.01]
    with pytest.raises(SettingsError, match="was reset at 5.0 s"):
        running.wait_until(lambda: False, lambda: stamps.pop(0))
    assert not stamps
