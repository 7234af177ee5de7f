# SPDX-License-Identifier: MIT
"""Inverse of any chain for many targets in one call, independent or along trajectories, on all cores."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Tuple, Union

import numpy as np
from numba.core import config

from robot_mechanics.arguments import flag
from robot_mechanics.codegen.chain_tables import whole_turns
from robot_mechanics.codegen.compiled_chain import CompiledChain, compile_chain
from robot_mechanics.codegen.lane_rows import LANES
from robot_mechanics.codegen.lane_source import lanes_source
from robot_mechanics.codegen.loop_source import loop_source
from robot_mechanics.codegen.store import load
from robot_mechanics.errors import ShapeError
from robot_mechanics.native.threads import count_of, run_parts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robot_mechanics.models.chain import SerialChain

_LINE = 8  # floats of a line of the cache
_PART = 256  # poses, the smallest part of a large batch that a thread is given
_POSITIONS = 2048  # the same of positions, which cost a hundredth: as long as it takes to wake a thread
_lock = threading.RLock()


@dataclass(frozen=True, repr=False)
class BatchResult:
    """Answer of `inverse_batch`; leading axes as those of the targets, (N,) or (T, M)."""

    q: np.ndarray  #: (..., n) Coordinates, rad or m; where not converged, the nearest point found
    converged: np.ndarray  #: (...) Whether the target is reached within the options' tolerances
    iterations: np.ndarray  #: (...) Steps of the iteration, all attempts together
    distance: np.ndarray  #: (...) From the target, m
    angle: np.ndarray  #: (...) From its orientation, rad; 0 for targets without one

    @property
    def success(self) -> float:
        """Fraction of the targets that are reached, 0 .. 1."""
        return float(self.converged.mean()) if self.converged.size else 1.0

    def __repr__(self) -> str:
        """One line, however many targets there are."""
        worst = float(self.distance.max()) if self.distance.size else 0.0
        return (
            f"BatchResult({self.converged.size} targets, {int(self.converged.sum())} reached, worst {worst:.2g} m off)"
        )


def inverse_batch(
    chain: Union[SerialChain, CompiledChain],
    targets: ArrayLike,
    seeds: Optional[ArrayLike] = None,
    limits: bool = True,
    threads: Optional[int] = None,
) -> BatchResult:
    """Solve many targets by Levenberg-Marquardt with the chain's generated kernels.

    Positions are solved many at a time by SIMD code, poses one by one; both share the cores, and neither answer depends
    on how many there are.

    Parameters
    ----------
    chain : SerialChain or CompiledChain
        The latter brings its own tolerances, attempts and steps (KernelOptions).
    targets : (N, 3), (T, M, 3), (N, 4, 4) or (T, M, 4, 4)
        Positions (m) or poses of the tip in the chain's base; NaN frees a coordinate, in a rotation all of it. With two
        leading axes: T trajectories of M points, each point started from the solution of the one before it.
    seeds : (n,), or (N, n), or (T, n) for trajectories, optional
        Where to start; default: 0, or what of the limits is nearest to it.
    limits : bool
        Keep to the joint limits.
    threads : int, optional
        Default: all cores.

    Raises
    ------
    ShapeError
        If shapes do not fit, or numbers are infinite, or seeds NaN.
    InvalidChainError, InvalidConfigError
        If chain is no chain, limits no truth value, or threads no whole number above zero.

    Notes
    -----
    The first call for a chain generates and compiles its kernel (some seconds, then cached as a file). The call runs
    to its end; for a progress report give the targets in parts.
    """
    limits = flag(limits, "limits")
    compiled = chain if isinstance(chain, CompiledChain) else compile_chain(chain)
    points, leading, pose = _targets(targets)
    trajectories, count, n = points.shape[0], points.shape[1], compiled.chain.n
    starts = _seeds(seeds, compiled, trajectories)
    q, steps = np.empty((trajectories, count, n)), np.empty((trajectories, count), dtype=np.int64)
    residual, angle = np.empty((trajectories, count)), np.zeros((trajectories, count))
    workers = count_of(threads)
    if q.size:
        kernel, floats = _kernel(compiled, "loop" if pose else "lanes", limits)
        work = _work(workers, floats)
        # interpreted, idle lanes cost as much as busy ones
        lanes = min(LANES, trajectories) if config.DISABLE_JIT else LANES

        common = len(starts) == 1
        if pose:
            starts = _writable(np.broadcast_to(starts, (trajectories, n)))
        flat = (points.ravel(), starts.ravel(), common, q.ravel(), steps.ravel(), residual.ravel(), count)

        def task(first: int, last: int, worker: int) -> None:
            if pose:
                kernel(points, starts, q, steps, residual, angle, first, last, work[worker])
            else:
                kernel(*flat, first, last, work[worker], lanes)

        run_parts(trajectories, workers, task, _smallest_part(trajectories, count, pose))
    return BatchResult(
        q.reshape(*leading, n),
        (steps >= 0).reshape(leading),
        np.abs(steps).reshape(leading),
        residual.reshape(leading),
        angle.reshape(leading),
    )


def _targets(targets: ArrayLike) -> Tuple[np.ndarray, Tuple[int, ...], bool]:
    """Return the targets as (T, M, 3) or (T, M, 4, 4), their leading axes, and whether they are poses."""
    try:
        given = _writable(targets)
    except (TypeError, ValueError):
        raise ShapeError(
            "targets cannot be read as numbers; expected (N, 3), (T, M, 3), (N, 4, 4), (T, M, 4, 4)"
        ) from None
    pose = given.ndim >= 3 and given.shape[-2:] == (4, 4)
    leading = given.shape[:-2] if pose else given.shape[:-1]
    if len(leading) not in (1, 2) or (not pose and given.shape[-1] != 3):
        raise ShapeError(f"targets has shape {given.shape}; expected (N, 3), (T, M, 3), (N, 4, 4) or (T, M, 4, 4)")
    if np.isinf(given).any():
        raise ShapeError("targets holds infinity; expected finite numbers, or NaN for what is free")
    inner = (4, 4) if pose else (3,)
    return given.reshape(leading[0], leading[1] if len(leading) == 2 else 1, *inner), leading, pose


def _seeds(seeds: Optional[ArrayLike], compiled: CompiledChain, trajectories: int) -> np.ndarray:
    """Return the seeds as (T, n), or as (1, n) where all start from one."""
    chain = compiled.chain
    if seeds is None:
        seeds = np.clip(np.zeros(chain.n), chain.lower, chain.upper)
    try:
        given = np.asarray(seeds, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError(f"seeds is {seeds!r}; expected ({chain.n},) or ({trajectories}, {chain.n}) numbers") from None
    if given.shape == (chain.n,):
        given = given[None]
    if given.shape not in ((1, chain.n), (trajectories, chain.n)) or not np.isfinite(given).all():
        raise ShapeError(
            f"seeds has shape {given.shape}; expected finite ({chain.n},) or ({trajectories}, {chain.n}) for chain "
            f"'{chain.name}'"
        )
    return _writable(given)


def _writable(array: ArrayLike) -> np.ndarray:
    """Return the numbers as one writable block.

    For a read-only array numba would compile the kernel anew, and products and sums may then be fused differently:
    answers would differ in the last bit.
    """
    return np.require(array, dtype=np.float64, requirements=["C", "W"])


def _smallest_part(trajectories: int, count: int, pose: bool) -> int:
    """Return how many trajectories of `count` points a thread is given at least."""
    if pose:
        return 1 if count > 1 or trajectories < 4 * _PART else _PART
    return LANES * -(-_POSITIONS // (LANES * count))  # or most lanes would have nothing to do


def _work(workers: int, floats: int) -> np.ndarray:
    """Return work memory (workers, floats or some more), rows at whole lines of the cache, which SIMD loads then keep
    to.
    """
    size = -(-floats // _LINE) * _LINE
    raw = np.zeros(workers * size + _LINE)
    first = -(raw.ctypes.data // raw.itemsize) % _LINE
    return raw[first : first + workers * size].reshape(workers, size)


def _kernel(compiled: CompiledChain, kind: str, limits: bool) -> Tuple[Any, int]:
    """Return the batch kernel of a chain and the floats of work memory that a thread needs."""
    kernels, key = compiled.batch_kernels, (kind, limits)
    with _lock:
        if key not in kernels:
            name = "ik_pose_limited" if limits else "ik_pose"
            if kind == "lanes":
                p = compiled.chain.parameters()
                text, floats = lanes_source(p, whole_turns(p), limits, compiled.options)
                kernels[key] = load(text, "lanes").inverse_lanes, floats
            else:
                text = loop_source(name, compiled.source(name), compiled.source("fk"))
                kernels[key] = load(text, "loop").inverse_loop, 16 + compiled.chain.n
        return kernels[key]
