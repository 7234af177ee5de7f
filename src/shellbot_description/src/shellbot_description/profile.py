# SPDX-License-Identifier: MIT
"""Shellbot's profile: config/profile.yaml, the one place for order and class of joints, limbs, feet, couplings."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from shellbot_common import ProfileError, RobotProfile
from shellbot_common.robot_profile import JointClass
from shellbot_description.errors import DescriptionError
from shellbot_description.files import package_path

if TYPE_CHECKING:
    from shellbot_description.loading import Source


@lru_cache(maxsize=1)
def complete_profile() -> RobotProfile:
    """Return the profile of the complete robot with all its variants."""
    try:
        return RobotProfile.load(package_path() / "config" / "profile.yaml")
    except ProfileError as error:
        raise DescriptionError(str(error)) from error


@lru_cache(maxsize=None)
def _adopted(variant: str) -> RobotProfile:
    try:
        return complete_profile().of_variant(variant)
    except ProfileError as error:
        raise DescriptionError(str(error)) from error


def robot_profile(variant: str = "simulation", variables: Source = None) -> RobotProfile:
    """Return the profile of a variant.

    Parameters
    ----------
    variant : str
        As of `expand`.
    variables : str, Path or mapping, optional
        As of `expand`: stiffness and rotor inertia of the joint classes follow from them.

    Raises
    ------
    DescriptionError
        If there is no such variant, or a file of the profile is wrong.
    """
    from shellbot_description.loading import load_variables  # needs the names, which need this module

    profile = _adopted(variant)
    if variables is None:
        return profile
    changed = load_variables(variables)
    classes = {kind: JointClass(changed.servo_stiffness(kind), changed.armature(kind)) for kind in profile.classes}
    return profile.replace(classes=classes)
