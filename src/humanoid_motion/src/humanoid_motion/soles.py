# SPDX-License-Identifier: MIT
"""The soles on the floor: where pressure is planned in them, how far it may go, and how feet share it."""

from __future__ import annotations

from typing import Sequence, Tuple

import numpy as np

from humanoid_motion.parameters import WalkParameters
from humanoid_motion.planar import LEFT, RIGHT, outwards, point_of, turned


class Soles:
    """Rectangles.

    Parameters
    ----------
    rectangle : (4,) tuple of float
        x0, x1, y0, y1 of the left sole in its frame, m; the right one mirrors y.
    parameters : WalkParameters
        Planned centre of pressure and margin.
    """

    def __init__(self, rectangle: Tuple[float, float, float, float], parameters: WalkParameters) -> None:
        x0, x1, y0, y1 = rectangle
        margin = parameters.sole_margin
        self._low, self._high = np.array([x0, y0]) + margin, np.array([x1, y1]) - margin
        self._ahead, self._inwards = parameters.zmp_ahead, parameters.zmp_inwards

    def zmp(self, foot: np.ndarray, side: int) -> np.ndarray:
        """Return the planned centre of pressure (2,) of a foot at a pose (x, y, yaw), m."""
        return point_of(foot, self._ahead, -outwards(side) * self._inwards)

    def zmp_between(self, feet: Sequence[np.ndarray]) -> np.ndarray:
        """Return the middle (2,) of both, m."""
        return np.asarray(0.5 * (self.zmp(feet[LEFT], LEFT) + self.zmp(feet[RIGHT], RIGHT)))

    def within(self, point: np.ndarray, feet: Sequence[np.ndarray], sides: Sequence[int], frame: int) -> np.ndarray:
        """Return the nearest point (2,) in the rectangle, along one foot's axes, round the soles that carry, m.

        Parameters
        ----------
        point : (2,) array
            m.
        feet : (2,) sequence of (3,) arrays
            Poses.
        sides : sequence of int
            Those that carry.
        frame : int
            Side of the foot whose axes count.
        """
        pose = feet[frame]
        corners = [
            turned(point_of(feet[side], x, outwards(side) * y) - pose[:2], -pose[2])
            for side in sides
            for x in (self._low[0], self._high[0])
            for y in (self._low[1], self._high[1])
        ]
        local = turned(point - pose[:2], -pose[2])
        return point_of(pose, *np.clip(local, np.min(corners, axis=0), np.max(corners, axis=0)))

    def nearest(self, point: np.ndarray, foot: np.ndarray, side: int) -> np.ndarray:
        """Return the point (2,) of one sole nearest to a point, m."""
        x, y = turned(point - foot[:2], -foot[2])
        x, y = np.clip([x, outwards(side) * y], self._low, self._high)
        return point_of(foot, float(x), outwards(side) * float(y))

    def shares(self, point: np.ndarray, feet: Sequence[np.ndarray]) -> Tuple[float, float]:
        """Return the parts of the weight on the left and right foot that put the centre of pressure at a point."""
        left, right = self.zmp(feet[LEFT], LEFT), self.zmp(feet[RIGHT], RIGHT)
        line = right - left
        on_right = float(np.clip((point - left) @ line / (line @ line), 0.0, 1.0))
        return 1.0 - on_right, on_right
