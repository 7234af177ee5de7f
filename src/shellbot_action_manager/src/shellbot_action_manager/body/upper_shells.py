# SPDX-License-Identifier: MIT
"""The six upper shells, all alike: from height and opening angle to shoulder and shell joints."""

from __future__ import annotations

import math
from typing import Tuple

import numpy as np

from shellbot_action_manager.config import UpperConfig
from shellbot_description.variables import UpperLeg


def solve_upper(leg: UpperLeg, height: float, opening: float) -> np.ndarray:
    """Return shoulder and shell (2,) in rad for a height of the sphere centre (m) and an opening angle (rad).

    NaN when the height is out of reach.

    Notes
    -----
    With the sum s = q5 + q6 = 3 pi / 2 - opening - delta - epsilon (opening 0: vertical shell),
    h = h1 + l sin q5 + y cos s + x sin s + r sin(s + delta).
    """
    total = 1.5 * math.pi - opening - leg.sphere_delta - leg.sphere_epsilon
    remaining = (
        height
        - leg.base_height
        - leg.sphere_y * math.cos(total)
        - leg.sphere_x * math.sin(total)
        - leg.sphere_radius * math.sin(total + leg.sphere_delta)
    )
    sine = remaining / leg.shoulder_length
    if abs(sine) > 1.0:
        return np.full(2, np.nan)
    shoulder = math.asin(sine)
    return np.array([shoulder, math.remainder(total - shoulder, 2.0 * math.pi)])


def clamp_upper(commanded: np.ndarray, config: UpperConfig) -> Tuple[np.ndarray, str]:
    """Return height and opening (2,) inside the configured range, and a sentence if they were not."""
    if not np.isfinite(commanded).all():
        return np.full(2, np.nan), "upper_shells is not a number; holding the shells, send finite values"
    ranges = np.array([config.height, config.opening])
    inside = np.clip(commanded, ranges[:, 0], ranges[:, 1])
    if (inside == commanded).all():
        return inside, ""
    axis = int(np.argmax(np.abs(inside - commanded)))
    name, unit = (("height", "m"), ("opening", "rad"))[axis]
    return inside, (
        f"upper shells limited: {name} {commanded[axis]:.3f} {unit} is outside "
        f"{ranges[axis, 0]:.3f} to {ranges[axis, 1]:.3f} {unit}"
    )
