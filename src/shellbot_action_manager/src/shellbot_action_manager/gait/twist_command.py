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
