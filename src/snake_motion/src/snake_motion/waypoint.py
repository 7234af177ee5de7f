# SPDX-License-Identifier: MIT
"""To a pose on the ground with the estimate of the own pose, by strokes from lying straight to lying straight."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Deque, Optional, Tuple

import numpy as np

from shellbot_common import TICK
from snake_motion.errors import SnakeMotionError
from snake_motion.families import PERIOD

Pose = Tuple[float, float, float]  # x, y (m), yaw (rad)

_FARTHEST = 1e4  # m: what is farther is a mistake
_COAST = (0.22, 0.2, 0.39)  # s at the speed of the stroke, by axis, which fading out adds
_SHORTEST = 1.5  # s, of a stroke: what is near is gone to slowly
_TURN_FIRST = 0.35  # rad
_HEADING_GAIN = 0.7  # 1/s
_FASTEST = np.array([1.0, 0.8, 1.0])  # of what each family can; sideways, steering needs some of it
_CYCLE = round(PERIOD / TICK)  # ticks


@dataclass(frozen=True)
class Tolerance:
    """When a pose counts as reached."""

    position: float = 0.015  #: m, along each axis
    heading: float = math.radians(2.0)  #: rad


class WaypointFollower:
    """Twists that lead to a pose.

    Rotation, sideways and forward gaits are not mixed: a stroke moves along one axis, at a constant speed, and ends
    where fading out will carry the robot to the goal. What it leaves is seen when the robot lies straight again, since
    place and heading of a bent body swing by as much as they may be wrong in the end. Long strokes correct the heading.

    Parameters
    ----------
    goal : (x, y, yaw)
        m, rad, in the frame of the estimates.
    limits : (3,) array
        Greatest forward, sideways (m/s) and turning (rad/s) velocity.
    tolerance : Tolerance, optional
        When it is reached.

    Raises
    ------
    SnakeMotionError
        If the goal is not finite or beyond 10 km, or the robot cannot move along every axis.
    """

    def __init__(self, goal: Pose, limits: np.ndarray, tolerance: Optional[Tolerance] = None) -> None:
        self._goal, self._limits, self._tolerance = goal, np.asarray(limits), tolerance or Tolerance()
        self._stroke: Optional[np.ndarray] = None  # twist of the present one
        self._headings: Deque[float] = deque(maxlen=_CYCLE)  # errors, rad
        if len(goal) != 3 or not all(map(math.isfinite, goal)) or math.hypot(*goal[:2]) > _FARTHEST:
            raise SnakeMotionError(
                f"goal is {tuple(goal)}; give x, y (m) and yaw (rad), all finite and within {_FARTHEST:g} m"
            )
        if self._limits.shape != (3,) or not np.all(self._limits > 0.0):
            raise SnakeMotionError(
                f"greatest velocities are {self._limits.tolist()}; a waypoint needs maps of all families: "
                "write them with scripts/snake identify --modules N"
            )
        self._limits = _FASTEST * self._limits

    def error(self, pose: Pose) -> np.ndarray:
        """Return forward, left (m) and heading (rad) that are missing, seen from a pose, (3,)."""
        dx, dy = self._goal[0] - pose[0], self._goal[1] - pose[1]
        cos, sin = math.cos(pose[2]), math.sin(pose[2])
        return np.array(
            [cos * dx + sin * dy, -sin * dx + cos * dy, math.remainder(self._goal[2] - pose[2], 2.0 * math.pi)]
        )

    def step(self, pose: Pose, is_flat: bool) -> Optional[np.ndarray]:
        """Return the twist (3,) for now; None once the pose is reached.

        Parameters
        ----------
        pose : (x, y, yaw)
            The estimate.
        is_flat : bool
            Whether the robot lies straight, and so neither moves nor will.
        """
        error = self.error(pose)
        self._headings.append(error[2])
        if self._stroke is None:
            if not is_flat:
                return np.zeros(3)
            relative = np.abs(error) / [self._tolerance.position, self._tolerance.position, self._tolerance.heading]
            if np.all(relative < 1.0):
                return None
            axis = self._choose(error, relative)
            self._stroke = np.zeros(3)
            self._stroke[axis] = np.clip(error[axis] / _SHORTEST, -self._limits[axis], self._limits[axis])
        axis, twist = int(np.argmax(np.abs(self._stroke))), self._stroke.copy()
        if error[axis] * np.sign(twist[axis]) <= _COAST[axis] * abs(twist[axis]):
            self._stroke = None
            return np.zeros(3)
        if axis < 2 and abs(twist[axis]) == self._limits[axis]:
            twist[2] = round(_HEADING_GAIN * sum(self._headings) / len(self._headings), 2)
        return twist

    @staticmethod
    def _choose(error: np.ndarray, relative: np.ndarray) -> int:
        if abs(error[2]) > _TURN_FIRST:
            return 2
        # the coarse family first: what it leaves ahead, forward gaits correct to a millimetre
        if relative[1] >= 1.0:
            return 1
        return 0 if relative[0] >= 1.0 else 2
