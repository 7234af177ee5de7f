# SPDX-License-Identifier: MIT
"""Variants, and the names and order of joints and links, as the profile has them."""

from __future__ import annotations

from typing import Tuple

from shellbot_common import ProfileError
from shellbot_description.errors import DescriptionError
from shellbot_description.profile import complete_profile, robot_profile

VARIANTS = ("simulation", "full", "walker")
LEG_COUNT = 6
JOINT_CLASSES = ("fan", "coxa", "femur", "tibia", "shoulder", "shell")
"""Classes of the variables file, in its order; those of the profile are generated from it."""


def check_variant(variant: str) -> str:
    """Return `variant`, or raise `DescriptionError` if it is none of `VARIANTS`."""
    if variant not in VARIANTS:
        raise DescriptionError(f"variant {variant!r} does not exist; choose one of {', '.join(VARIANTS)}")
    return variant


def driven_joint_names(variant: str = "simulation") -> Tuple[str, ...]:
    """Return the joints a simulator drives, in the order of every joint array of the project.

    36 names (`simulation`, `full`) or the first 24 of them (`walker`). The six fan joints are all in the list; who
    drives servos reduces them to one motor, see `motor_joint_names`.
    """
    return robot_profile(variant).joint_names


def motor_joint_names(variant: str = "full") -> Tuple[str, ...]:
    """Return the joints that have a motor of their own on the robot: 31 (`full`), 19 (`walker`), 36 (`simulation`).

    On the robot one motor turns all six fans; it stands under the name of `lower_1_fan`.
    """
    profile = robot_profile(variant)
    return profile.joint_names if variant == "simulation" else profile.motor_joints


def joint_class(joint: str) -> str:
    """Return the class of a joint, one of `JOINT_CLASSES`."""
    try:
        return complete_profile().joint_class(joint)
    except ProfileError as error:
        raise DescriptionError(str(error)) from error
