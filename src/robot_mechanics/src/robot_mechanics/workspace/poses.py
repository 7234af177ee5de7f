# SPDX-License-Identifier: MIT
"""Poses and Jacobians of any chain at many coordinates in one call, on all cores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Optional, Tuple

import numpy as np

from robot_mechanics.codegen.chain_tables import chain_tables
from robot_mechanics.errors import ShapeError
from robot_mechanics.models.chain import SerialChain, check_chain
from robot_mechanics.models.structure import LARGEST_COORDINATE
from robot_mechanics.native import table_kernels
from robot_mechanics.native.threads import count_of, run_parts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def forward_batch(chain: SerialChain, q: ArrayLike, threads: Optional[int] = None) -> np.ndarray:
    """Return T_base_tip at many coordinates: what `chain.fk` returns for each.

    Parameters
    ----------
    chain : SerialChain
        Of any length; its kernel is the same for all chains, compiled once.
    q : (..., n) array
        Coordinates, rad or m.
    threads : int, optional
        Default: all cores.

    Returns
    -------
    (..., 4, 4) array
        Poses in the chain's base, m.

    Raises
    ------
    ShapeError
        If the last axis is not n, or a number is not finite or beyond 1e9.
    InvalidChainError, InvalidConfigError
        If chain is no SerialChain, or threads no whole number above zero.
    """
    values, leading = _coordinates(check_chain(chain), q)
    tables, workers = chain_tables(chain.parameters()), count_of(threads)
    poses = np.empty((len(values), 4, 4))
    poses[:, 3] = (0.0, 0.0, 0.0, 1.0)
    axes = np.empty((workers, len(tables.kind), 6))

    def task(first: int, last: int, worker: int) -> None:
        table_kernels.table_poses(*tables, values, poses, axes[worker], first, last)

    run_parts(len(values), workers, task)
    return poses.reshape(*leading, 4, 4)


def jacobian_batch(chain: SerialChain, q: ArrayLike, threads: Optional[int] = None) -> np.ndarray:
    """Return the geometric Jacobian of the tip at many coordinates: what `chain.jacobian` returns for each.

    Parameters
    ----------
    chain, q, threads
        As those of `forward_batch`.

    Returns
    -------
    (..., 6, n) array
        Velocity of the tip's origin (m/s) above angular velocity (rad/s) per rate of each coordinate, axes of the base.

    Raises
    ------
    ShapeError, InvalidChainError, InvalidConfigError
        As `forward_batch`.
    """
    values, leading = _coordinates(check_chain(chain), q)
    tables, workers = chain_tables(chain.parameters()), count_of(threads)
    jacobians = np.empty((len(values), 6, chain.n))
    poses, axes = np.empty((workers, 3, 4)), np.empty((workers, len(tables.kind), 6))

    def task(first: int, last: int, worker: int) -> None:
        table_kernels.table_jacobians(*tables, values, jacobians, poses[worker], axes[worker], first, last)

    run_parts(len(values), workers, task)
    return jacobians.reshape(*leading, 6, chain.n)


def _coordinates(chain: SerialChain, q: ArrayLike) -> Tuple[np.ndarray, Tuple[int, ...]]:
    """Return the coordinates as (N, n), and their leading axes."""
    try:
        values = np.require(q, dtype=np.float64, requirements=["C", "W"])
    except (TypeError, ValueError):
        raise ShapeError(f"q cannot be read as numbers; expected (..., {chain.n}) for chain '{chain.name}'") from None
    if values.ndim == 0 or values.shape[-1] != chain.n:
        raise ShapeError(f"q has shape {values.shape}; expected (..., {chain.n}): {', '.join(chain.joint_names)}")
    fine = (np.abs(values) <= LARGEST_COORDINATE).all(axis=-1)  # also for NaN
    if not fine.all():
        place = tuple(int(i) for i in np.argwhere(~fine)[0])
        raise ShapeError(f"q{list(place)} is {values[place]}; expected finite numbers within +-{LARGEST_COORDINATE:g}")
    return values.reshape(math.prod(values.shape[:-1]), chain.n), values.shape[:-1]
