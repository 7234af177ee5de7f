# SPDX-License-Identifier: MIT
"""To a pose on the ground with the estimate of the own pose, by strokes from lying straight to lying straight."""

from __future__ import annotations

import math
from collections import deque
from typing import Deque, Optional, Tuple

import numpy as np

from shellbot_common import TICK
from snake_motion.errors import SnakeMotionError
from snake_motion.families import PERIOD

Pose = Tuple[float, float, float]  # x, y (m), yaw (rad)

_FARTHEST = 1e4  # m: what is farther is a mistake
_COAST = (0.22, 0.2, 0.0)  # s at the speed of the stroke, by axis, which fading out adds
_PAUSE = 0.28  # s without motion in each stroke: lying straight before it, and its fades
_SHORTEST = (1.5, 1.5, 0.72)  # s, of a stroke's motion, by axis: what is near is gone to slowly
_LEAST = (0.03, 0.05, 0.08)  # m/s, m/s, rad/s: what is slower is served with that
_LONGEST = 1.5  # times the expected duration of a stroke that ends by the estimate
_TURN_FIRST = 0.35  # rad
_HEADING_GAIN = 0.7  # 1/s
_FASTEST = np.array([1.0, 0.8, 1.0])  # of what each family can; sideways, steering needs some of it
_CYCLE = round(PERIOD / TICK)  # ticks
_DRIFT = 0.25  # rad, by which side-winding turns the body while it lasts, and so leads backwards
_SIDE_WINDING = 1.5  # m, the farthest goal to which it goes aslant: it is less exact than forward gaits
_MUCH_FASTER = 3.0  # than forward gaits: only then; with 8 modules, and by rolling, it is not
_NARROW = 0.33  # left over forward, below which a forward stroke reaches the goal by steering
_STRAIGHT = 0.3  # m before the goal, from which on such a stroke only aligns its heading
_AIM = 1.5  # heading of such a stroke over the bearing of the goal: it arrives in the goal's heading
_STEEPEST = 0.5  # rad, of that heading
_OVERHEAD = 1.0  # s, of a turn, beside the turning
_TOLERANCE = (0.015, 0.015, math.radians(2.0))  # m, m, rad: within these of the goal it is reached


class WaypointFollower:
    """Twists that lead to a pose.

    Rotation, sideways and forward gaits are not mixed: a stroke moves along one axis, at a constant speed, and ends
    where fading out will carry the robot to the goal; a rotation, whose heading swings, ends by time. What it leaves
    is seen when the robot lies straight again, since place and heading of a bent body swing by as much as they may be
    wrong in the end. Long strokes correct the heading. Paths are measured along the axes of the goal, not of the body.

    Sideways, then forward is the common order. Side-winding may be four times as fast: where turning, side-winding
    aslant to the goal and turning back takes less time, the robot does that, and walks forward what remains.

    Parameters
    ----------
    goal : (x, y, yaw)
        m, rad, in the frame of the estimates.
    limits : (3,) array
        Greatest forward, sideways (m/s) and turning (rad/s) velocity.

    Raises
    ------
    SnakeMotionError
        If the goal is not finite or beyond 10 km, or the robot cannot move along every axis.
    """

    def __init__(self, goal: Pose, limits: np.ndarray) -> None:
        self._goal, self._limits = goal, np.asarray(limits)
        self._stroke: Optional[np.ndarray] = None  # twist of the present one
        self._lean = 0.0  # rad, of the body from the goal's heading while it goes aslant
        self._ticks, self._coast = 0, 0.0  # which the stroke lasts at most; m before its end
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
        """Return forward, left (m) and heading (rad) that a pose lacks, along the axes of the goal, (3,)."""
        dx, dy = self._goal[0] - pose[0], self._goal[1] - pose[1]
        cos, sin = math.cos(self._goal[2]), math.sin(self._goal[2])
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
            relative = np.abs(error) / _TOLERANCE
            if np.all(relative < 1.0):
                return None
            self._stroke = self._begin(error, relative)
        axis, twist = int(np.argmax(np.abs(self._stroke))), self._stroke.copy()
        self._ticks -= 1
        missing = error[axis] + (self._lean if axis == 2 else 0.0)
        if self._ticks < 0 or missing * np.sign(twist[axis]) <= self._coast:
            self._stroke = None
            return np.zeros(3)
        if axis < 2 and abs(twist[axis]) == self._limits[axis]:
            heading = self._lean
            if axis == 0 and abs(error[0]) > _STRAIGHT:
                heading = float(np.clip(_AIM * error[1] / error[0], -_STEEPEST, _STEEPEST))
            elif self._lean:
                heading += math.copysign(_DRIFT, twist[1])
            twist[2] = round(_HEADING_GAIN * (heading + sum(self._headings) / len(self._headings)), 2)
        return twist

    def _begin(self, error: np.ndarray, relative: np.ndarray) -> np.ndarray:
        """Return the twist of a new stroke, (3,), and set when it ends."""
        axis, self._lean = self._choose(error, relative)
        missing = error[axis] + (self._lean if axis == 2 else 0.0)
        path = math.hypot(error[0], error[1]) if axis == 1 and self._lean else abs(missing)
        speed = float(np.clip(path / _SHORTEST[axis], min(_LEAST[axis], self._limits[axis]), self._limits[axis]))
        self._ticks = round((path / speed * (1.0 if axis == 2 else _LONGEST) + _PAUSE) / TICK)
        turned = self._lean + math.copysign(_DRIFT, missing) if axis == 1 and self._lean else 0.0
        self._coast = _COAST[axis] * speed * math.cos(turned)
        stroke = np.zeros(3)
        stroke[axis] = math.copysign(speed, missing)
        return stroke

    def _choose(self, error: np.ndarray, relative: np.ndarray) -> Tuple[int, float]:
        """Return the axis of the next stroke, and how far left of the goal's heading the robot is to lie, rad."""
        forward, left, turn = error
        axis, lean = 0, 0.0
        is_narrow = abs(left) < _NARROW * abs(forward)
        # the coarse family first: what it leaves ahead, forward gaits correct to a millimetre
        if relative[1] >= 1.0 and not (is_narrow and abs(forward) > 2.0 * _STRAIGHT):
            axis, path = 1, math.hypot(forward, left)
            aslant = -np.sign(left) * (math.atan2(forward, abs(left)) + _DRIFT)
            more = self._turning(turn + aslant) + self._turning(aslant) + (path - abs(left)) / self._limits[1]
            less = self._turning(turn) + abs(forward + _DRIFT * abs(left)) / self._limits[0]
            is_fast = self._limits[1] > _MUCH_FASTER * self._limits[0]
            lean = aslant if is_fast and more < less and not is_narrow and path < _SIDE_WINDING else 0.0
        if abs(turn + lean) > _TURN_FIRST or relative[axis] < 1.0:
            axis = 2
        return axis, lean

    def _turning(self, angle: float) -> float:
        """Return the time, s, that a turn takes; 0 where strokes correct it."""
        return _OVERHEAD + abs(angle) / self._limits[2] if abs(angle) > _TURN_FIRST else 0.0
