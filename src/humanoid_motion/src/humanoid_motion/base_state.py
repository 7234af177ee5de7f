# SPDX-License-Identifier: MIT
"""Pose and velocity of the base in odom for others to use, and what they may be off by; in a fall, too."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Optional, Tuple

import numpy as np

from humanoid_motion.interface import Feedback
from humanoid_motion.planar import wrapped
from humanoid_motion.robot_core import HumanoidCore
from shellbot_common import TICK
from shellbot_common.rotations import rotation_from_rpy, rpy_from_quaternion

_TWIST_TIME = 0.02  # s: time constant of the velocity
_STAND_STD = np.array([0.002, 0.002, 0.004, 0.01, 0.01, 0.01])  # of the pose, m and rad
_PER_M = 0.007  # m of error a m of path, two thirds of the time; docs/humanoid.md
_HEADING_PER_M, _HEADING_PER_RAD = 0.006, 0.008  # rad a m, and a rad of turning, with the heading by the feet alone
_TWIST_STD = np.array([0.015, 0.025, 0.02, 0.01, 0.01, 0.01])  # m/s and rad/s
# rad/s about z with the heading by the feet alone: while they carry, and in a fall, in which nothing is observed
_FEET_TURN_STD, _FALL_TURN_STD = 0.15, 3.0
# of a fall: place and heading, in which nothing is observed, height by the joints, velocity
_FALL_STD, _LOST_HEADING, _LYING_STD, _FALL_SPEED_STD = 0.5, 1.0, 0.03, 0.5
_THICK, _TORSO = 0.03, 0.05  # m: about half of what is around a joint, and of the torso


@dataclass(frozen=True)
class BaseState:
    """What is known of the base; (6,) arrays, standard deviations as what they belong to."""

    pose: np.ndarray  #: x, y, z (m), roll, pitch, yaw (rad) in odom
    twist: np.ndarray  #: Linear (m/s) and angular (rad/s) velocity in its own axes
    pose_std: np.ndarray
    twist_std: np.ndarray


class BaseTracker:
    """Follows the core, tick by tick.

    While the feet carry the robot, the pose is that of the engine's odometry. In a fall place stays where it was, the
    attitude is the inertial unit's, and the height follows from the joint that is lowest.

    Parameters
    ----------
    heading : str
        ``imu`` or ``feet``, as for the engine.
    """

    def __init__(self, heading: str) -> None:
        self._is_by_feet = heading == "feet"
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self._time = 0.0  # s, of the last step
        self._before: Optional[np.ndarray] = None  # pose then; none after a fall
        self._pose, self._speed = np.zeros(6), np.zeros(6)  # speed: of the pose, low-passed
        self._path = self._turned = self._lost = self._lost_heading = 0.0
        self._north, self._fell = 0.0, False  # heading less the inertial unit's

    def step(self, t: float, core: HumanoidCore, feedback: Feedback) -> BaseState:
        """Return the state at a time, s, after a step of the core with the measurement of then."""
        roll, pitch, yaw = rpy_from_quaternion(*feedback.attitude)
        pose_std, twist_std = _STAND_STD.copy(), _TWIST_STD.copy()
        if core.has_fallen or self._fell:  # the engine observes again in the tick after
            if not self._fell:
                self._lost = math.hypot(self._lost, _FALL_STD)
                self._lost_heading = _LOST_HEADING if self._is_by_feet else 0.0
            self._before, self._speed = None, np.zeros(6)
            attitude = roll, pitch, self._pose[5] if self._is_by_feet else wrapped(yaw + self._north)
            pose = np.array([*self._pose[:2], _height(core, feedback.q, attitude), *attitude])
            pose_std[2], twist_std[:3] = _LYING_STD, _FALL_SPEED_STD
        else:
            pose = core.engine.base_pose
            self._north = pose[5] - yaw
            if self._before is not None:
                change, elapsed = pose - self._before, max(t - self._time, TICK)
                change[5] = wrapped(change[5])
                self._speed += min(elapsed / _TWIST_TIME, 1.0) * (change / elapsed - self._speed)
                self._path += math.hypot(*self._speed[:2]) * elapsed
                self._turned += abs(self._speed[5]) * elapsed
            self._before = pose
        self._time, self._pose, self._fell = t, pose, core.has_fallen
        if self._is_by_feet:
            pose_std[5] += _HEADING_PER_M * self._path + _HEADING_PER_RAD * self._turned + self._lost_heading
        # half of the heading's error, because it grows along the path
        along = _PER_M * self._path + 0.5 * (pose_std[5] - _STAND_STD[5]) * self._path
        pose_std[:2] = math.hypot(_STAND_STD[0] + along, self._lost)
        linear = rotation_from_rpy(*pose[3:]).T @ self._speed[:3]
        rates = feedback.rates
        if self._is_by_feet:
            twist_std[5] = _FALL_TURN_STD if self._before is None else _FEET_TURN_STD
            rates = np.append(rates[:2], self._turn(roll, pitch, float(rates[1])))
        return BaseState(pose, np.concatenate((linear, rates)), pose_std, twist_std)

    def _turn(self, roll: float, pitch: float, rate_y: float) -> float:
        """Return the rate about the base's z axis, rad/s, by that of the heading; none in a fall."""
        if self._before is None:
            return 0.0
        return float(self._speed[5] * math.cos(pitch) - math.sin(roll) * rate_y) / math.cos(roll)


def _height(core: HumanoidCore, q: np.ndarray, attitude: Tuple[float, float, float]) -> float:
    """Return the height of the base over the lowest part of a robot that lies, m."""
    posture, down = core.engine.posture(q), -rotation_from_rpy(*attitude)[2]
    joints, soles = posture.place @ down + _THICK, posture.sole_place @ down
    return float(max(joints.max(), soles.max(), _TORSO))
