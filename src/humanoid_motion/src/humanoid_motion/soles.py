# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False
"""The soles on the floor: where pressure is planned in them, how far it may go, and how feet share it."""

from __future__ import annotations

from typing import Optional, Tuple

import numpy as np

from humanoid_motion.parameters import WalkParameters
from humanoid_motion.planar import LEFT, RIGHT, clamped, outwards, point_of, turned, undone
from robot_mechanics.native.jit import kernel


@kernel
def zmp_of(foot: np.ndarray, side: int, ahead: float, inwards: float) -> np.ndarray:
    """Return the planned centre of pressure (2,) of a foot at a pose (x, y, yaw), so far from its frame, m."""
    return point_of(foot, ahead, -outwards(side) * inwards)


@kernel
def _within(point, feet, one, last, frame, low, high):
    pose = feet[frame]
    least, most = np.full(2, np.inf), np.full(2, -np.inf)
    for side in range(one, last + 1):
        for x in (low[0], high[0]):
            for y in (low[1], high[1]):
                corner = turned(point_of(feet[side], x, outwards(side) * y) - pose[:2], -pose[2])
                for k in range(2):
                    least[k], most[k] = min(least[k], corner[k]), max(most[k], corner[k])
    local = turned(point - pose[:2], -pose[2])
    return point_of(pose, clamped(local[0], least[0], most[0]), clamped(local[1], least[1], most[1]))


@kernel
def _nearest(point, foot, side, low, high):
    local, sign = turned(point - foot[:2], -foot[2]), outwards(side)
    return point_of(foot, clamped(local[0], low[0], high[0]), sign * clamped(sign * local[1], low[1], high[1]))


@kernel
def _loads(point, feet, carries, low, high, ahead, inwards, place, rotation, gravity, com, lean, omega, mass):
    """Return gravity, forces and points of `Soles.loads`."""
    left, right = zmp_of(feet[0], LEFT, ahead, inwards), zmp_of(feet[1], RIGHT, ahead, inwards)
    line, beyond = right - left, point - left
    on_right = (beyond[0] * line[0] + beyond[1] * line[1]) / (line[0] * line[0] + line[1] * line[1])
    on_right = 0.0 if carries == LEFT else 1.0 if carries == RIGHT else clamped(on_right, 0.0, 1.0)
    stiffness = omega * omega  # the pendulum's acceleration over how far its mass is from the pressure
    x, y = stiffness * (com[0] - point[0] - lean[0]), stiffness * (com[1] - point[1] - lean[1])
    seen = np.array(undone(rotation, gravity[0] - x, gravity[1] - y, gravity[2]))
    forces, points = np.empty((2, 3)), np.empty((2, 3))
    for side in range(2):
        forces[side] = -mass * (on_right if side == RIGHT else 1.0 - on_right) * seen
        nearest = _nearest(point, feet[side], side, low, high)
        points[side] = undone(rotation, nearest[0] - place[0], nearest[1] - place[1], -place[2])
    return seen, forces, points


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
        #: The planned centre of pressure from the left sole's frame: ahead, inwards, m
        self.aim = parameters.zmp_ahead, parameters.zmp_inwards

    def zmp(self, foot: np.ndarray, side: int) -> np.ndarray:
        """Return the planned centre of pressure (2,) of a foot at a pose (x, y, yaw), m."""
        return np.asarray(zmp_of(foot, side, *self.aim))

    def zmp_between(self, feet: np.ndarray) -> np.ndarray:
        """Return the middle (2,) of both, m."""
        return np.asarray(0.5 * (self.zmp(feet[LEFT], LEFT) + self.zmp(feet[RIGHT], RIGHT)))

    def within(self, point: np.ndarray, feet: np.ndarray, carries: Optional[int], frame: int) -> np.ndarray:
        """Return the nearest point (2,) in the rectangle, along one foot's axes, round the soles that carry, m.

        Parameters
        ----------
        point : (2,) array
            m.
        feet : (2, 3) array
            Poses.
        carries : int, optional
            The side that carries; none for both.
        frame : int
            Side of the foot whose axes count.
        """
        one, last = (LEFT, RIGHT) if carries is None else (carries, carries)
        return np.asarray(_within(point, feet, one, last, frame, self._low, self._high))

    def loads(
        self,
        point: np.ndarray,
        feet: np.ndarray,
        carries: Optional[int],
        base: Tuple[np.ndarray, np.ndarray],
        gravity: np.ndarray,
        pendulum: Tuple[np.ndarray, np.ndarray, float],
        mass: float,
    ) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what the robot's weight does with the centre of pressure at a point, in the base's frame.

        Parameters
        ----------
        point : (2,) array
            Centre of pressure, m.
        feet : (2, 3) array
            Poses.
        carries : int, optional
            The side that carries; none for both, which then have the parts that put the pressure there.
        base : tuple of a (3,) and a (3, 3) array
            Place and rotation of the base.
        gravity : (3,) array
            m/s^2.
        pendulum : tuple of two (2,) arrays and a float
            Centre of mass, how far a slope moves its centre of pressure downhill, m, and sqrt(g / height), 1/s.
        mass : float
            kg.

        Returns
        -------
        gravity : (3,) array
            Less the acceleration, m/s^2.
        forces, points : (2, 3) arrays
            Of the ground on each sole, N, and where, m.
        """
        side = -1 if carries is None else carries
        seen, forces, points = _loads(
            point, feet, side, self._low, self._high, *self.aim, *base, gravity, *pendulum, mass
        )
        return seen, forces, points
