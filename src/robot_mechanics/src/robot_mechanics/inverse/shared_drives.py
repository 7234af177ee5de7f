# SPDX-License-Identifier: MIT
"""Inverse of limbs that share drives: Levenberg-Marquardt in the drives' coordinates over all their targets."""

from __future__ import annotations

import math
from typing import Dict, List, Mapping, Tuple

import numpy as np

from robot_mechanics.inverse.config import IkResult, InverseConfig
from robot_mechanics.inverse.solver import FLAT, NUDGE, InverseKinematics
from robot_mechanics.models.limbs import LimbSet
from robot_mechanics.native.lm_kernels import NO_DESCENT, OUT_OF_STEPS, REACHED, STATIONARY

_SLOW = 1e-2  # a run whose steps gain less ends where no target is reached, and the next start is tried


class SharedDrivesInverse:
    """The targets of several limbs as rows over the drives that move these limbs and no other.

    Parameters
    ----------
    robot : LimbSet
        Of which the limbs are.
    targets : mapping of limb to target
        As for InverseKinematics.solve, in the base.
    free : (drives,) bool array
        Drives that may move.
    config : InverseConfig
        Its steps and restarts are those of one search over all limbs.
    """

    def __init__(self, robot: LimbSet, targets: Mapping[str, object], free: np.ndarray, config: InverseConfig) -> None:
        self._robot, self._free, self._config = robot, free, config
        self._drive, self._gear, _ = robot.transmission()
        self._solvers = {limb: InverseKinematics(robot.limb(limb), config) for limb in targets}
        self._goals = {limb: solver.goal(targets[limb]) for limb, solver in self._solvers.items()}
        infinite = np.full(len(free), math.inf)
        self._low: np.ndarray = robot.lower if config.limits else -infinite
        self._high: np.ndarray = robot.upper if config.limits else infinite

    def solve(self, u: np.ndarray) -> Tuple[np.ndarray, Dict[str, IkResult]]:
        """Return drives (drives,) that bring the limbs to their targets, or nearer, and each limb's result.

        No limb that is at its target at u misses it for the others.
        """
        best, total, end = self._minimise(u, _SLOW)
        least, count = self._cost(best), 0
        rng = np.random.default_rng(0)
        ends = np.maximum(self._low, u - math.pi), np.minimum(self._high, u + math.pi)
        while end != REACHED and count <= self._config.restarts:
            # as for one chain, first beside the best; then anywhere, which finds the targets of many limbs sooner
            nudged = np.clip(best + NUDGE * (0.5 + np.arange(len(u)) * 0.618 % 1.0), self._low, self._high)
            seed = np.where(self._free, rng.uniform(*ends) if count else nudged, u)
            found, steps, how = self._minimise(seed, _SLOW)
            total, cost, count = total + steps, self._cost(found), count + 1
            if how == REACHED or cost < least * (1.0 - 1e-9):
                best, least, end = found, cost, how
        if end != REACHED:
            best, steps, end = self._minimise(best, 0.0)
            total += steps
        before, after = (self._results(where, total, end, max(0, count - 1)) for where in (u, best))
        if any(before[limb].converged and not after[limb].converged for limb in before):
            return u, before
        return best, after

    def _results(self, u: np.ndarray, steps: int, end: int, restarts: int) -> Dict[str, IkResult]:
        q = self._robot.expand(u)
        return {
            limb: solver.result_at(*self._goals[limb], q[self._robot.columns(limb)], steps, end, restarts)
            for limb, solver in self._solvers.items()
        }

    def _linear(self, u: np.ndarray) -> Tuple[np.ndarray, np.ndarray, bool]:
        """Return the weighted errors of all rows, their slopes by the drives, and whether all targets are reached."""
        q, errors, slopes, reached = self._robot.expand(u), [], [], []
        for limb, solver in self._solvers.items():
            where = self._robot.columns(limb)
            error, own, there = solver.linear(*self._goals[limb], q[where])
            J = np.zeros((6, len(u)))  # noqa: N806
            np.add.at(J.T, self._drive[where], (own * self._gear[where]).T)
            errors.append(error)
            slopes.append(J)
            reached.append(there)
        return np.concatenate(errors), np.vstack(slopes), all(reached)

    def _cost(self, u: np.ndarray) -> float:
        return float(np.sum(self._linear(u)[0] ** 2))

    def _minimise(self, start: np.ndarray, slow: float) -> Tuple[np.ndarray, int, int]:
        """Return one run from start, its steps, and how it ended, as `lm_kernels.minimise` without second order.

        It ends early after a step that takes less than the fraction `slow` off the cost.
        """
        damping, steps, u = self._config.damping, self._config.steps, start
        mu, step = damping.start, 0
        while True:
            error, J, reached = self._linear(u)  # noqa: N806
            cost, pull = float(error @ error), J.T @ error
            if reached:
                return u, step, REACHED
            stopped = ((u <= self._low) & (pull < 0.0)) | ((u >= self._high) & (pull > 0.0))
            moving = self._free & ~stopped
            J[:, ~moving] = 0.0
            trace = float(np.sum(J * J))
            if float(np.sum(pull[moving] ** 2)) <= FLAT * FLAT * cost * trace:
                return u, step, STATIONARY
            while True:
                if step >= steps:
                    return u, step, OUT_OF_STEPS
                step += 1
                damped = np.vstack((J, math.sqrt(mu * cost + 1e-15 * trace) * np.eye(len(u))))
                change = np.linalg.lstsq(damped, np.concatenate((error, np.zeros(len(u)))), rcond=None)[0]
                trial = np.where(moving, np.clip(u + change, self._low, self._high), u)
                tried = self._cost(trial)
                if tried < cost:
                    u, mu = trial, mu * damping.success
                    if tried > (1.0 - slow) * cost:
                        return u, step, NO_DESCENT
                    break
                mu *= damping.failure
                if not mu < 1e30:
                    return u, step, NO_DESCENT


def groups(robot: LimbSet, targets: Mapping[str, object]) -> Tuple[List[List[str]], Dict[str, str]]:
    """Return which limbs with a target share drives that may move, and why other drives of a limb rest, in words.

    A drive may move if every limb that it moves has a target; otherwise one limb would move another.
    """
    drive, gear, _ = robot.transmission()
    moves: Dict[int, List[str]] = {}
    for limb in robot.limb_names:
        where = robot.columns(limb)
        for d in np.unique(drive[where][gear[where] != 0.0]).tolist():
            moves.setdefault(d, []).append(limb)
    found, rests = [[limb] for limb in targets], dict.fromkeys(targets, "")
    for d, limbs in moves.items():
        idle = [limb for limb in limbs if limb not in targets]
        for limb in limbs:
            if idle and limb in targets:
                rests[limb] += f"; {robot.drive_names[d]} rests: it also moves {', '.join(idle)}, without a target"
        if not idle:
            joined = [group for group in found if set(group) & set(limbs)]
            found = [group for group in found if group not in joined] + [sum(joined, [])]
    return found, rests
