# SPDX-License-Identifier: MIT
"""From what the operator commands to what the gait gets: time-out, bad numbers, speed and acceleration limits."""

from __future__ import annotations

from typing import Tuple

import numpy as np


def fresh_twist(
    twist: np.ndarray, arrived: float, now: float, timeout: float, name: str = "cmd_vel"
) -> Tuple[np.ndarray, str]:
    """Return a commanded velocity (3,), or zero with a reason in words.

    Parameters
    ----------
    twist : (3,) array
        m/s, m/s, rad/s; or of a foot, m/s.
    arrived, now, timeout : float
        Simulated time, s. A command is used until `arrived + timeout`.
    name : str
        Of its topic, for the reason.
    """
    if now - arrived > timeout:  # also when nothing ever came: arrived is -inf
        return np.zeros(3), ""
    if not arrived <= now + timeout:
        return np.zeros(3), f"{name} comes from the future; waiting for a new one"
    if not np.isfinite(twist).all():
        shown = ", ".join(f"{value:g}" for value in twist)
        return np.zeros(3), f"{name} ({shown}) is not a number; stopping, send finite velocities"
    return np.asarray(twist, dtype=np.float64), ""


def limit_change(present: np.ndarray, commanded: np.ndarray, max_acceleration: np.ndarray, dt: float) -> np.ndarray:
    """Return the next twist (3,) on the straight line from `present` to `commanded`, within the acceleration limits."""
    change = commanded - present
    step = np.maximum(max_acceleration * dt, 1e-9)
    return present + change / max(1.0, float(np.max(np.abs(change) / step)))


def ease_change(
    present: np.ndarray,
    acceleration: np.ndarray,
    commanded: np.ndarray,
    max_acceleration: np.ndarray,
    jerk_time: float,
    dt: float,
) -> Tuple[np.ndarray, np.ndarray]:
    """Return the next twist (3,) and its derivative (3,), within limits of acceleration and jerk.

    From rest the twist moves on the straight line to `commanded`, so that its direction is kept. The acceleration is
    the least of the greatest one and sqrt(2 j d), from which the difference d that remains is met without overshoot at
    jerk j.

    Parameters
    ----------
    present, acceleration : (3,) array
        Twist, m/s, m/s, rad/s, and its derivative, as returned one tick before.
    commanded : (3,) array
        Where the twist is to go.
    max_acceleration : (3,) array
        m/s^2, m/s^2, rad/s^2.
    jerk_time : float
        From no acceleration to the greatest one, s: the greatest jerk is `max_acceleration` over this.
    dt : float
        s.
    """
    if not acceleration.any() and (present == commanded).all():
        return np.array(commanded, dtype=np.float64), np.zeros(3)
    scale = np.maximum(max_acceleration, 1e-9)
    remaining, rate = (commanded - present) / scale, acceleration / scale  # s; a fraction of the greatest
    rate = rate / max(1.0, float(np.abs(rate).max()) - 1e-9)  # more is left of a gait that may be quicker
    distance = float(np.abs(remaining).max())
    step = dt / jerk_time
    if distance <= step * dt and np.abs(rate).max() <= step + 1e-9:
        return np.array(commanded, dtype=np.float64), np.zeros(3)
    # one tick less of it keeps the discrete steps on the safe side
    room = max(distance - float(np.abs(rate).max()) * dt, 0.0)
    goal_rate = remaining * (min(1.0, (2.0 * room / jerk_time) ** 0.5) / distance) if distance else np.zeros(3)
    change = goal_rate - rate
    rate = rate + change / max(1.0, float(np.abs(change).max()) / step)
    return present + rate * scale * dt, rate * scale
