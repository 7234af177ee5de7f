# SPDX-License-Identifier: MIT
"""Walks of the humanoid that runs over ROS, such as in Gazebo: commands by `cmd_vel`, its own odometry ends each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, List, Sequence, Tuple

import numpy as np

from humanoid_evaluation.campaign import thesis
from humanoid_evaluation.paths import PERIOD, path_of
from humanoid_motion.planar import seen_from
from robot_evaluation.metrics import cost_of_work
from robot_evaluation.planar import interpolated
from robot_evaluation.tables import format_cell, markdown_table

FALLEN = 0.9  # rad of tilt

# s of simulated time, pose of the torso (x, y, yaw; yaw unwrapped), height, tilt
Sample = Tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class Walk:
    """A velocity that is commanded until the odometry has seen a distance or an angle."""

    name: str
    twist: Tuple[float, float, float]  #: m/s, m/s, rad/s
    length: float  #: m, or rad of a turn

    def is_done(self, start: Sequence[float], pose: Sequence[float]) -> bool:
        """Return whether a pose (x, y, yaw) is as far from the start as the walk is long."""
        if self.twist[2]:
            return abs(pose[2] - start[2]) >= self.length
        return math.hypot(pose[0] - start[0], pose[1] - start[1]) >= self.length

    @property
    def limit(self) -> float:
        """Time, s, after which a walk has failed."""
        return 5.0 + 2.0 * self.length / max(abs(speed) for speed in self.twist)


WALKS = (
    Walk("3 m at 0.10 m/s", (0.10, 0.0, 0.0), 3.0),
    Walk("3 m at 0.15 m/s", (0.15, 0.0, 0.0), 3.0),
    Walk("1 m back at 0.10 m/s", (-0.10, 0.0, 0.0), 1.0),
    Walk("0.5 m to the left at 0.05 m/s", (0.0, 0.05, 0.0), 0.5),
    Walk("0.5 m to the right at 0.05 m/s", (0.0, -0.05, 0.0), 0.5),
    Walk("360° at 30°/s", (0.0, 0.0, math.radians(30.0)), 2.0 * math.pi),
    Walk("3 m at 0.20 m/s", (0.20, 0.0, 0.0), 3.0),
)


def campaign_walks(repetitions: int) -> List[Tuple[str, Tuple[Walk, int]]]:
    """Return case, and walk and number, of every run of the thesis's campaign: all cases once, then once more."""
    cases = thesis()
    walks = {name: Walk(name, (row["speed"], 0.0, 0.0), row["distance"]) for name, row in cases["distances"].items()}
    for name, row in cases["angles"].items():
        rate = math.copysign(math.radians(row["speed"]), row["angle"])
        walks[name] = Walk(name, (0.0, 0.0, rate), abs(math.radians(row["angle"])))
    return [(name, (walk, number)) for number in range(repetitions) for name, walk in walks.items()]


def measured(
    walk: Walk, truth: Sequence[Sample], odometry: Sequence[Sample], work_j: float, mass_kg: float
) -> Dict[str, Any]:
    """Return what truth and odometry moved by, from the first sample to the last; a run of `campaign_table`.

    The joints' work and the robot's mass give the cost of transport, NaN of a turn, which goes nowhere.
    """
    rows = [np.array(samples) for samples in (truth, odometry)]
    (x, y, _), own = (seen_from(row[0, 1:4], row[-1, 1:4]) for row in rows)
    turn, own_turn = (math.degrees(row[-1, 3] - row[0, 3]) for row in rows)
    return {
        "case": walk.name,
        "engine": "over ROS",
        "fell": bool(np.max(rows[0][:, 5]) > FALLEN),
        "x_m": float(x),
        "y_m": float(y),
        "turn_deg": turn,
        "odometry_error_m": math.hypot(own[0] - x, own[1] - y),
        "odometry_error_deg": abs(own_turn - turn),
        "height_range_m": float(np.ptp(rows[0][:, 4])),
        "seconds": float(rows[0][-1, 0] - rows[0][0, 0]),
        "cost": math.nan if walk.twist[2] else cost_of_work(work_j, mass_kg, math.hypot(x, y)),
        "path": path_of(*map(_every_period, rows)),
    }


def _every_period(samples: np.ndarray) -> np.ndarray:
    """Return the poses of samples (n, 6) at the times of a path, (m, 3)."""
    times = np.arange(samples[0, 0], samples[-1, 0] + 0.5 * PERIOD, PERIOD)
    return interpolated(times, samples[:, 0], samples[:, 1:4])


def score(
    walk: Walk, truth: Sequence[Sample], odometry: Sequence[Sample], work_j: float, mass_kg: float
) -> Dict[str, object]:
    """Return what `measured` does as a row of the table."""
    run = measured(walk, truth, odometry, work_j, mass_kg)
    return {
        "walk": walk.name,
        "fell": "yes" if run["fell"] else "no",
        "ahead": f"{run['x_m']:.3f}",
        "left": f"{run['y_m']:.3f}",
        "turned": f"{run['turn_deg']:.1f}",
        "odometry": f"{1e3 * run['odometry_error_m']:.0f} mm, {run['odometry_error_deg']:.1f}°",
        "height": f"{500.0 * run['height_range_m']:.1f}",
        "seconds": f"{run['seconds']:.1f}",
        "cost": format_cell(run["cost"], 2),
    }


def table(rows: List[Dict[str, object]]) -> str:
    """Return the rows as Markdown."""
    heads = {
        "walk": "walk",
        "fell": "fell",
        "ahead": "ahead, m",
        "left": "left, m",
        "turned": "turned, deg",
        "odometry": "odometry off",
        "height": "torso height, ± mm",
        "seconds": "seconds",
        "cost": "cost of transport",
    }
    return markdown_table(rows, heads)
