# SPDX-License-Identifier: MIT
"""The swing foot: to a foothold that may still move, with bounded speed, and up and down."""

from __future__ import annotations

import math

import numpy as np

from humanoid_motion.planar import wrapped
from robot_mechanics.native.jit import kernel

_LEAST_TIME = 0.04  # s: closer to the landing the foot no longer follows a new foothold


@kernel
def _advance(
    pose: np.ndarray, velocity: np.ndarray, target: np.ndarray, remaining: float, top: float, dt: float
) -> None:
    time = max(remaining, _LEAST_TIME)
    faster = np.empty(3)
    for k in range(3):
        error = target[k] - pose[k] if k < 2 else wrapped(target[k] - pose[k])
        faster[k] = velocity[k] + (6.0 * error / time**2 - 4.0 * velocity[k] / time) * dt
    speed = math.hypot(faster[0], faster[1])
    if speed > top:
        faster[:2] *= top / speed
    for k in range(3):
        pose[k] += 0.5 * (velocity[k] + faster[k]) * dt
        velocity[k] = faster[k]


class SwingFoot:
    """Pose and velocity of the swinging foot over the floor; a cubic to the foothold, planned anew each tick.

    Parameters
    ----------
    pose : (3,) array
        x, y, yaw where it lifts off, m and rad.
    top_speed : float
        m/s.
    """

    def __init__(self, pose: np.ndarray, top_speed: float) -> None:
        self.pose, self.velocity, self._top = np.array(pose), np.zeros(3), top_speed

    def advance(self, target: np.ndarray, remaining: float, dt: float) -> None:
        """Move on by dt towards a foothold that is to be reached in the remaining time, s, and at rest there."""
        if remaining > dt:
            _advance(self.pose, self.velocity, target, remaining, self._top, dt)


@kernel
def lift_height(fraction: float, lift: float) -> float:
    """Return the height of the foot after a fraction of the swing, m: a squared sine, at rest at both ends."""
    return lift * math.sin(math.pi * min(max(fraction, 0.0), 1.0)) ** 2
