# SPDX-License-Identifier: MIT
"""Masses, inertias and friction from recorded torques: linear least squares over the regressor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Optional

import numpy as np

from robot_mechanics.dynamics.physical import physical_model
from robot_mechanics.dynamics.slopes import parameters, regressor
from robot_mechanics.errors import DynamicsError, InvalidConfigError, ShapeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robot_mechanics.dynamics.model import DynamicModel


@dataclass(frozen=True, eq=False, repr=False)
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
    #: (rank, rank) W, so that the errors W @ basis.T @ (parameters - true) are independent with a deviation of one
    weight: np.ndarray
    torques: int  #: How many were fitted
    nominal: DynamicModel  #: The model that was given

    def model(self) -> DynamicModel:
        """Return a model with these parameters, for control and simulation; it can exist, body by body.

        What the torques do not show is decided by the nominal model: of all parameters that explain the torques, those
        nearest to its own (`physical`). Bodies have positive masses and tensors of solid bodies, friction and
        armatures are positive; where noise brought the estimate beyond, it is moved back by as little as the torques'
        deviation allows. A body that consists of several links has all its mass in the link behind its joint.

        Raises
        ------
        InvalidInertiaError
            If a body that the torques show has a tensor in the nominal model that no solid body has.
        DynamicsError
            If no such model explains the torques, as when their sign is wrong; the message names body or joint.
        """
        return physical_model(self)

    def errors(self, true: ArrayLike) -> float:
        """Return the relative error of the base parameters, if the true parameters are known: for simulated robots.

        Parameters
        ----------
        true : (all,) array_like
            As `slopes.parameters` of the robot that was recorded.
        """
        expected = self.basis.T @ np.asarray(true, dtype=float)
        return float(np.linalg.norm(self.basis.T @ self.parameters - expected) / np.linalg.norm(expected))

    def __repr__(self) -> str:
        """One line: how much was seen, and how well it fits."""
        return (
            f"Identified({self.basis.shape[1]} combinations of {len(self.parameters)} parameters,"
            f" residual {self.residual:.3g} N m, condition {self.condition:.3g})"
        )


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
        Combinations that change the torques by less than this fraction of the strongest one count as unseen; 0 to 1.
    smooth : callable, optional
        A linear filter along the first axis: it is applied to the torques and to the columns of the regressor alike, so
        that noise goes and nothing is falsified. It may leave out samples, at the ends or in between.

    Raises
    ------
    ShapeError
        If the recordings differ in length, are of another robot, or hold what is no finite number.
    DynamicsError
        If the motion shows nothing, or there are fewer torques than combinations that can be seen.
    """
    if not 0.0 < tolerance < 1.0:
        raise InvalidConfigError(f"tolerance is {tolerance!r}; expected a number between 0 and 1")
    recorded = [
        _samples(x, n, name) for x, n, name in zip((q, v, a, tau), (model.nq, *[model.nv] * 3), ("q", "v", "a", "tau"))
    ]
    if len({len(samples) for samples in recorded}) != 1:
        raise ShapeError(f"q, v, a, tau have {[len(x) for x in recorded]} samples; expected as many of each")
    rows, torques = np.array([regressor(model, *row) for row in zip(*recorded[:3])]), recorded[3]
    before = parameters(model)
    if smooth is not None:
        rows, torques = smooth(rows), smooth(torques)
        if len(rows) != len(torques) or not (np.isfinite(rows).all() and np.isfinite(torques).all()):
            raise ShapeError(
                f"smooth gives {len(torques)} torques and {len(rows)} rows of the regressor; expected as many of each,"
                " all finite"
            )
    Y = rows.reshape(-1, len(before))
    left = torques.ravel() - Y @ before
    scale = np.linalg.norm(Y, axis=0)
    seen = scale > 1e-12 * scale.max(initial=0.0)
    if not seen.any():
        raise DynamicsError(
            "the recorded motion shows no parameter: no joint is accelerated or loaded; move all joints over their"
            " range, with several frequencies at once"
        )
    U, strength, Vt = np.linalg.svd(Y[:, seen] / scale[seen], full_matrices=False)
    rank = int((strength > tolerance * strength[0]).sum())
    if len(left) <= rank:
        raise DynamicsError(f"{len(left)} torques cannot show {rank} parameters; record more samples")
    if not torques.any():
        raise DynamicsError("the recorded torques are all 0; record what the drives give, N m or N")
    change = np.zeros(len(before))
    change[seen] = (Vt[:rank].T @ (U[:, :rank].T @ left / strength[:rank])) / scale[seen]
    found = before + change
    rest = torques.ravel() - Y @ found
    directions = np.zeros((len(before), rank))
    directions[seen] = Vt[:rank].T * scale[seen][:, None]  # what these combinations weigh in the torques
    basis, _ = np.linalg.qr(directions)
    variance = float(rest @ rest) / (len(left) - rank)
    # rounding alone leaves that much of torques without noise
    weight = np.linalg.qr(Y @ basis, mode="r") / np.sqrt(max(variance, 1e-12 * float(np.mean(torques**2))))
    return Identified(
        found,
        basis,
        np.linalg.norm(np.linalg.inv(weight), axis=1),
        float(np.sqrt(np.mean(rest**2))),
        float(strength[0] / strength[rank - 1]),
        weight,
        len(left),
        model,
    )


def _samples(values: ArrayLike, n: int, name: str) -> np.ndarray:
    """Return a recording as (samples, n); one sample may be given as (n,)."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{name} cannot be read as numbers ({error}); expected (samples, {n})") from None
    samples = np.atleast_2d(array)
    if samples.ndim != 2 or samples.shape[1] != n or not len(samples):
        raise ShapeError(f"{name} has shape {array.shape}; expected (samples, {n}), of one sample at least")
    bad = np.flatnonzero(~np.isfinite(samples).all(axis=1))
    if len(bad):
        raise ShapeError(
            f"{name} holds {len(bad)} samples that are not finite, first {samples[bad[0]].tolist()} in sample {bad[0]};"
            " leave such samples out of q, v, a and tau"
        )
    return samples
