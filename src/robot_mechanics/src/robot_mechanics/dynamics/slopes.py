# SPDX-License-Identifier: MIT
"""Slopes of the inverse dynamics: over positions and velocities, and over the bodies' parameters (the regressor)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Tuple

import numpy as np

from robot_mechanics.native import rigid_body as rb

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robot_mechanics.dynamics.model import DynamicModel

_STEP = 1e-30


def inverse_slopes(model: DynamicModel, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Tuple[np.ndarray, np.ndarray]:
    """Return d tau / dq and d tau / dv (nv, nv) each, of `model.inverse(q, v, a)`; d tau / da is the mass matrix.

    Columns of a floating base are small motions along and about its own axes. By complex steps (Squire and Trapp,
    SIAM Review 1998): exact to rounding, as no difference is formed. Coulomb friction counts as constant.

    Parameters
    ----------
    model : DynamicModel
    q, v, a : (nq,), (nv,), (nv,) array_like
        As of `DynamicModel.inverse`.
    """
    q0, v0, a0 = model.check(q, v, a)
    by_q, by_v = np.empty((model.nv, model.nv)), np.empty((model.nv, model.nv))
    work = np.empty((len(model.table.rows), rb.WORK), dtype=complex)
    tau = np.empty(model.nv, dtype=complex)
    still = v0.astype(complex)
    for k, direction in enumerate(np.eye(model.nv)):
        moved = q0 + 1j * _STEP * model.position_rate(q0, direction)
        rb.inverse_dynamics(model.table.rows, moved, still, a0.astype(complex), tau, work)
        by_q[:, k] = tau.imag / _STEP
        rb.inverse_dynamics(
            model.table.rows, q0.astype(complex), v0 + 1j * _STEP * direction, a0.astype(complex), tau, work
        )
        by_v[:, k] = tau.imag / _STEP
    return by_q, by_v


def regressor(model: DynamicModel, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
    """Return Y (nv, 10 * bodies + 3 * n) with tau = Y @ `parameters(model)`.

    Parameters
    ----------
    model : DynamicModel
    q, v, a : (nq,), (nv,), (nv,) array_like
        As of `DynamicModel.inverse`.
    """
    q0, v0, a0 = model.check(q, v, a)
    rows = model.table.frictionless.copy()
    rows[:, rb.MASS : rb.MASS + 10] = 0.0
    rows[:, rb.ARMATURE] = 0.0
    work, tau = np.empty((len(rows), rb.WORK)), np.empty(model.nv)
    Y = np.zeros((model.nv, 10 * len(rows) + 3 * model.n))
    for body in range(len(rows)):
        for k in range(10):
            rows[body, rb.MASS + k] = 1.0
            rb.inverse_dynamics(rows, q0, v0, a0, tau, work)
            rows[body, rb.MASS + k] = 0.0
            Y[:, 10 * body + k] = tau
    first, drives = model.nv - model.n, Y[:, 10 * len(rows) :]
    for c in range(model.n):
        drives[first + c, 3 * c : 3 * c + 3] = a0[first + c], v0[first + c], np.sign(v0[first + c])
    return Y


def parameters(model: DynamicModel) -> np.ndarray:
    """Return what the torques are linear in, in the order of the columns of `regressor`.

    Of each body the ten of `Inertia.parameters`, in the frame of the body; then of each coordinate armature, viscous
    and Coulomb friction.

    Parameters
    ----------
    model : DynamicModel
        kg, kg m, kg m^2; N m s/rad and N m (of a slide N s/m and N).
    """
    table = model.table.rows
    drives = np.zeros((model.n, 3))
    for row in table[1:]:
        drives[int(row[rb.COLUMN])] += row[[rb.ARMATURE, rb.VISCOUS, rb.COULOMB]]
    return np.concatenate([table[:, rb.MASS : rb.MASS + 10].ravel(), drives.ravel()])
