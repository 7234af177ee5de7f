# SPDX-License-Identifier: MIT
"""The kinematics server without ROS: measured joints, ticks, resets, and a summary for diagnostics."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from robot_mechanics.errors import InvalidReferenceError, KinematicsError
from shellbot_common import Stamp, classify_stamp
from shellbot_kinematics.packed_references import PackedReferences
from shellbot_kinematics.reports import JointTargets, Status

if TYPE_CHECKING:
    from shellbot_kinematics.solver import ShellbotSolver

_FINE = (Status.OK, Status.HELD)


@dataclass
class Statistics:
    """Counts since the last summary."""

    ticks: int = 0
    refused: int = 0
    resets: int = 0
    late: int = 0
    troubled: Dict[str, str] = field(default_factory=dict)
    slowest: float = 0.0


@dataclass(frozen=True)
class Summary:
    """State of the server for the operator: level 0 OK, 1 warning, 2 error; one sentence; values as text."""

    level: int
    text: str
    values: Tuple[Tuple[str, str], ...]


class ServerCore:
    """Feeds a solver from messages that may be late, incomplete or wrong.

    Parameters
    ----------
    solver : ShellbotSolver
        Warmed up.
    """

    def __init__(self, solver: ShellbotSolver) -> None:
        self.solver = solver
        self.measured = np.full(solver.model.n, np.nan)
        self._stamp: Optional[float] = None
        self._targets: Optional[JointTargets] = None
        self._index: Dict[str, int] = {name: i for i, name in enumerate(solver.names)}
        self._names: Tuple[str, ...] = ()
        self._from = self._to = np.empty(0, dtype=np.int64)
        self.has_joint_states = False
        self._statistics = Statistics()

    @property
    def missing(self) -> Tuple[str, ...]:
        """Driven joints without a measured position."""
        return tuple(name for name, value in zip(self.solver.names, self.measured) if math.isnan(value))

    def update_measured(self, names: Sequence[str], positions: Sequence[float]) -> str:
        """Store measured positions; unknown names are ignored, joints not in the message keep their last value.

        Returns
        -------
        str
            Why the message was not used; empty if it was.
        """
        if len(names) != len(positions):
            return f"joint_states has {len(names)} names and {len(positions)} positions; expected as many: ignored"
        if tuple(names) != self._names:
            self._names = tuple(names)
            pairs = [(i, self._index[name]) for i, name in enumerate(names) if name in self._index]
            self._from = np.array([i for i, _ in pairs], dtype=np.int64)
            self._to = np.array([j for _, j in pairs], dtype=np.int64)
        if not self._to.size:
            return "joint_states has none of the driven joints; is it another robot's?"
        values = np.asarray(positions, dtype=np.float64)[self._from]
        finite = np.isfinite(values)
        self.measured[self._to[finite]] = values[finite]
        self.has_joint_states = True
        return (
            ""
            if finite.all()
            else "joint_states has positions that are NaN or infinite; their last valid values are used"
        )

    def tick(self, references: PackedReferences) -> JointTargets:
        """Return the targets of one tick.

        A stamp that is more than 50 ms older than the newest resets the solver; a message that is late by less moves
        nothing: the answer repeats the last targets.

        Raises
        ------
        InvalidReferenceError
            If there is nothing to command yet.
        """
        kind = classify_stamp(self._stamp, references.stamp)
        if kind is Stamp.LATE and self._targets is not None:
            self._statistics.late += 1
            still = np.zeros_like(self._targets.velocity)
            return dataclasses.replace(self._targets, stamp=references.stamp, velocity=still)
        dt = self._time_step(kind, references.stamp)
        if not self.has_joint_states:
            raise InvalidReferenceError(
                "waiting for joint_states: without them the first targets would jump; start a simulator"
            )
        targets = self._targets = self.solver.solve(references, self.measured, dt)
        self._note(targets)
        return targets

    def hold(self, stamp: float) -> JointTargets:
        """Repeat the last targets, for a message that could not be read.

        Raises
        ------
        InvalidReferenceError
            As `tick`.
        """
        self._statistics.refused += 1
        return self.tick(PackedReferences(stamp, math.nan, math.nan))

    def set_page(self, page: Mapping[str, object]) -> Tuple[Dict[str, object], str]:
        """Apply the values of a page (SolverConfig.to_page); an invalid page changes nothing.

        Returns
        -------
        dict, str
            The page as it is now, and why the one given was refused; empty if it was not.
        """
        try:
            self.solver.set_config(self.solver.config.with_page(page))
        except KinematicsError as error:
            return self.solver.config.to_page(), str(error)
        return self.solver.config.to_page(), ""

    def note_duration(self, seconds: float) -> None:
        """Record the duration of one tick (s, wall clock) for the summary."""
        self._statistics.slowest = max(self._statistics.slowest, seconds)

    def summary(self) -> Summary:
        """Return the state since the last summary, and reset the counts."""
        s, self._statistics = self._statistics, Statistics()
        level, text = 0, f"{s.ticks} ticks" if s.ticks else "waiting for limb_references"
        if s.troubled:
            level, text = 1, "; ".join(s.troubled[limb] for limb in sorted(s.troubled))
        if s.refused:
            level, text = 2, f"{s.refused} limb_references could not be read, everything held"
        if not self.has_joint_states:
            level, text = (2 if s.ticks or s.refused else 1), "waiting for joint_states"
        elif self.missing:
            level, text = max(level, 1), f"no measured position of {', '.join(self.missing)}"
        values: List[Tuple[str, str]] = [
            ("solver", self.solver.config.solver),
            ("ticks", str(s.ticks)),
            ("refused", str(s.refused)),
            ("resets", str(s.resets)),
            ("late", str(s.late)),
            ("slowest tick, ms", f"{1e3 * s.slowest:.3f}"),
            ("driven joints", str(self.solver.model.n)),
        ]
        values += sorted(s.troubled.items())
        return Summary(level, text, tuple(values))

    def _time_step(self, kind: Stamp, stamp: float) -> float:
        """Return the time since the previous tick, s; 0 after a reset and at the first."""
        before, self._stamp = self._stamp, stamp
        if kind is Stamp.RESET:
            self.solver.reset()
            self._statistics.resets += 1
        return stamp - before if before is not None and kind in (Stamp.NEXT, Stamp.AFTER_GAP) else 0.0

    def _note(self, targets: JointTargets) -> None:
        self._statistics.ticks += 1
        if not targets.all_reached:
            for report in targets.reports:
                if report.status not in _FINE:
                    self._statistics.troubled[report.limb] = str(report)
