# SPDX-License-Identifier: MIT
"""Descent in the null space of a target: a redundant chain moves within its freedom, its tip stays where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Tuple

import numpy as np

from robot_mechanics.arguments import vector
from robot_mechanics.errors import ShapeError
from robot_mechanics.inverse.config import LIMITS, POSTURE, NullSpaceTask
from robot_mechanics.native.lm_kernels import REACHED

if TYPE_CHECKING:
    from robot_mechanics.inverse.solver import InverseKinematics

_FLAT = 1e-9  # of the projected gradient, against the gradient
_ENOUGH = 0.25  # of the decrease that the slope promises (Armijo); less would let steps jump to and fro over the valley
_DIFFERENCE = 1e-5  # rad or m, for the gradient of the manipulability


def descend(
    inverse: InverseKinematics,
    task: NullSpaceTask,
    pose: np.ndarray,
    weight: np.ndarray,
    active: np.ndarray,
    start: np.ndarray,
    q: np.ndarray,
) -> Tuple[np.ndarray, int]:
    """Return a solution of less cost from the solution q, and the steps taken.

    Every step goes along the negative gradient projected onto the null space of the rows that count (Liegeois 1977),
    without joints at limits that it would leave, then back onto the target by the inverse itself; it is halved until
    the cost is less and the target reached, so the target is met as well as before.
    """
    cost, gradient = _cost(inverse, task, pose, weight, start)
    low, high = inverse.limits()
    value, total, length = cost(q), 0, 1.0
    for _ in range(task.steps):
        slope = gradient(q)
        direction = _projected(inverse.linear(pose, weight, q)[1], slope, active, q, low, high)
        if np.linalg.norm(direction) <= _FLAT * max(1.0, float(np.linalg.norm(slope))):
            break
        while length > 1e-6:
            tried, steps, end = inverse.minimise(pose, weight, active, np.clip(q + length * direction, low, high))
            total += steps + 1
            if end == REACHED and cost(tried) < value - _ENOUGH * length * float(direction @ direction):
                break
            length *= 0.5
        else:
            break
        gained = value - cost(tried)
        q, value, length = tried, value - gained, min(2.0 * length, 1e3)
        if gained <= 1e-14 * max(1.0, abs(value)):
            break
    return q, total


def _projected(
    J: np.ndarray,  # noqa: N803
    slope: np.ndarray,
    active: np.ndarray,
    q: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> np.ndarray:
    """Return -slope in the null space of J over the joints that may move."""
    free = active > 0.0
    for _ in range(len(q)):
        direction = np.zeros(len(q))
        _, s, Vt = np.linalg.svd(J[:, free], full_matrices=True)  # noqa: N806
        rank = int((s > 1e-7 * max(1.0, s[0] if len(s) else 0.0)).sum())
        N = Vt[rank:]  # noqa: N806
        direction[free] = -(N.T @ (N @ slope[free]))
        stopped = free & (((q <= low) & (direction < 0.0)) | ((q >= high) & (direction > 0.0)))
        if not stopped.any():
            return direction
        free = free & ~stopped
    return np.zeros(len(q))


def _cost(
    inverse: InverseKinematics, task: NullSpaceTask, pose: np.ndarray, weight: np.ndarray, start: np.ndarray
) -> Tuple[Callable[[np.ndarray], float], Callable[[np.ndarray], np.ndarray]]:
    """Return the cost of a task and its gradient."""
    n = inverse.chain.n
    weighting = np.ones(n) if task.weights is None else vector(task.weights, n, "weights of NullSpaceTask")
    if (weighting < 0.0).any():
        raise ShapeError(f"weights of NullSpaceTask are {weighting}; expected 0 or more")
    if task.kind in (POSTURE, LIMITS):
        goal = start if task.posture is None else vector(task.posture, n, "posture of NullSpaceTask")
        if task.kind == LIMITS:
            ranges = inverse.chain.upper - inverse.chain.lower
            bounded = np.isfinite(ranges) & (ranges > 0.0)
            goal = np.where(bounded, 0.5 * (inverse.chain.upper + inverse.chain.lower), 0.0)
            weighting = np.where(bounded, weighting / np.where(bounded, ranges, 1.0) ** 2, 0.0)
        weighting = weighting / max(float(weighting.max()), 1e-300)  # a step of the gradient is then of the right size
        return (lambda q: 0.5 * float(weighting @ (q - goal) ** 2)), (lambda q: weighting * (q - goal))

    rows = weight > 0.0

    def value(q: np.ndarray) -> float:
        J = inverse.linear(pose, weight, q)[1][rows]  # noqa: N806
        return -float(np.sqrt(max(np.linalg.det(J @ J.T), 0.0)))

    def gradient(q: np.ndarray) -> np.ndarray:
        slopes = np.empty(n)
        for i in range(n):
            step = np.zeros(n)
            step[i] = _DIFFERENCE
            slopes[i] = (value(q + step) - value(q - step)) / (2.0 * _DIFFERENCE)
        return slopes

    return value, gradient
