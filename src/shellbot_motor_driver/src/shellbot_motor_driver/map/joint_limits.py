# SPDX-License-Identifier: MIT
"""Limits of the driven joints."""

from __future__ import annotations

from shellbot_control import JointLimits
from shellbot_motor_driver.map.servo_map import ServoMap


def joint_limits(servo_map: ServoMap) -> JointLimits:
    """Return the limits of the driven joints: the description's, which the URDF has, too."""
    return servo_map.robot.limits
