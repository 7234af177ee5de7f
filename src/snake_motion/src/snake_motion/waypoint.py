# SPDX-License-Identifier: MIT
"""To a pose on the ground with the estimate of the own pose: one family of gaits at a time, by the greatest error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Optional, Tuple

import numpy as np

from snake_motion.errors import SnakeMotionError

Pose = Tuple[float, float, float]  # x, y (m), yaw (rad)


@dataclass(frozen=True)
class Tolerance:
    """When a pose counts as reached."""

    position: float = 0.02  #: m, along each axis
    heading: float = math.radians(2.0)  #: rad


class WaypointFollower:
    """Twists that lead to a pose.

    Rotation, sideways and forward gaits are not mixed: the family with the greatest error in tolerances goes on until
    its error is small, and heading is corrected on the way.

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
        If the goal is not finite, or the robot cannot move along every axis.
    """

    def __init__(self, goal: Pose, limits: np.ndarray, tolerance: Optional[Tolerance] = None) -> None:
        self._goal, self._limits, self._tolerance = goal, np.asarray(limits), tolerance or Tolerance()
        self._axis: Optional[int] = None
        if len(goal) != 3 or not all(map(math.isfinite, goal)):
            raise SnakeMotionError(f"goal is {tuple(goal)}; give x, y (m) and yaw (rad), all finite")
        if self._limits.shape != (3,) or not np.all(self._limits > 0.0):
            raise SnakeMotionError(
                f"greatest velocities are {self._limits.tolist()}; a waypoint needs maps of all families: "
                "write them with scripts/snake identify --modules N"
            )

    def error(self, pose: Pose) -> np.ndarray:
        """Return forward, left (m) and heading (rad) that are missing, seen from a pose, (3,)."""
        dx, dy = self._goal[0] - pose[0], self._goal[1] - pose[1]
        cos, sin = math.cos(pose[2]), math.sin(pose[2])
        return np.array(
            [cos * dx + sin * dy, -sin * dx + cos * dy, math.remainder(self._goal[2] - pose[2], 2.0 * math.pi)]
        )

    def step(self, pose: Pose) -> Optional[np.ndarray]:
        """Return the twist (3,) for now; None once the pose is reached.

        Parameters
        ----------
        pose : (x, y, yaw)
            The estimate, best the mean of a cycle.
        """
        error = self.error(pose)
        limit = np.array([self._tolerance.position, self._tolerance.position, self._tolerance.heading])
        relative = np.abs(error) / limit
        if self._axis is None or relative[self._axis] < 0.7:
            if np.all(relative < 1.0):
                return None
            self._axis = self._choose(error, relative)
        twist = np.zeros(3)
        twist[self._axis] = np.clip(error[self._axis], -self._limits[self._axis], self._limits[self._axis])
        if self._axis < 2:
            twist[2] = 0.7 * error[2]
        return twist

    @staticmethod
    def _choose(error: np.ndarray, relative: np.ndarray) -> int:
        if abs(error[2]) > 0.35:
            return 2
        # the coarse family first: what it leaves ahead, forward gaits correct to a millimetre
        if relative[1] >= 1.0:
            return 1
        return 0 if relative[0] >= 1.0 else 2
