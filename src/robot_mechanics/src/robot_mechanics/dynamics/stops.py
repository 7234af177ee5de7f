# SPDX-License-Identifier: MIT
"""Mechanical stops at the joints' limits: they push, never pull, and take the speed of what hits them.

With n of the joints at a limit, S (n, nv) picks their velocities towards the inside of their range. A stop gives an
impulse p >= 0 (or a force f >= 0) only where the velocity (acceleration) that is left is 0:

    S v' = S M^-1 S' p + S v,   S v' >= 0,   p >= 0,   p . S v' = 0,   v' = v + M^-1 S' p

(Featherstone, Rigid Body Dynamics Algorithms, 2008, ch. 11.1: contact without rebound). All joints feel that impulse,
not only the one that hits, so an impact loses energy and a robot at rest on its stops stays at rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Tuple

import numpy as np

if TYPE_CHECKING:
    from robot_mechanics.dynamics.model import DynamicModel


def held(model: DynamicModel, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Return which velocities (nv,) stay 0 because a stop holds them against tau (nv,) and all other forces.

    Parameters
    ----------
    model : DynamicModel
    q, v, tau : (nq,), (nv,), (nv,) array
        State and generalized forces.
    """
    inward, locked = _inward(model, q)
    inward[(v * inward > 0.0) & ~locked] = 0.0  # those leave their stop already
    at = np.flatnonzero(inward)
    found = np.zeros(model.nv, dtype=bool)
    if len(at):
        forces = _reactions(model, q, at, inward[at], locked[at], model.forward(q, v, tau))
        found[at[(forces > 0.0) | locked[at]]] = True
    return found


def impact(model: DynamicModel, q: np.ndarray, v: np.ndarray) -> None:
    """Move joints beyond a limit back to it, and change the velocities as an impact without rebound does, in place.

    Parameters
    ----------
    model : DynamicModel
    q, v : (nq,), (nv,) array
    """
    joints = q[model.nq - model.n :]
    np.clip(joints, model.tree.lower, model.tree.upper, out=joints)
    inward, locked = _inward(model, q)
    at = np.flatnonzero(inward)
    if not ((v[at] * inward[at] < 0.0) | (locked[at] & (v[at] != 0.0))).any():
        return
    impulses = _reactions(model, q, at, inward[at], locked[at], v)
    v += np.linalg.solve(model.mass_matrix(q), np.bincount(at, inward[at] * impulses, model.nv))
    v[at[(impulses > 0.0) | locked[at]]] = 0.0  # exactly, without what rounding leaves


def _inward(model: DynamicModel, q: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Return for each velocity (nv,) 1 or -1, the sign towards the inside, at a limit or beyond it, else 0; and whether
    its joint is locked: its range has no inside, so that its stops push either way.
    """
    joints, tree, first = q[model.nq - model.n :], model.tree, model.nv - model.n
    signs, locked = np.zeros(model.nv), np.zeros(model.nv, dtype=bool)
    locked[first:] = tree.lower >= tree.upper
    signs[first:] = 1.0 * (joints <= tree.lower) - 1.0 * (joints >= tree.upper)
    signs[locked] = 1.0
    return signs, locked


def _reactions(
    model: DynamicModel, q: np.ndarray, at: np.ndarray, inward: np.ndarray, locked: np.ndarray, motion: np.ndarray
) -> np.ndarray:
    """Return what the stops of the velocities `at` give: impulses against velocities `motion` (nv,), or forces against
    accelerations.
    """
    M = model.check_mass_matrix(model.mass_matrix(q))
    picked = np.zeros((len(at), model.nv))
    picked[np.arange(len(at)), at] = inward
    return _complementary(picked @ np.linalg.solve(M, picked.T), inward * motion[at], locked)


def _complementary(W: np.ndarray, b: np.ndarray, both: np.ndarray) -> np.ndarray:  # noqa: N803
    """Return p >= 0 with W p + b >= 0 and p . (W p + b) = 0 for a positive definite W: Murty's least-index method.

    Where `both`, p has either sign and W p + b is 0.
    """
    n = len(b)
    basis, p = both.copy(), np.zeros(n)
    rounding = 1e-12 * np.abs(b).max(initial=0.0)
    for _ in range(1 << min(n, 16)):  # more than it can need up to 16 stops at once; usually n or fewer
        p[:] = 0.0
        p[basis] = np.linalg.solve(W[np.ix_(basis, basis)], -b[basis])
        left = np.where(basis, p, W @ p + b)
        wrong = np.flatnonzero((left < -np.where(basis, 0.0, rounding)) & ~both)
        if not len(wrong):
            break
        basis[wrong[0]] = not basis[wrong[0]]
    return p
