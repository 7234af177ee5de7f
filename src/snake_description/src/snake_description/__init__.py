# SPDX-License-Identifier: MIT
"""Geometry, masses, limits and profile of a snake of any number of pitch-yaw modules."""

from snake_description.expansion import SIMULATORS, expand
from snake_description.profile import joint_names, link_names, servo_map, snake_profile
from snake_description.variables import DescriptionError, SnakeServo, SnakeVariables, load_variables

__all__ = [
    "DescriptionError",
    "SIMULATORS",
    "SnakeServo",
    "SnakeVariables",
    "expand",
    "joint_names",
    "link_names",
    "load_variables",
    "servo_map",
    "snake_profile",
]
