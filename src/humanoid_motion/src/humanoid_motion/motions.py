# SPDX-License-Identifier: MIT
"""Motions of all joints through key frames, read from YAML; a joint may be named for both sides at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Dict, List, Mapping, Tuple, Union

import numpy as np

from humanoid_motion.joint_motion import JointMotion, JointRange, joint_ranges
from humanoid_motion.parameters import WalkError
from robot_mechanics.models.joint import Joint
from robot_mechanics.models.urdf import load_urdf
from robot_mechanics.trajectories import Keyframes, Limits
from shellbot_common import RobotProfile, Settings, choice, number, package_file, read_yaml

MODES = ("stand", "recover")  # requests that no motion may hide
STAND, HOLD = "stand", "hold"  # what a motion that was performed on request ends with: its stance, or its last frame

_POSE_TIME = 1.0  # s in which a pose is taken, if no joint would be too fast
_SPEED = 0.98  # of a joint's speed limit, since `stretch` looks at samples
_STRETCHED = 1e-3  # by which a joint may be faster than that
_SIDES = {"L": "R", "R": "L"}


@dataclass(frozen=True)
class _Frame(Settings, error=WalkError):
    time: float = number(0.02, 20.0, "s")
    pose: str = ""
    joints_deg: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class _Row(Settings, error=WalkError):
    text: str
    frames: Tuple[_Frame, ...] = ()
    mirror: str = ""  # name of a motion above
    then: str = choice((STAND, HOLD), default=STAND)

    def conflict(self) -> str:
        return "" if bool(self.frames) != bool(self.mirror) else "give either frames or mirror, a motion above"


@dataclass(frozen=True)
class KeyMotion:
    """Key frames; the path to the first one begins wherever the joints are."""

    name: str
    text: str  #: What it does
    frames: np.ndarray  #: (k, n) rad; not a number: the joint goes smoothly through that frame
    times: np.ndarray  #: (k,) s, of each frame since the one before, at least
    speeds: np.ndarray  #: (n,) rad/s, that no joint exceeds
    then: str = STAND  #: STAND or HOLD

    def begin(self, q: np.ndarray, speed: float = 1.0) -> Keyframes:
        """Return the curve from joint angles (n,), rad; a time in which a joint would be too fast becomes longer.

        Parameters
        ----------
        q : (n,) array
            Where it begins, rad.
        speed : float
            Fraction of the speed that the times of the frames mean.
        """
        points, times, limits = (
            np.vstack((q, self.frames)),
            self.times / speed,
            Limits(velocity=(_SPEED * self.speeds).tolist()),
        )
        while True:
            curve = Keyframes(points, np.concatenate(([0.0], np.cumsum(times))))
            factors = curve.stretch(limits)
            if factors.max() <= 1.0 + _STRETCHED:
                return curve
            times *= factors + 0.5 * _STRETCHED  # so that it ends: neighbours change with a time that grows


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
        self._joints, self._names, self._poses = JointMotion(ranges), list(ranges), dict(poses)
        self._speeds = np.array([joint.speed for joint in ranges.values()])
        self._other: List[int] = []
        self._sign = np.ones(len(self._names))
        for index, name in enumerate(self._names):
            other = _SIDES.get(name[0], "") + name[1:]
            self._other.append(self._names.index(other) if other in ranges else index)
            axis = joints[name].axis * [-1.0, 1.0, -1.0]  # of a rotation, seen in the mirror of the x-z plane
            self._sign[index] = math.copysign(1.0, float(axis @ joints[self._names[self._other[index]]].axis))

    @classmethod
    def of_robot(cls, urdf_text: str, profile: RobotProfile) -> MotionReader:
        """Return a reader for the robot of a description and its profile."""
        joints = {joint.name: joint for joint in load_urdf(urdf_text).joints.values()}
        poses = {name: np.array(list(profile.pose(name).values())) for name in profile.poses}
        return cls(joint_ranges(urdf_text, profile), joints, poses)

    def load(
        self, path: Union[str, Path], before: Mapping[str, KeyMotion] = MappingProxyType({})
    ) -> Dict[str, KeyMotion]:
        """Return the motions of a file by name.

        Parameters
        ----------
        path : str or Path
            A YAML file.
        before : mapping of str to KeyMotion
            Of files that were read before: a mirror may name them, and their names are taken.

        Raises
        ------
        WalkError
            If the file cannot be read, or a motion is wrong; names file, motion, frame and key.
        """
        found: Dict[str, KeyMotion] = {}
        for key, values in read_yaml(path, WalkError).items():
            name, prefix = str(key), f"{path}: {key}: "
            if not name.isidentifier() or name in {*before, *self._poses, *MODES}:
                taken = "one of its motions" if name in before else "a pose or mode of the robot"
                reason = (
                    f"is the name of {taken} already" if name.isidentifier() else "is no name of letters, digits and _"
                )
                raise WalkError(f"{prefix}{name} {reason}; give the motion another name")
            row = _Row.from_mapping(values, prefix)
            try:
                found[name] = self._motion(name, row, {**before, **found})
            except WalkError as error:
                raise WalkError(f"{prefix}{error}") from None
        return found

    def poses(self) -> Dict[str, KeyMotion]:
        """Return a motion into each pose, which is held, but STAND, from which the robot walks."""
        times = np.array([_POSE_TIME])
        return {
            name: KeyMotion(name, f"the pose {name}", q[None], times, self._speeds, STAND if name == STAND else HOLD)
            for name, q in self._poses.items()
        }

    def mirrored(self, q: np.ndarray) -> np.ndarray:
        """Return joint angles (..., n), rad, seen in a mirror: left is right."""
        return np.asarray((self._sign * q)[..., self._other])

    def _motion(self, name: str, row: _Row, found: Mapping[str, KeyMotion]) -> KeyMotion:
        if row.mirror:
            if row.mirror not in found:
                raise WalkError(f"mirror is {row.mirror!r}; motions above are {', '.join(found) or 'none'}")
            other = found[row.mirror]
            return KeyMotion(name, row.text, self.mirrored(other.frames), other.times, self._speeds, row.then)
        frames = []
        for index, frame in enumerate(row.frames):
            try:
                frames.append(self._angles(frame))
            except WalkError as error:
                raise WalkError(f"frames[{index}]: {error}") from None
        times = np.array([frame.time for frame in row.frames])
        return KeyMotion(name, row.text, np.array(frames), times, self._speeds, row.then)

    def _angles(self, frame: _Frame) -> np.ndarray:
        """Return the joint angles (n,) of a frame, rad."""
        if frame.pose and frame.pose not in self._poses:
            raise WalkError(f"pose is {frame.pose!r}; choose one of {', '.join(self._poses)}")
        q = self._poses[frame.pose].copy() if frame.pose else np.full(len(self._names), math.nan)
        targets: Dict[str, float] = {}
        for key, angle_deg in frame.joints_deg.items():
            angle = math.radians(angle_deg)
            if key in self._names:
                targets[key] = angle
            elif {f"L{key}", f"R{key}"} <= set(self._names):
                targets[f"L{key}"] = angle
                targets[f"R{key}"] = angle * self._sign[self._names.index(f"R{key}")]
            else:
                raise WalkError(f"there is no joint {key!r}; names are {', '.join(self._names)}, also without side")
        for name, angle in (self._joints.resolved(targets, 1.0) if targets else {}).items():
            q[self._names.index(name)] = angle
        return q


@dataclass(frozen=True)
class MotionSet:
    """All motions of a robot, by name."""

    falls: Mapping[str, KeyMotion]  #: `config/motions.yaml`, for the fall manager alone
    performed: Mapping[str, KeyMotion]  #: On request: `config/actions.yaml` and a file of the user's


def load_motions(reader: MotionReader, user_file: Union[str, Path] = "") -> MotionSet:
    """Return the motions delivered, and those of a user's file if one is given.

    Raises
    ------
    WalkError
        As `MotionReader.load`, or if the user's file has no motion.
    """
    falls = reader.load(package_file("humanoid_motion", "config/motions.yaml"))
    performed = reader.load(package_file("humanoid_motion", "config/actions.yaml"), falls)
    if user_file:
        own = reader.load(user_file, {**falls, **performed})
        if not own:
            raise WalkError(
                f"{user_file} has no motion; give NAME: {{text: ..., frames: [...]}}, as config/actions.yaml"
            )
        performed.update(own)
    return MotionSet(falls, performed)
