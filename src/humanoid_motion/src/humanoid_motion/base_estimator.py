# SPDX-License-Identifier: MIT
"""Where the base is: attitude from the IMU, place from the material points of the loaded soles, which do not slip."""

from __future__ import annotations

import math
from typing import Optional, Sequence, Tuple

import numpy as np

from humanoid_motion.body_model import G, Posture
from humanoid_motion.planar import wrapped, yaw_matrix
from shellbot_common.rotations import rotation_from_rpy, rpy_from_quaternion

_PACE_GAIN = 0.1  # of the pace on that of one tick
# ticks after which a foot that landed rests: it still slides ahead before, and two thirds of the error came from there
_SETTLED = 10.0
_TRUST_POWER = 4.0  # of a landed foot's trust on its time
# of the floor's slope on that of the loaded soles, per tick: plates come fast, but soles tilt in a push, too
_FLOOR_GAIN = 0.02
_SAME_HEIGHT, _HIGHEST_STEP = 0.001, 0.015  # m: dead band of the height of a foot that lands, and the most of it
_STEEPEST = 0.17  # sine of the slope
_LOADED = 4.0  # N: below it a sole's centre of pressure is noise


class BaseEstimator:
    """Odometry at the loaded feet.

    The base moves against the point of each loaded sole under its centre of pressure, weighted by load. A foot rolls
    over its edges, so no other point of it rests (with the ankle as the fixed point, 7 to 18 % are lost). The height
    comes from the same points. The floor is where the loaded soles lie: its slope is that of the soles against
    gravity, and the odometry frame lies in it.

    Parameters
    ----------
    scale : float
        True distance over the one so found: push-off creep, from calibration.
    heading : str
        ``imu``, or ``feet`` for a unit without yaw: the loaded soles do not turn either.

    Attributes
    ----------
    place : (3,) array
        Of the root link in the odometry frame, m.
    rotation : (3, 3) array
        Root link to odometry frame.
    roll, pitch, yaw : float
        The same as angles, rad.
    heights : (2,) array
        Of the floor under each sole, odometry frame, m; `measure_height` finds that of a foot that lands.
    sole_points : list of (3,) array
        Centre of pressure of each sole in its own frame, m.
    """

    def __init__(self, scale: float = 1.0, heading: str = "imu") -> None:
        self._scale, self._heading = scale, heading
        self.place, self.rotation = np.zeros(3), np.eye(3)
        self.roll = self.pitch = self.yaw = 0.0
        self.heights = np.zeros(2)
        self.sole_points = [np.zeros(3), np.zeros(3)]
        self._pace = np.zeros(2)  # m a tick
        self._loaded = np.zeros(2)  # ticks since each foot landed
        self._yaw_start: Optional[float] = None
        self._before: Optional[Posture] = None
        self._floor = np.eye(3)  # odometry frame to one with the same x-z plane in which gravity is vertical
        self._is_on_floor = False

    @property
    def gravity(self) -> np.ndarray:
        """Gravity in the odometry frame, (3,), m/s^2."""
        return -G * self._floor[2]

    def update(self, posture: Posture, attitude: Sequence[float], wrenches: np.ndarray) -> None:
        """Take one tick.

        Parameters
        ----------
        posture : Posture
            At the measured joint angles.
        attitude : (4,) sequence of float
            Quaternion x, y, z, w of the root link.
        wrenches : (2, 6) array
            Force and moment of the ground at each sole's origin, in the sole's frame, N and N m.
        """
        roll, pitch, yaw = rpy_from_quaternion(*attitude)
        force = np.maximum(wrenches[:, 2], 0.0)
        loads = np.where(force > _LOADED, force, 0.0)
        self._loaded = np.where(loads > 0.0, self._loaded + 1, 0)
        trusted = loads * (np.minimum(self._loaded, _SETTLED) / _SETTLED) ** _TRUST_POWER
        for foot, (sole, wrench) in enumerate(zip(self.sole_points, wrenches)):
            if loads[foot] > 0.0:
                sole[:2] = np.clip([-wrench[4] / wrench[2], wrench[3] / wrench[2]], [-0.06, -0.06], [0.11, 0.06])
        before, former = self._before, self.rotation
        if self._yaw_start is None:
            self._yaw_start = yaw
        if self._heading == "imu":
            self.yaw = wrapped(yaw - self._yaw_start)
        elif before is not None and loads.any():
            turned = self._floor.T @ rotation_from_rpy(roll, pitch, self.yaw)
            turns = [_yaw_between(former @ old[0], turned @ new[0]) for old, new in zip(before.soles, posture.soles)]
            self.yaw = wrapped(self.yaw - self._scale * float(trusted @ turns / trusted.sum()))
        upright = rotation_from_rpy(roll, pitch, self.yaw)
        if loads.any():
            self._find_floor(sum(w * (upright @ r[:, 2]) for w, (r, _) in zip(loads, posture.soles)))
        self.rotation = self._floor.T @ upright
        self.roll, self.pitch = rpy_of(self.rotation)
        at = [r @ point + p for (r, p), point in zip(posture.soles, self.sole_points)]
        if before is not None and loads.any():
            old = [r @ point + p for (r, p), point in zip(before.soles, self.sole_points)]
            shift = sum(w * (former @ o - self.rotation @ a) for w, o, a in zip(trusted, old, at)) / trusted.sum()
            shift = self._scale * np.asarray(shift)[:2]
            self.place[:2] += shift
            self._pace += _PACE_GAIN * (shift - self._pace)
        elif before is not None:
            self.place[:2] += self._pace  # in the air for a tick, after a hard landing
        if loads.any():
            above = [h - (self.rotation @ a)[2] for h, a in zip(self.heights, at)]
            self.place[2] = float(loads @ above / loads.sum())
        self._before = posture

    def measure_height(self, posture: Posture, side: int) -> None:
        """Take the floor's height under a foot that has just landed from the other foot's."""
        points_base = [r @ point + p for (r, p), point in zip(posture.soles, self.sole_points)]
        step = float((self.rotation @ (points_base[side] - points_base[1 - side]))[2])
        step = math.copysign(min(max(abs(step) - _SAME_HEIGHT, 0.0), _HIGHEST_STEP), step)
        self.heights[side] = self.heights[1 - side] + step

    def _find_floor(self, normal: np.ndarray) -> None:
        """Follow the loaded soles' normal (3,), of any length, gravity upright."""
        normal = normal / np.linalg.norm(normal)
        gain = _FLOOR_GAIN if self._is_on_floor else 1.0
        x, y = self._floor[:2, 2] + gain * (normal[:2] - self._floor[:2, 2])
        steep = math.hypot(x, y)
        if steep > _STEEPEST:
            x, y = x * _STEEPEST / steep, y * _STEEPEST / steep
        self._floor, self._is_on_floor = _leaning(x, y), True

    def lift(self) -> None:
        """Forget where the soles touched: the next tick finds them elsewhere."""
        self._before, self._pace, self._loaded = None, np.zeros(2), np.zeros(2)
        self._is_on_floor = False

    def sole_pose(self, posture: Posture, side: int) -> np.ndarray:
        """Return where a sole is on the floor: x, y, yaw in the odometry frame."""
        rotation, place = posture.soles[side]
        x, y, _ = self.place + self.rotation @ place
        ahead = self.rotation @ rotation[:, 0]
        return np.array([x, y, np.arctan2(ahead[1], ahead[0])])

    def level(self) -> np.ndarray:
        """Return the rotation (3, 3) of the base without roll and pitch."""
        return yaw_matrix(self.yaw)


def rpy_of(rotation: np.ndarray) -> Tuple[float, float]:
    """Return roll and pitch of a rotation (3, 3), rad."""
    return math.atan2(rotation[2, 1], rotation[2, 2]), math.asin(max(-1.0, min(1.0, -rotation[2, 0])))


def _leaning(x: float, y: float) -> np.ndarray:
    """Return the shortest rotation (3, 3) that leads z to a direction with these x and y."""
    z = math.sqrt(1.0 - x * x - y * y)
    k = 1.0 / (1.0 + z)
    return np.array([[1.0 - k * x * x, -k * x * y, x], [-k * x * y, 1.0 - k * y * y, y], [-x, -y, z]])


def _yaw_between(old: np.ndarray, new: np.ndarray) -> float:
    return wrapped(float(np.arctan2(new[1, 0], new[0, 0]) - np.arctan2(old[1, 0], old[0, 0])))
