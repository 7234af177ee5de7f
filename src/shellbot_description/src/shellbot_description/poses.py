# SPDX-License-Identifier: MIT
"""Named poses of config/poses.yaml."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Dict, Mapping, Optional

import numpy as np

from shellbot_common import SettingsError, check_names, check_number, read_yaml
from shellbot_description.errors import DescriptionError
from shellbot_description.files import package_path
from shellbot_description.loading import load_variables
from shellbot_description.names import JOINT_CLASSES, driven_joint_names, joint_class

POSES = ("spawn", "sit", "stand", "closed")


@dataclass(frozen=True)
class Pose:
    """A pose: angle of each joint class (rad), body centre above ground and radius of the foot circle (m)."""

    name: str
    angles: Mapping[str, float]
    body_height: float
    foot_radius: Optional[float]


def _parse(name: str, data: Mapping[str, Any], where: str) -> Pose:
    required = (*(f"{item}_deg" for item in JOINT_CLASSES), "body_height_m")
    try:
        check_names(data, (*required, "foot_radius_m"), required)
        for key, value in data.items():
            check_number(key, value, *((-360.0, 360.0, "deg") if key.endswith("_deg") else (0.0, 1.0, "m")))
    except SettingsError as error:
        raise DescriptionError(f"{where}: {error}") from error
    angles = {item: math.radians(data[f"{item}_deg"]) for item in JOINT_CLASSES}
    limits = load_variables().joints
    for item, angle in angles.items():
        low, high = limits[item].lower, limits[item].upper
        if not low <= angle <= high:
            raise DescriptionError(
                f"{where}.{item}_deg = {data[item + '_deg']} is beyond the joint's range "
                f"{math.degrees(low):.1f} to {math.degrees(high):.1f}; see joints.{item} in config/shellbot.yaml"
            )
    return Pose(name, angles, float(data["body_height_m"]), data.get("foot_radius_m"))


def parse_poses(data: Mapping[str, Any], where: str = "poses.yaml") -> Dict[str, Pose]:
    """Check the content of a poses file and return the poses by name."""
    entries = data.get("poses")
    if not isinstance(entries, dict) or not all(isinstance(entry, dict) for entry in entries.values()):
        raise DescriptionError(f"{where}: needs a mapping `poses` from names to joint angles")
    poses = {name: _parse(name, entry, f"{where}: {name}") for name, entry in entries.items() if "same_as" not in entry}
    for name, entry in entries.items():
        if "same_as" in entry:
            if entry["same_as"] not in poses or len(entry) != 1:
                choices = ", ".join(sorted(poses))
                raise DescriptionError(f"{where}: {name}.same_as must stand alone and be one of {choices}")
            same = poses[entry["same_as"]]
            poses[name] = Pose(name, same.angles, same.body_height, same.foot_radius)
    missing = sorted(set(POSES) - set(poses))
    if missing:
        raise DescriptionError(f"{where}: pose {missing[0]} is missing; needed are {', '.join(POSES)}")
    return poses


@lru_cache(maxsize=1)
def _poses() -> Dict[str, Pose]:
    path = package_path() / "config" / "poses.yaml"
    return parse_poses(read_yaml(path, DescriptionError), str(path))


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
    angles = pose(name).angles
    return {joint: angles[joint_class(joint)] for joint in driven_joint_names(variant)}


def named_pose_array(name: str, variant: str = "simulation") -> np.ndarray:
    """Return the angles (n,) of a named pose, rad, in the order of `driven_joint_names`."""
    return np.array(list(named_pose(name, variant).values()))
