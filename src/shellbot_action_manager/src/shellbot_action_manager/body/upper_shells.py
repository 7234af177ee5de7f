# SPDX-License-Identifier: MIT
"""The range in which the operator commands the six upper shells."""

from __future__ import annotations

from typing import Tuple

import numpy as np

from shellbot_action_manager.config import UpperConfig


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
