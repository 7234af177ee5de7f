# SPDX-License-Identifier: MIT
"""Variants, and the names and order of limbs, joints and links."""

from __future__ import annotations

from typing import Tuple

from shellbot_description.errors import DescriptionError

VARIANTS = ("simulation", "full", "walker")
LEG_COUNT = 6
LOWER_CLASSES = ("fan", "coxa", "femur", "tibia")
UPPER_CLASSES = ("shoulder", "shell")
JOINT_CLASSES = LOWER_CLASSES + UPPER_CLASSES

_LEGS = range(1, LEG_COUNT + 1)
_LOWER_JOINTS = tuple(f"lower_{k}_{name}" for k in _LEGS for name in LOWER_CLASSES)
_UPPER_JOINTS = tuple(f"upper_{k}_{name}" for k in _LEGS for name in UPPER_CLASSES)


def check_variant(variant: str) -> str:
    """Return `variant`, or raise `DescriptionError` if it is none of `VARIANTS`."""
    if variant not in VARIANTS:
        raise DescriptionError(f"variant {variant!r} does not exist; choose one of {', '.join(VARIANTS)}")
    return variant


def has_upper_legs(variant: str) -> bool:
    """Tell whether the variant carries the six upper legs."""
    return check_variant(variant) != "walker"


def limb_names(variant: str = "simulation") -> Tuple[str, ...]:
    """Return the limbs: lower_1 ... lower_6 and, where present, upper_1 ... upper_6."""
    lower = tuple(f"lower_{k}" for k in _LEGS)
    return lower + tuple(f"upper_{k}" for k in _LEGS) if has_upper_legs(variant) else lower


def driven_joint_names(variant: str = "simulation") -> Tuple[str, ...]:
    """Return the joints a simulator drives, in the order of every joint array of the project.

    36 names (`simulation`, `full`) or the first 24 of them (`walker`). The six fan joints are all in the list; who
    drives servos reduces them to one motor, see `motor_joint_names`.
    """
    return _LOWER_JOINTS + _UPPER_JOINTS if has_upper_legs(variant) else _LOWER_JOINTS


def motor_joint_names(variant: str = "full") -> Tuple[str, ...]:
    """Return the joints that have a motor of their own on the robot: 31 (`full`), 19 (`walker`), 36 (`simulation`).

    On the robot one motor turns all six fans; it stands under the name of `lower_1_fan`.
    """
    names = driven_joint_names(variant)
    if variant == "simulation":
        return names
    return tuple(name for name in names if not name.endswith("_fan") or name == "lower_1_fan")


def joint_class(joint: str) -> str:
    """Return the class of a joint: the last word of its name, one of `JOINT_CLASSES`."""
    if joint not in _LOWER_JOINTS and joint not in _UPPER_JOINTS:
        raise DescriptionError(f"joint {joint!r} does not exist; names are lower_<1..6>_fan ... upper_<1..6>_shell")
    return joint.rsplit("_", 1)[1]
