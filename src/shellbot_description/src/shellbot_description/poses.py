# SPDX-License-Identifier: MIT
"""Named poses of config/poses.yaml."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Dict

import numpy as np

from shellbot_common import RobotProfile
from shellbot_description.errors import DescriptionError
from shellbot_description.loading import load_variables
from shellbot_description.profile import complete_profile, robot_profile

POSES = ("spawn", "sit", "stand", "closed")


@dataclass(frozen=True)
class Pose:
    """A named pose on the ground: body centre above it (m)."""

    name: str
    body_height: float


def checked_poses(profile: RobotProfile) -> Dict[str, Pose]:
    """Return the poses of a profile by name, their angles checked against the joints' ranges.

    Raises
    ------
    DescriptionError
        If an angle is beyond the range of its joint, or a pose has no height.
    """
    limits = load_variables().joints
    poses = {}
    for name, values in profile.poses.items():
        for joint, angle in profile.pose(name).items():
            kind = profile.joint_class(joint)
            low, high = limits[kind].lower, limits[kind].upper
            if not low <= angle <= high:
                raise DescriptionError(
                    f"poses.{name}: {kind}_deg = {math.degrees(angle):.6g} is beyond the joint's range "
                    f"{math.degrees(low):.1f} to {math.degrees(high):.1f}; see joints.{kind} in config/shellbot.yaml"
                )
        if "body_height_m" not in values:
            raise DescriptionError(f"poses.{name} lacks body_height_m; give the body centre's height above ground")
        poses[name] = Pose(name, values["body_height_m"])
    return poses


@lru_cache(maxsize=1)
def _poses() -> Dict[str, Pose]:
    return checked_poses(complete_profile())


def pose(name: str) -> Pose:
    """Return a named pose with its body height.

    Raises
    ------
    DescriptionError
        If there is no pose of that name.
    """
    poses = _poses()
    if name not in poses:
        raise DescriptionError(f"pose {name!r} does not exist; choose one of {', '.join(sorted(poses))}")
    return poses[name]


def named_pose(name: str, variant: str = "simulation") -> Dict[str, float]:
    """Return the angle (rad) of each driven joint of the variant in a named pose."""
    return robot_profile(variant).pose(pose(name).name)


def named_pose_array(name: str, variant: str = "simulation") -> np.ndarray:
    """Return the angles (n,) of a named pose, rad, in the order of `driven_joint_names`."""
    return np.array(list(named_pose(name, variant).values()))
