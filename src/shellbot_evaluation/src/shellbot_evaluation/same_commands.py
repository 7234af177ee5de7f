# SPDX-License-Identifier: MIT
"""The same velocity commands to two robots: how far each went, and how much their joints differ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence, Tuple

import numpy as np

from robot_evaluation.errors import EvaluationError
from robot_evaluation.metrics import cost_of_work, xy_length
from robot_evaluation.planar import PlanarPath, interpolated
from robot_evaluation.tables import markdown_table
from robot_evaluation.trace import Trace
from shellbot_client import Shellbot

STEP = 0.02  # s between compared joints
MOVED = np.radians(1.0)  # rad that a joint has turned when a motion has begun
LAGS = np.arange(-0.1, 0.101, 0.005)  # s; the best fit counts, a mere delay is no difference
REST = 1.5  # s after each case


@dataclass(frozen=True)
class Case:
    """A velocity held for a time, then zero."""

    name: str
    seconds: float
    x: float = 0.0  #: m/s
    deg_s: float = 0.0


CASES = (
    Case("0.15 m/s for 20 s", 20.0, x=0.15),
    Case("30°/s for 12 s", 12.0, deg_s=30.0),
    Case("0.4 m/s for 8 s", 8.0, x=0.4),
)


@dataclass(frozen=True)
class Track:
    """What one case made of a robot."""

    t: np.ndarray  #: (m,) s
    q: np.ndarray  #: (m, n) Measured joints, rad
    path: PlanarPath  #: Ground truth
    power: Optional[np.ndarray] = None  #: (m,) `sampled_power`, W; None: not measured

    def moved(self) -> Tuple[float, float, float]:
        """Return the displacement in the axes of the start, m, and the turn, deg."""
        ahead, left = self.path.in_start_axes()[-1]
        return float(ahead), float(left), float(np.degrees(self.path.yaw[-1] - self.path.yaw[0]))

    def cost(self, mass_kg: float) -> float:
        """Return the mechanical cost of transport of a robot of mass_kg, NaN if it goes nowhere or has no efforts."""
        if self.power is None:
            return math.nan
        work_j = float(np.sum(0.5 * (self.power[1:] + self.power[:-1]) * np.diff(self.t)))
        return cost_of_work(work_j, mass_kg, xy_length(self.path.xy))

    def onset(self) -> float:
        """Return when the motion begins, s.

        Raises
        ------
        EvaluationError
            If no joint moves.
        """
        began = (np.abs(self.q - self.q[0]) > MOVED).any(axis=1)
        if not began.any():
            raise EvaluationError("no joint moved; does the robot obey cmd_vel?")
        return float(self.t[began.argmax()])


def sampled_power(effort: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Return the sum of |torque x speed| over the joints (..., n) at the ends of ticks, (...), W.

    All that `joint_states` have, of both robots: low by a third beside `metrics.mechanical_power`.
    """
    return np.sum(np.abs(effort * velocity), axis=-1)


def track_of(part: Trace) -> Track:
    """Return what a trace has for a comparison."""
    power = sampled_power(part.joint_effort, part.joint_velocity)
    return Track(part.t, part.joint_position, part.truth_path, power if np.isfinite(power).all() else None)


def chain_tracks(cases: Sequence[Case], seed: int) -> Tuple[Tuple[str, ...], float, List[Track]]:
    """Return the joints' names, the mass, kg, and the cases one after the other in this process, embedded simulator."""
    marks = []
    with Shellbot.simulated(seed=seed) as robot:
        robot.go_to("hexapod")
        robot.wait(1.0)
        for case in cases:
            begin = robot.chain.time
            robot.drive(case.seconds, x=case.x, deg_s=case.deg_s)
            robot.wait(REST)
            marks.append((begin, robot.chain.time))
        trace, mass = robot.chain.trace(), robot.chain.simulator.mass
    return trace.joint_names, mass, [track_of(trace.window(begin, end)) for begin, end in marks]


def joint_difference_deg(a: Track, b: Track, seconds: float) -> float:
    """Return the RMS difference of all joints over `seconds` from the onset of each, at the delay that fits best."""
    t = np.arange(0.0, seconds, STEP)

    def at(track: Track, lag: float) -> np.ndarray:
        return interpolated(track.onset() + t + lag, track.t, track.q)

    reference = at(a, 0.0)
    differences = [reference - at(b, lag) for lag in LAGS]
    return math.degrees(math.sqrt(min(float(np.mean(d * d)) for d in differences)))


def compare(
    cases: Sequence[Case], ours: Sequence[Track], theirs: Sequence[Track], mass_kg: float
) -> List[Dict[str, object]]:
    """Return a row for each case: what both moved by and spent, and the difference of their joints."""
    rows: List[Dict[str, object]] = []
    for case, a, b in zip(cases, ours, theirs):
        row: Dict[str, object] = {"command": case.name}
        for name, track in (("running", b), ("chain", a)):
            ahead, left, turned = track.moved()
            row[name] = f"{ahead:.2f} m ahead, {left:.2f} m left, {turned:.1f}°"
            row[f"{name}_cost"] = track.cost(mass_kg)
        row["rms_deg"] = joint_difference_deg(a, b, case.seconds)
        rows.append(row)
    return rows


def table(rows: Sequence[Dict[str, object]]) -> str:
    """Return the rows as Markdown."""
    heads = {
        "command": "command",
        "running": "robot over ROS",
        "chain": "embedded simulator in one process",
        "rms_deg": "joints, RMS of the difference / deg",
        "running_cost": "cost of transport over ROS",
        "chain_cost": "in one process",
    }
    return markdown_table(rows, heads, dict.fromkeys(("rms_deg", "running_cost", "chain_cost"), 2))
