# SPDX-License-Identifier: MIT
"""Motions of all joints through key frames, read from YAML; a joint may be named for both sides at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Mapping, Tuple, Union

import numpy as np

from humanoid_motion.joint_motion import JointRange
from humanoid_motion.parameters import WalkError
from robot_mechanics.models.joint import Joint
from robot_mechanics.trajectories import Keyframes
from shellbot_common import read_yaml

_LONGEST = 20.0  # s, of one frame
_SIDES = {"L": "R", "R": "L"}


@dataclass(frozen=True)
class KeyMotion:
    """Key frames; the path to the first one begins wherever the joints are."""

    name: str
    text: str  #: What it does
    frames: np.ndarray  #: (k, n) rad; not a number: the joint goes smoothly through that frame
    times: np.ndarray  #: (k,) s, of each frame since the one before

    def begin(self, q: np.ndarray) -> Keyframes:
        """Return the curve from joint angles (n,), rad."""
        return Keyframes(np.vstack((q, self.frames)), np.concatenate(([0.0], np.cumsum(self.times))))


class MotionReader:
    """Reads motions for one robot.

    Parameters
    ----------
    ranges : mapping of str to JointRange
        Joints in the order of every array, with their limits.
    joints : mapping of str to Joint
        Of the description: their axes tell what the other side does.
    poses : mapping of str to (n,) array
        Poses that a frame may name.
    """

    def __init__(
        self, ranges: Mapping[str, JointRange], joints: Mapping[str, Joint], poses: Mapping[str, np.ndarray]
    ) -> None:
        self._ranges, self._names, self._poses = dict(ranges), list(ranges), dict(poses)
        self._other: List[int] = []
        self._sign = np.ones(len(self._names))
        for index, name in enumerate(self._names):
            other = _SIDES.get(name[0], "") + name[1:]
            self._other.append(self._names.index(other) if other in ranges else index)
            axis = joints[name].axis * [-1.0, 1.0, -1.0]  # of a rotation, seen in the mirror of the x-z plane
            self._sign[index] = math.copysign(1.0, float(axis @ joints[self._names[self._other[index]]].axis))

    def load(self, path: Union[str, Path]) -> Dict[str, KeyMotion]:
        """Return the motions of a file by name.

        Raises
        ------
        WalkError
            If the file cannot be read, or a motion is wrong; names file, motion, frame and key.
        """
        values = read_yaml(path, WalkError)
        found: Dict[str, KeyMotion] = {}
        for name, row in values.items():
            try:
                found[name] = self._motion(name, row, found)
            except WalkError as error:
                raise WalkError(f"{path}: {name}: {error}") from None
        return found

    def mirrored(self, q: np.ndarray) -> np.ndarray:
        """Return joint angles (..., n), rad, seen in a mirror: left is right."""
        return np.asarray((self._sign * q)[..., self._other])

    def _motion(self, name: str, row: Any, found: Mapping[str, KeyMotion]) -> KeyMotion:
        if not isinstance(row, dict) or "text" not in row or len(row) != 2 or not {"frames", "mirror"} & set(row):
            raise WalkError("give text, and frames or mirror (the name of a motion above)")
        if "mirror" in row:
            if row["mirror"] not in found:
                raise WalkError(f"mirror is {row['mirror']!r}; motions above are {', '.join(found) or 'none'}")
            other = found[row["mirror"]]
            return KeyMotion(name, str(row["text"]), self.mirrored(other.frames), other.times)
        if not isinstance(row["frames"], list) or not row["frames"]:
            raise WalkError("frames is no list; give - {time: S, joints_deg: {NAME: ANGLE}}")
        rows = [self._frame(index, frame) for index, frame in enumerate(row["frames"])]
        return KeyMotion(name, str(row["text"]), np.array([q for q, _ in rows]), np.array([time for _, time in rows]))

    def _frame(self, index: int, frame: Any) -> Tuple[np.ndarray, float]:
        where = f"frames[{index}]"
        if not isinstance(frame, dict) or not set(frame) <= {"time", "pose", "joints_deg"}:
            raise WalkError(f"{where}: give time, and pose or joints_deg")
        time = _number(frame.get("time"))
        if not 0.02 <= time <= _LONGEST:
            raise WalkError(f"{where}.time is {frame.get('time')!r}; give 0.02 .. {_LONGEST:g} s")
        pose = frame.get("pose")
        if pose is not None and pose not in self._poses:
            raise WalkError(f"{where}.pose is {pose!r}; choose one of {', '.join(self._poses)}")
        q = np.full(len(self._names), math.nan) if pose is None else self._poses[pose].copy()
        for key, value in (frame.get("joints_deg") or {}).items():
            self._set(q, key, math.radians(_number(value)), where)
        return q, time

    def _set(self, q: np.ndarray, key: str, angle: float, where: str) -> None:
        names = [key] if key in self._ranges else [f"L{key}", f"R{key}"]
        for name in names:
            if name not in self._ranges:
                raise WalkError(
                    f"{where}: there is no joint {key!r}; names are {', '.join(self._names)}, also without side"
                )
            index = self._names.index(name)
            value = angle * self._sign[index] if name.startswith("R") and name != key else angle
            joint = self._ranges[name]
            if not joint.lower <= value <= joint.upper:
                low, high = math.degrees(joint.lower), math.degrees(joint.upper)
                raise WalkError(f"{where}.{name} is {math.degrees(value):g} deg; give {low:.2f} .. {high:.2f} deg")
            q[index] = value


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
