# SPDX-License-Identifier: MIT
"""The pose of the body over its feet: tilt, height and shift relative to rest, and how fast it may change.

A pose is the array (x, y, z, roll, pitch, yaw) of the body relative to its rest pose in W, m and rad.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shellbot_action_manager.errors import ConfigError
from shellbot_common import Settings, number
from shellbot_common.rotations import rotation_from_rpy

REST_POSE = np.zeros(6)


def feet_in_base(p_walk_feet: np.ndarray, pose: np.ndarray, height: float) -> np.ndarray:
    """Return feet (..., 3) given in W seen from base_link, for a body at `pose` and rest height `height` (m)."""
    x, y, z, *rpy = pose.tolist()
    return (np.asarray(p_walk_feet) - np.array([x, y, z + height])) @ rotation_from_rpy(*rpy)


def feet_in_walk(p_base_feet: np.ndarray, pose: np.ndarray, height: float) -> np.ndarray:
    """Return feet (..., 3) given in base_link seen from W; the inverse of `feet_in_base`."""
    x, y, z, *rpy = pose.tolist()
    return np.asarray(p_base_feet) @ rotation_from_rpy(*rpy).T + np.array([x, y, z + height])


@dataclass(frozen=True)
class PoseLimits(Settings, error=ConfigError):
    """How fast the body may be posed."""

    #: shift_rate, tilt_rate: Greatest speed of x, y, z (m/s) and of roll, pitch, yaw (rad/s)
    shift_rate: float = number(0.005, 0.5, "m/s")
    tilt_rate: float = number(0.05, 3.0, "rad/s")
    #: shift_acceleration, tilt_acceleration: m/s^2, rad/s^2
    shift_acceleration: float = number(0.05, 5.0, "m/s^2")
    tilt_acceleration: float = number(0.2, 30.0, "rad/s^2")

    @property
    def rate(self) -> np.ndarray:
        """Greatest speed per coordinate, (6,)."""
        return np.array([self.shift_rate] * 3 + [self.tilt_rate] * 3)

    @property
    def acceleration(self) -> np.ndarray:
        """Greatest acceleration per coordinate, (6,)."""
        return np.array([self.shift_acceleration] * 3 + [self.tilt_acceleration] * 3)


def approach(value: np.ndarray, rate: np.ndarray, goal: np.ndarray, limits: PoseLimits, dt: float) -> tuple:
    """Return the next pose and its rate, (6,) each, on a trapezoid towards `goal` that does not overshoot.

    The speed is the least of the greatest one and sqrt(2 a d), from which the remaining distance d suffices to stop.
    """
    remaining = goal - value
    # One tick less of it keeps the discrete steps on the safe side of the braking curve.
    room = np.maximum(np.abs(remaining) - np.abs(rate) * dt, 0.0)
    goal_rate = np.sign(remaining) * np.minimum(limits.rate, np.sqrt(2.0 * limits.acceleration * room))
    step = limits.acceleration * dt
    new_rate = np.clip(goal_rate, rate - step, rate + step)
    arrived = (np.abs(remaining) <= np.maximum(step * dt, 1e-6)) & (np.abs(rate) <= 2.0 * step)
    new_rate = np.where(arrived, 0.0, new_rate)
    return np.where(arrived, goal, value + new_rate * dt), new_rate
