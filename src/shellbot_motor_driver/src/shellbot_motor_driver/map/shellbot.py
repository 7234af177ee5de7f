# SPDX-License-Identifier: MIT
"""Shellbot on its servos: the one module of the driver that knows Shellbot's description."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from shellbot_common import package_file, read_yaml
from shellbot_control import JointLimits
from shellbot_description import driven_joint_names, load_variables, motor_joint_names, robot_profile
from shellbot_motor_driver.errors import ServoMapError
from shellbot_motor_driver.map.driven_robot import ClassServo, DrivenRobot

VARIANTS = ("walker", "full")


def config_file() -> Path:
    """Return the package's servo map."""
    return package_file("shellbot_motor_driver", "config/servos.yaml")


@lru_cache(maxsize=None)
def shellbot(variant: str = "walker") -> DrivenRobot:
    """Return Shellbot as the driver sees it.

    Parameters
    ----------
    variant : str
        ``walker`` (19 servos, 24 joints) or ``full`` (31, 36).

    Raises
    ------
    ServoMapError
        If the variant is for simulators only, or the package's servo map cannot be read.
    """
    if len(motor_joint_names(variant)) == len(driven_joint_names(variant)):
        raise ServoMapError(f"variant {variant!r} is for simulators; choose {' or '.join(VARIANTS)}")
    profile, variables = robot_profile(variant), load_variables()
    kinds = list(profile.joints.values())
    limits = JointLimits(
        profile.joint_names,
        np.array([variables.limits(kind).lower for kind in kinds]),
        np.array([variables.limits(kind).upper for kind in kinds]),
        np.array([variables.velocity(kind) for kind in kinds]),
        np.array([variables.effort(kind) for kind in kinds]),
    )
    reduction = variables.fan_drive.reduction
    servos = {
        kind: ClassServo(variables.limits(kind).servo, reduction if kind == "fan" else 1.0) for kind in profile.classes
    }
    stiffness = {kind: variables.servo_stiffness(kind) * variables.compliance_slope for kind in profile.classes}
    rows = read_yaml(config_file(), ServoMapError).get("servos", {})
    return DrivenRobot(profile, limits, servos, stiffness, rows)
