# SPDX-License-Identifier: MIT
"""The range in which the operator commands the six upper shells, and their way there past the other parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Tuple

import numpy as np

from shellbot_action_manager.config import UpperConfig

if TYPE_CHECKING:
    from shellbot_action_manager.body.geometry import RobotGeometry

_BOTH, _SHOULDERS, _SHELLS = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])


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


def move_toward(
    goal: np.ndarray, present: np.ndarray, step: float, lower: np.ndarray, geometry: RobotGeometry
) -> Tuple[np.ndarray, str]:
    """Return the upper joints a step nearer to their goal, and a sentence if other parts are in the way.

    Where both joints cannot move, one does; parts that overlap already may come apart.

    Parameters
    ----------
    goal, present : (6, 2) array
        shoulder, shell, rad.
    step : float
        By which a joint may turn, rad.
    lower : (6, 4) array
        fan, coxa, femur, tibia, rad.
    geometry : RobotGeometry
        The robot.
    """
    by, reason = np.minimum(np.maximum(goal - present, -step), step), ""
    if not by.any():
        return present, ""

    def overlap(upper: np.ndarray) -> Tuple[float, str]:
        return geometry.overlap(np.concatenate((lower.ravel(), upper.ravel())))

    for moved in (_BOTH, _SHOULDERS, _SHELLS):
        if not (by * moved).any():
            continue
        there = present + moved * by
        depth, text = overlap(there)
        if depth == 0.0 or depth <= overlap(present)[0]:
            return there, ""
        reason = reason or f"upper shells hold: {text}; command another height or opening"
    return present, reason
