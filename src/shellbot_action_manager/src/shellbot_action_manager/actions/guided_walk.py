# SPDX-License-Identifier: MIT
"""A walk or a turn of an action: its twist at each tick by the odometry, until its end."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Optional, Tuple

import numpy as np

from shellbot_action_manager.gait.walk_to import GuidedMotion, LineWalk, Planar

_PATIENCE = 15.0  # s beyond twice the time that it should take
_JUMP, _FASTEST = 0.2, 2.0  # m and m/s: more than this and that in a tick: the odometry has begun anew


class GuidedWalk:
    """Runs once.

    Parameters
    ----------
    motion : LineWalk or SpotTurn
        Where to.
    speed : float
        Fraction of its speed.
    """

    def __init__(self, motion: GuidedMotion, speed: float) -> None:
        if isinstance(motion, LineWalk):
            self._motion: GuidedMotion = replace(motion, speed=speed * motion.speed)
        else:
            self._motion = replace(motion, rate=speed * motion.rate)
        self._origin: Optional[Planar] = None
        self._now: Planar = (0.0, 0.0, 0.0)
        self._remaining = self._motion.amount
        self._time = 0.0  # s, without pauses
        self.stopped = False  #: Whether it commands nothing any more
        self.failure = ""

    @property
    def fraction(self) -> float:
        """How much of it is done, 0..1."""
        return min(max(1.0 - self._remaining / self._motion.amount, 0.0), 1.0)

    def stop(self) -> None:
        """Stop where it is."""
        self.stopped = True

    def step(
        self, dt: float, pose: Optional[np.ndarray], acceleration: Tuple[float, float, float], paused: bool
    ) -> np.ndarray:
        """Return the twist (3,) of a tick: m/s, m/s, rad/s.

        Parameters
        ----------
        dt : float
            Since the last tick, s.
        pose : (3,) array or None
            x, y (m) and yaw (rad) in odom; None: not known now.
        acceleration : (3,) tuple of float
            Greatest of the gait: m/s^2, m/s^2, rad/s^2.
        paused : bool
            Whether to stand still.
        """
        standing = np.zeros(3)
        if self.stopped or self.failure:
            return standing
        limit = _PATIENCE + 2.0 * self._motion.amount / self._motion.cruise
        self._time += 0.0 if paused else dt
        if self._time > limit:
            missing = "no odometry" if pose is None else f"{1.0 - self.fraction:.0%} is left"
            self.failure = f"not done within {limit:.0f} s, {missing}; is an obstacle on its path?"
        if pose is None or self.failure:
            return standing
        x, y, yaw = (float(value) for value in pose)
        if self._origin is None:
            self._origin = self._now = (x, y, yaw)
        jump = math.hypot(x - self._now[0], y - self._now[1])
        if jump > _JUMP + _FASTEST * dt:
            self.failure = f"the odometry jumped by {jump:.2f} m; was the node odometry restarted?"
            return standing
        self._now = (x, y, self._now[2] + math.remainder(yaw - self._now[2], math.tau))
        self._remaining = self._motion.remaining(self._origin, self._now)
        if self._remaining <= self._motion.stop_before(acceleration):
            self.stopped = True
        if self.stopped or paused:
            return standing
        return np.array(self._motion.twist(self._origin, self._now, acceleration))
