# SPDX-License-Identifier: MIT
"""Masses, inertias and friction from recorded torques: linear least squares over the regressor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Optional

import numpy as np

from robot_mechanics.dynamics.slopes import parameters, regressor
from robot_mechanics.errors import DynamicsError, ShapeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robot_mechanics.dynamics.model import DynamicModel


@dataclass(frozen=True, eq=False)
class Identified:
    """Result of an identification.

    Only some combinations of the parameters can be seen in torques (base parameters: `basis.T @ parameters`); along
    the others the estimate stays at the model's own values.
    """

    parameters: np.ndarray  #: As `slopes.parameters`, with what the torques say
    basis: np.ndarray  #: (all, rank) orthonormal columns: the combinations that the motion shows
    deviation: np.ndarray  #: (rank,) standard deviation of each of them, from what is left of the torques
    residual: float  #: Root mean square of what is left, N m
    condition: float  #: Of the least squares, after the columns are scaled; below some 100 the motion excites enough

    def errors(self, true: ArrayLike) -> float:
        """Return the relative error of the base parameters, if the true parameters are known: for simulated robots."""
        expected = self.basis.T @ np.asarray(true, dtype=float)
        return float(np.linalg.norm(self.basis.T @ self.parameters - expected) / np.linalg.norm(expected))


def identify(
    model: DynamicModel,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    tau: ArrayLike,
    tolerance: float = 1e-3,
    smooth: Optional[Callable[[np.ndarray], np.ndarray]] = None,
) -> Identified:
    """Return the parameters that explain recorded torques best.

    Parameters
    ----------
    model : DynamicModel
        The robot as far as it is known: geometry, and first guesses of its masses.
    q, v, a, tau : (samples, nq), (samples, nv), (samples, nv), (samples, nv) array_like
        Recorded positions, velocities, accelerations and generalized forces, in the order of time.
    tolerance : float
        Combinations that change the torques by less than this fraction of the strongest one count as unseen.
    smooth : callable, optional
        A linear filter along the first axis: it is applied to the torques and to the columns of the regressor alike, so
        that noise goes and nothing is falsified. It may leave out samples, at the ends or in between.

    Raises
    ------
    ShapeError
        If the recordings differ in length.
    DynamicsError
        If there are fewer torques than combinations that can be seen.
    """
    columns = [np.atleast_2d(np.asarray(x, dtype=float)) for x in (q, v, a, tau)]
    if len({len(column) for column in columns}) != 1:
        raise ShapeError(f"q, v, a, tau have {[len(column) for column in columns]} samples; expected as many of each")
    rows, torques, before = (
        np.array([regressor(model, *row) for row in zip(*columns[:3])]),
        columns[3],
        parameters(model),
    )
    if smooth is not None:
        rows, torques = smooth(rows), smooth(torques)
    Y = rows.reshape(-1, len(before))
    left = torques.ravel() - Y @ before
    scale = np.linalg.norm(Y, axis=0)
    seen = scale > 1e-12 * scale.max(initial=0.0)
    U, strength, Vt = np.linalg.svd(Y[:, seen] / scale[seen], full_matrices=False)
    rank = int((strength > tolerance * strength[0]).sum())
    if len(left) <= rank:
        raise DynamicsError(f"{len(left)} torques cannot show {rank} parameters; record more samples")
    change = np.zeros(len(before))
    change[seen] = (Vt[:rank].T @ (U[:, :rank].T @ left / strength[:rank])) / scale[seen]
    found = before + change
    rest = torques.ravel() - Y @ found
    directions = np.zeros((len(before), rank))
    directions[seen] = Vt[:rank].T * scale[seen][:, None]  # what these combinations weigh in the torques
    basis, _ = np.linalg.qr(directions)
    variance = float(rest @ rest) / (len(left) - rank)
    inverse = np.linalg.inv(basis.T @ (Y.T @ Y) @ basis)
    return Identified(
        found,
        basis,
        np.sqrt(variance * np.diag(inverse)),
        float(np.sqrt(np.mean(rest**2))),
        float(strength[0] / strength[rank - 1]),
    )
