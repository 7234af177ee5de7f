# SPDX-License-Identifier: MIT
"""Shellbot's profile: config/profile.yaml, the one place for order and class of joints, limbs, feet, couplings."""

from __future__ import annotations

from functools import lru_cache

from shellbot_common import ProfileError, RobotProfile
from shellbot_description.errors import DescriptionError
from shellbot_description.files import package_path


@lru_cache(maxsize=1)
def complete_profile() -> RobotProfile:
    """Return the profile of the complete robot with all its variants."""
    try:
        return RobotProfile.load(package_path() / "config" / "profile.yaml")
    except ProfileError as error:
        raise DescriptionError(str(error)) from error


@lru_cache(maxsize=None)
def robot_profile(variant: str = "simulation") -> RobotProfile:
    """Return the profile of a variant.

    Raises
    ------
    DescriptionError
        If there is no such variant, or a file of the profile is wrong.
    """
    try:
        return complete_profile().of_variant(variant)
    except ProfileError as error:
        raise DescriptionError(str(error)) from error
