# SPDX-License-Identifier: MIT
"""Limits of the driven joints."""

from __future__ import annotations

import numpy as np

from shellbot_control import JointLimits
from shellbot_description import joint_class, load_variables
from shellbot_motor_driver.map.servo_map import ServoMap


def joint_limits(servo_map: ServoMap) -> JointLimits:
    """Return the limits of the driven joints: the description's, which the URDF has, too."""
    variables = load_variables()
    kinds = [joint_class(name) for name in servo_map.joint_names]
    limits = [variables.limits(kind) for kind in kinds]
    return JointLimits(
        servo_map.joint_names,
        np.array([limit.lower for limit in limits]),
        np.array([limit.upper for limit in limits]),
        np.array([variables.velocity(kind) for kind in kinds]),
        np.array([variables.effort(kind) for kind in kinds]),
    )
