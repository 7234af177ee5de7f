# SPDX-License-Identifier: MIT
"""Where the feet go: a centre walks with the twist or to a goal, and each step is placed beside it."""

from __future__ import annotations

import math
from typing import Optional

import numpy as np

from humanoid_motion.parameters import WalkParameters
from humanoid_motion.planar import clamped, moved, outwards, point_of, seen_from
from robot_mechanics.native.jit import kernel

_EXACT = np.array([0.012, 0.012, 0.03])  # m, m, rad: what is less than this is walked in one step


@kernel
def foothold(centre: np.ndarray, side: int, distance: float, behind: float = 0.0) -> np.ndarray:
    """Return the pose (x, y, yaw) of a foot beside the centre and `behind` it, m and rad."""
    point = point_of(centre, -behind, 0.5 * outwards(side) * distance)
    return np.array([point[0], point[1], centre[2]])


@kernel
def step_of(twist: np.ndarray, side: int, step_time: float) -> np.ndarray:
    """Return the centre's step (x, y, yaw) in its own frame when the foot on `side` steps."""
    step = twist * step_time
    for k in range(1, 3):
        step[k] *= 2.0 if twist[k] * outwards(side) > 0.0 else 0.0
    return step


@kernel
def reachable(target: np.ndarray, support: np.ndarray, swing: int, least: float, greatest: float) -> np.ndarray:
    """Return a foothold moved sideways until the feet are as far apart as they may be, m.

    Parameters
    ----------
    target, support : (3,) arrays
        Poses of the foothold and of the foot that stands.
    swing : int
        LEFT or RIGHT: the foot that steps.
    least, greatest : float
        Distance of the feet, m.
    """
    step, sign = seen_from(support, target), outwards(swing)
    point = point_of(support, step[0], sign * clamped(sign * step[1], least, greatest))
    return np.array([point[0], point[1], target[2]])


def remaining(centre: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """Return the goal (x, y, yaw) seen from the centre; the turn may be more than half a turn."""
    return np.append(seen_from(centre, goal)[:2], goal[2] - centre[2])


class FootstepPlanner:
    """Moves the centre step by step.

    Sideways and turning parts are taken only by the foot that leads there, twice as large: feet never cross and toes
    only turn out, which is what a shared hip joint can do.

    Parameters
    ----------
    parameters : WalkParameters
        Limits and foot distance.

    Attributes
    ----------
    centre : (3,) array
        x, y, yaw of the base, which turns in place, when the present step has landed; odometry frame.
    twist : (3,) array
        Of the present step, m/s and rad/s.
    """

    def __init__(self, parameters: WalkParameters) -> None:
        self._p = parameters
        self.centre, self.twist = np.zeros(3), np.zeros(3)

    def limited(self, twist: np.ndarray) -> np.ndarray:
        """Return a twist (3,) scaled into the limits, m/s and rad/s; not a number becomes a stop."""
        return self._p.limited(twist) if np.isfinite(twist).all() else np.zeros(3)

    def step(self, side: int, twist: np.ndarray, goal: Optional[np.ndarray], step_time: float) -> np.ndarray:
        """Return the centre after the next step, of the foot on `side`; `centre` and `twist` are advanced.

        Parameters
        ----------
        side : int
            LEFT or RIGHT: the foot that steps.
        twist : (3,) array
            As commanded, or the greatest towards the goal, m/s and rad/s.
        goal : (3,) array, optional
            Where the centre shall end, odometry frame.
        step_time : float
            s.
        """
        if goal is None:
            twist = self.limited(twist)
        else:
            twist = self._towards(remaining(self.centre, goal), np.abs(twist), step_time)
            twist = np.clip(twist, *self._p.limits)
        change = np.array(self._p.change_per_step)
        slower = np.abs(twist) < np.abs(self.twist)
        change = np.where(slower & (goal is not None), np.inf, change)  # a goal plans its own deceleration
        self.twist = np.clip(twist, self.twist - change, self.twist + change)
        self.centre = moved(self.centre, step_of(self.twist, side, step_time))
        return self.centre

    def _towards(self, left: np.ndarray, most: np.ndarray, step_time: float) -> np.ndarray:
        """Return the twist that decelerates into the goal: v + (v - a) + ... steps make the remaining distance."""
        a = np.array(self._p.change_per_step)
        steps = -0.5 + np.sqrt(0.25 + 2.0 * np.abs(left) / (a * step_time))
        finish = np.abs(left) / (step_time * np.array([1.0, 2.0, 2.0]))
        speed = np.where(np.abs(left) < _EXACT, finish, np.minimum(a * steps, finish))
        return np.asarray(np.sign(left) * np.minimum(speed, most))

    def is_at(self, goal: np.ndarray) -> bool:
        """Return whether the centre is at the goal, within 1 mm and 0.1 deg."""
        x, y, yaw = remaining(self.centre, goal)
        return math.hypot(x, y) < 1e-3 and abs(yaw) < math.radians(0.1)
