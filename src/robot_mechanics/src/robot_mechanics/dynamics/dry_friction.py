# SPDX-License-Identifier: MIT
"""Coulomb friction over a step of time: what rests stays at rest until it is pushed hard enough, what slides is braked.

Friction c of a coordinate at rest is any force f within -c .. c that keeps its acceleration a at 0; where none does, it
is the end of the range against the motion that begins:

    a = W f + b,   W = S M^-1 S',   |f| <= c,   a = 0 or f = -c sign(a)

with S picking the resting coordinates and b their accelerations without such friction. All joints feel f, as they feel
a stop (`stops`). While a joint slides, its friction keeps the direction of the step's beginning; a joint that would
turn round within the step comes to rest instead, and the next step decides. So friction never moves anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Tuple

import numpy as np

if TYPE_CHECKING:
    from robot_mechanics.dynamics.model import DynamicModel


def directions(
    model: DynamicModel, q: np.ndarray, v: np.ndarray, tau: np.ndarray, friction: np.ndarray
) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what friction does in a step that begins now.

    Parameters
    ----------
    model : DynamicModel
    q, v, tau : (nq,), (nv,), (nv,) array
        State and generalized forces, N m or N.
    friction : (nv,) array
        Greatest friction of each coordinate, N m or N.

    Returns
    -------
    sliding : (nv,) array
        In which direction each coordinate slides or begins to, 1 or -1; 0 without friction.
    sticks : (nv,) array of bool
        Which stay at rest.
    forces : (nv,) array
        Friction of those that are at rest, 0 of the others, N m or N.
    """
    sliding = np.where(friction > 0.0, np.sign(v), 0.0)
    sticks, forces = np.zeros(model.nv, dtype=bool), np.zeros(model.nv)
    at = np.flatnonzero((friction > 0.0) & (v == 0.0))
    if len(at):
        M = model.check_mass_matrix(model.mass_matrix(q))
        forces[at] = _within(np.linalg.inv(M)[np.ix_(at, at)], model.forward(q, v, tau)[at], friction[at])
        sticks[at] = np.abs(forces[at]) < friction[at]
        sliding[at] = -np.sign(np.where(sticks[at], 0.0, forces[at]))
    return sliding, sticks, forces


def at_turns(model: DynamicModel, q: np.ndarray, v: np.ndarray, sliding: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return the velocities (nv,) at the end of a step, 0 of what has turned round against its friction.

    Parameters
    ----------
    model : DynamicModel
    q, v, sliding : (nq,), (nv,), (nv,) array
        State at the end of the step, and the direction of friction in it.
    free : (nv,) array of bool
        Of the others, which friction or a stop holds, the velocity stays 0 when those come to rest.
    """
    turns = v * sliding < 0.0
    if not turns.any():
        return v
    at = np.flatnonzero(turns | ~free)
    inverse = np.linalg.inv(model.mass_matrix(q))
    rest: np.ndarray = np.asarray(v - inverse[:, at] @ np.linalg.solve(inverse[np.ix_(at, at)], v[at]))
    rest[at] = 0.0  # exactly, without what rounding leaves
    return rest


def _within(W: np.ndarray, b: np.ndarray, most: np.ndarray) -> np.ndarray:  # noqa: N803
    """Return f within -most .. most with W f + b = 0, or of the sign of -f where f is at an end of its range.

    W is positive definite. Least-index pivoting, as in `stops`: each element is at an end of its range or solved for;
    the first that is wrong changes.
    """
    n = len(b)
    at_end = np.zeros(n)  # -1, 0 (solved for), 1
    for _ in range(1 << min(2 * n, 16)):
        f, free = at_end * most, at_end == 0.0
        f[free] = np.linalg.solve(W[np.ix_(free, free)], -b[free] - W[np.ix_(free, ~free)] @ f[~free])
        wrong = np.flatnonzero(np.where(free, np.abs(f) > most, at_end * (W @ f + b) > 0.0))
        if not len(wrong):
            break
        i = wrong[0]
        at_end[i] = np.sign(f[i]) if free[i] else 0.0
    return np.clip(f, -most, most)
