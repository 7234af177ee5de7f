# SPDX-License-Identifier: MIT
"""How the table of joints judges a joint."""

from __future__ import annotations

import math

import pytest

from shellbot_teleop.joint_table import joint_rows
from shellbot_teleop.robot_monitor import JointsInfo, ServoReading, ServosInfo

NAN = math.nan
URDF = '<robot name="r"><joint name="knee" type="revolute"><limit effort="1.5" velocity="1"/></joint></robot>'


@pytest.mark.parametrize(
    "position, target, servo, level, text",
    [
        (0.1, 0.1, None, "ok", "ok"),
        (0.1, NAN, None, "ok", "ok"),
        (NAN, 0.1, None, "", "no angle"),
        (0.1, 0.25, None, "warn", "behind"),
        (0.1, -0.25, None, "bad", "behind"),
        (0.1, 0.1, ServoReading(0.1, 11.0, 65.0), "warn", "hot"),
        (0.1, 0.1, ServoReading(-0.96, 11.0, 65.0), "bad", "hot, loaded"),
        (0.1, 0.5, ServoReading(0.1, 11.0, 65.0), "bad", "behind, hot"),
        (0.1, 0.1, ServoReading(NAN, NAN, NAN, limp=True), "warn", "limp"),
        (0.1, 0.1, ServoReading(0.0, 11.0, 30.0, trouble="silent"), "bad", "silent"),
    ],
)
def test_a_joint_is_as_bad_as_the_worst_that_is_known_of_it(position, target, servo, level, text):
    servos = ServosInfo(1, NAN, "", 0, (), 0.0, {"knee": servo} if servo else {})
    measured, targets = JointsInfo(("knee",), (position,), (), 0.0), JointsInfo(("knee",), (target,), (), 0.0)
    (row,) = joint_rows(None, measured, targets, servos)
    assert (row.level, row.text) == (level, text)


@pytest.mark.parametrize(
    "servo, description, load, text",
    [
        (NAN, URDF, -0.8, "loaded"),
        (0.1, URDF, 0.1, "ok"),  # the servo knows better
        (NAN, URDF.replace('effort="1.5"', ""), NAN, "ok"),
        (NAN, "<robot", NAN, "ok"),
        (NAN, None, NAN, "ok"),
    ],
)
def test_without_a_servo_the_load_is_the_torque_over_the_effort_limit(servo, description, load, text):
    servos = ServosInfo(1, NAN, "", 0, (), 0.0, {"knee": ServoReading(servo, NAN, NAN)})
    measured = JointsInfo(("knee",), (0.1,), (-1.2,), 0.0)
    (row,) = joint_rows(None, measured, None, servos, description)
    assert row.load == pytest.approx(load, nan_ok=True) and row.text == text
