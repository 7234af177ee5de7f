# SPDX-License-Identifier: MIT
"""The general inverse of a serial chain: free rows, weights, limits, redundancy, restarts, best effort."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Iterable, Optional, Sequence, Tuple, Union

import numpy as np

from robot_mechanics.codegen.chain_tables import chain_tables, unit_length, whole_turns
from robot_mechanics.errors import InvalidConfigError, ShapeError, UnknownNameError
from robot_mechanics.inverse.config import TARGET, IkResult, InverseConfig, NullSpaceTask
from robot_mechanics.inverse.null_space import descend
from robot_mechanics.inverse.target import read_target
from robot_mechanics.models.chain import SerialChain, check_chain
from robot_mechanics.native import lm_kernels, table_kernels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_SPREAD = 0.5  # rad or m: how far the first restart is from the given start; each goes that much farther
NUDGE = 0.02  # rad: what takes a start off a pose in which the gradient vanishes without being a minimum
FLAT = 1e-9  # slope below which a point is stationary
_ENDS = {
    lm_kernels.STATIONARY: "no small motion brings it nearer (least squares)",
    lm_kernels.OUT_OF_STEPS: "the steps ran out",
    lm_kernels.NO_DESCENT: "no small motion brings it nearer (least squares, within rounding)",
}


class InverseKinematics:
    """Inverse of any serial chain by Levenberg-Marquardt, with everything that a control loop seldom needs.

    For control loops the kernels of `SerialChain.compile` are some ten times faster. Threads may share one object.

    Parameters
    ----------
    chain : SerialChain
        Of any length, with revolute, prismatic, fixed and mimic joints.
    config : InverseConfig, optional

    Raises
    ------
    InvalidChainError, InvalidConfigError
        If they are something else.

    Examples
    --------
    >>> inverse = InverseKinematics(chain)
    >>> inverse.solve([0.3, 0.1, math.nan]).q                        # a position, its z free
    >>> inverse.solve((p, quaternion), seed, active=["elbow"])         # a pose, all other joints rest
    """

    def __init__(self, chain: SerialChain, config: Optional[InverseConfig] = None) -> None:
        if not isinstance(config, (InverseConfig, type(None))):
            raise InvalidConfigError(
                f"config is {config!r}; expected an InverseConfig, such as InverseConfig(tolerance=1e-6)"
            )
        self.chain, self.config = check_chain(chain), InverseConfig() if config is None else config
        p = chain.parameters()
        self._tables = chain_tables(p)
        self._length = unit_length(p)
        self._turns = np.array(whole_turns(p), dtype=np.float64)
        self._low, self._high = np.full(chain.n, -math.inf), np.full(chain.n, math.inf)
        if self.config.limits:
            self._low, self._high = chain.lower.copy(), chain.upper.copy()
        self._all = np.ones(chain.n)
        self._weights = np.array(self.config.weights, dtype=np.float64)
        self._weights[:3] /= self._length
        damping = self.config.damping
        self._settings = np.array([damping.start, damping.success, damping.failure, float(self.config.steps), FLAT])
        self._tolerance = self.config.row_tolerances()
        self._in_target = self.config.orientation_frame == TARGET

    def __repr__(self) -> str:
        """One line: whose inverse, and how near."""
        near = self.config.row_tolerances()
        return (
            f"InverseKinematics({self.chain!r}, within {near[:3].max():g} m, {near[3:].max():g} rad"
            f"{'' if self.config.limits else ', without limits'})"
        )

    def solve(
        self,
        target: object,
        seed: Optional[ArrayLike] = None,
        active: Optional[Sequence[Union[str, int]]] = None,
        null_space: Optional[NullSpaceTask] = None,
        rng: Optional[np.random.Generator] = None,
    ) -> IkResult:
        """Return coordinates that bring the tip to the target, or as near as can be.

        Parameters
        ----------
        target : array or pair
            (3,) position; (6,) position and roll, pitch, yaw; (7,) position and quaternion (x, y, z, w); (4, 4); or a
            pair (position, orientation) with the orientation None, (3,), (4,) or (3, 3). m and rad, in the chain's
            base. NaN frees a row; of roll, pitch, yaw it frees the component x, y, z of the rotation vector in the
            configured frame and counts as angle 0. So in the frame "target" a free roll is a free turn about the
            target's x axis, in the frame "world" a free yaw is a free turn about the base's z axis.
        seed : (n,), optional
            Start; default 0 or what of the limits is nearest to it. Moved into the limits first.
        active : sequence of joint names or columns, optional
            Coordinates that may move; the others rest at the seed.
        null_space : NullSpaceTask, optional
            What is done with the freedom that is left.
        rng : numpy Generator, optional
            For restarts; default a new one with a fixed seed, so that equal calls have equal results.

        Raises
        ------
        ShapeError, UnknownNameError, InvalidConfigError
            On a target, start, joint, task or generator that cannot be used; the message names it.
        """
        if not isinstance(null_space, (NullSpaceTask, type(None))):
            raise InvalidConfigError(
                f"null_space is {null_space!r}; expected a NullSpaceTask, such as NullSpaceTask('limits')"
            )
        if not isinstance(rng, (np.random.Generator, type(None))):
            raise InvalidConfigError(f"rng is {rng!r}; expected a Generator, such as numpy.random.default_rng(1)")
        pose, weight = self.goal(target)
        start = np.zeros(self.chain.n) if seed is None else self.chain.check(seed)
        moving = self._all if active is None else self._active(active)
        q, residual = np.empty(self.chain.n), np.empty(6)
        total, end, stands = lm_kernels.attempt(
            *self._tables, pose, weight, self._tolerance, self._in_target, moving, self._low, self._high, self._turns,
            self._settings, start, q, residual,
        )  # fmt: skip
        restarts = 0
        if end != lm_kernels.REACHED:
            q, total, end, restarts = self._restart(pose, weight, moving, start, rng, (q, total, end))
            stands = self._finish(pose, weight, start, q, residual)
        if null_space is not None and end == lm_kernels.REACHED:
            q, more = descend(self, null_space, pose, weight, moving, start, q)
            total += more
            stands = self._finish(pose, weight, q, q, residual)
        return self._result(q, residual, stands, total, end, restarts)

    def minimise(
        self, pose: np.ndarray, weight: np.ndarray, active: np.ndarray, q: np.ndarray
    ) -> Tuple[np.ndarray, int, int]:
        """Return where one run from q ends, its steps, and how it ended.

        Parameters
        ----------
        pose : (3, 4) array
            Of the tip in the chain's base, m.
        weight : (6,) array
            Of the position's rows, then the rotation's; 0 is free.
        active : (n,) array
            1 where a coordinate moves, else 0.
        q : (n,) array
            Start, rad or m.
        """
        moved = q.copy()
        steps, end = lm_kernels.minimise(
            *self._tables, pose, weight, self._tolerance, self._in_target, active, self._low, self._high,
            self._settings, moved, *self._pose_memory(), np.empty((6, len(q))), np.empty((2, len(q))),
        )  # fmt: skip
        return moved, int(steps), int(end)

    def goal(self, target: object) -> Tuple[np.ndarray, np.ndarray]:
        """Return a target as pose (3, 4) and the weights of its rows (6,), 0 where they are free.

        Parameters
        ----------
        target
            As of `solve`.
        """
        pose, rows = read_target(target)
        return pose, self._weights * rows

    def linear(self, pose: np.ndarray, weight: np.ndarray, q: np.ndarray) -> Tuple[np.ndarray, np.ndarray, bool]:
        """Return the weighted errors (6,) at q, their Jacobian (6, n), and whether the target is reached; free rows
        are 0.

        Parameters
        ----------
        pose, weight, q
            As of `minimise`.
        """
        error, J = np.empty(6), np.empty((6, len(q)))  # noqa: N806
        reached, axes = self._pose_memory()
        table_kernels.table_pose(*self._tables, q, reached, axes)
        angle = lm_kernels.task_errors(pose, weight, self._in_target, reached, error)
        there = lm_kernels.within(error, pose, weight, self._tolerance, self._in_target)
        tables = self._tables
        table_kernels.table_jacobian(tables.kind, tables.column, tables.ratio, reached, axes, J)
        lm_kernels.weighted_rows(pose, weight, self._in_target, error, angle, J)
        return error, J, bool(there)

    def result_at(
        self, pose: np.ndarray, weight: np.ndarray, q: np.ndarray, steps: int, end: int, restarts: int
    ) -> IkResult:
        """Return the result of a search that ended at q: reached, or else how it ended.

        Parameters
        ----------
        pose, weight, q
            As of `minimise`.
        steps, end, restarts : int
            Steps taken, how the last attempt ended (a code of `lm_kernels`), and attempts after the first.
        """
        residual, end = np.empty(6), lm_kernels.REACHED if self.linear(pose, weight, q)[2] else end
        return self._result(q, residual, self._finish(pose, weight, q, q, residual), steps, end, restarts)

    def _pose_memory(self) -> Tuple[np.ndarray, np.ndarray]:
        """Return what the kernels write the tip's pose and the joints' axes into."""
        return np.empty((3, 4)), np.empty((2 * len(self._tables.kind), 6))

    def limits(self) -> Tuple[np.ndarray, np.ndarray]:
        """Return the limits (n,) that are kept, infinite where none are."""
        return self._low, self._high

    def _restart(
        self,
        pose: np.ndarray,
        weight: np.ndarray,
        active: np.ndarray,
        start: np.ndarray,
        rng: Optional[np.random.Generator],
        first: Tuple[np.ndarray, int, int],
    ) -> Tuple[np.ndarray, int, int, int]:
        """Run from beside where the first run ended, and from farther and farther away until the target is reached."""
        best, total, end = first
        least, attempt = self._cost(pose, weight, best), 0
        rng = np.random.default_rng(0) if rng is None else rng
        while end != lm_kernels.REACHED and attempt <= self.config.restarts:
            if attempt == 0:  # also without restarts: a singular start looks like a minimum from where it is
                seed = best + NUDGE * (0.5 + np.arange(self.chain.n) * 0.618 % 1.0)
            else:
                seed = start + rng.uniform(-1.0, 1.0, self.chain.n) * min(math.pi, _SPREAD * attempt)
            seed = np.where(active > 0.0, np.clip(seed, self._low, self._high), start)
            q, steps, how = self.minimise(pose, weight, active, seed)
            total += steps
            cost = self._cost(pose, weight, q)
            if how == lm_kernels.REACHED or cost < least * (1.0 - 1e-9):
                best, least, end = q, cost, how
            attempt += 1
        return best, total, end, max(0, attempt - 1)

    def _cost(self, pose: np.ndarray, weight: np.ndarray, q: np.ndarray) -> float:
        return float(lm_kernels.cost(self._errors(pose, weight, q), pose, weight, self._in_target))

    def _errors(self, pose: np.ndarray, weight: np.ndarray, q: np.ndarray) -> np.ndarray:
        error, (reached, axes) = np.empty(6), self._pose_memory()
        table_kernels.table_pose(*self._tables, q, reached, axes)
        lm_kernels.task_errors(pose, weight, self._in_target, reached, error)
        return error

    def _finish(
        self, pose: np.ndarray, weight: np.ndarray, start: np.ndarray, q: np.ndarray, residual: np.ndarray
    ) -> bool:
        """Take needless whole turns out of q and write its residual; return whether it stands at a limit."""
        stands = lm_kernels.finish(
            *self._tables, pose, weight, self._in_target, self._low, self._high, self._turns, start, q,
            *self._pose_memory(), residual,
        )  # fmt: skip
        return bool(stands)

    def _result(
        self, q: np.ndarray, residual: np.ndarray, stands: bool, steps: int, end: int, restarts: int
    ) -> IkResult:
        hit: Tuple[str, ...] = ()
        if stands:
            hit = tuple(self.chain.joint_names[i] for i in np.flatnonzero((q <= self._low) | (q >= self._high)))
        reason = "reached"
        if end != lm_kernels.REACHED:
            away = [] if np.isnan(residual[:3]).all() else [f"{1e3 * np.sqrt(np.nansum(residual[:3] ** 2)):.4g} mm"]
            if not np.isnan(residual[3:]).all():
                away.append(f"{math.degrees(float(np.sqrt(np.nansum(residual[3:] ** 2)))):.4g} deg")
            stopped = f"; at their limits: {', '.join(hit)}" if hit else ""
            reason = f"not reached, {' and '.join(away)} away: {_ENDS[end]}{stopped}"
        q.setflags(write=False)
        return IkResult(q, end == lm_kernels.REACHED, steps, residual, reason, hit, restarts)

    def _active(self, active: Sequence[Union[str, int]]) -> np.ndarray:
        if isinstance(active, str) or not isinstance(active, Iterable):
            raise ShapeError(f"active is {active!r}; expected a list of joint names or columns")
        chosen, names = np.zeros(self.chain.n), self.chain.joint_names
        for joint in active:
            if isinstance(joint, str) and joint in names:
                chosen[names.index(joint)] = 1.0
            elif isinstance(joint, (int, np.integer)) and not isinstance(joint, bool) and 0 <= joint < self.chain.n:
                chosen[joint] = 1.0
            else:
                raise UnknownNameError(f"active joint {joint!r} does not exist; the chain has {', '.join(names)}")
        return chosen
