# SPDX-License-Identifier: MIT
"""Missions on the robot's own odometry: along each axis, a quarter turn, and diagonals; scored by the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, List, Sequence, Tuple

import numpy as np

from snake_motion.core import Waypoint

from .snake_run import Setup, SnakeRun

GOALS = {
    "ahead": (1.0, 0.0, 0.0),
    "left": (0.0, 1.0, 0.0),
    "turn": (0.0, 0.0, 0.5 * math.pi),
    "diagonal": (1.0, 1.0, 0.0),
    "diagonal_right": (1.0, -1.0, 0.0),
    "mostly_ahead": (1.0, 0.5, 0.0),
    "mostly_left": (0.5, 1.0, 0.0),
    "behind": (-0.7, 0.4, 0.0),
    "turned": (0.6, -0.4, 0.5 * math.pi),
}
"""Forward, left (m) and turn (rad), seen from where the robot lies."""
_LONGEST = 60.0  # s


@dataclass(frozen=True)
class Mission:
    """One goal."""

    goal: str
    friction: float
    seed: int
    cycles: float
    position_error_mm: float  #: True distance to the goal at the end
    heading_error_deg: float
    estimate_error_mm: float  #: Of the odometry
    reached: bool  #: By its own estimate, within the time

    @staticmethod
    def summary(rows: Sequence[Mission]) -> Dict[str, Any]:
        """Return means and worst values, by goal."""
        found: Dict[str, Any] = {"n": len(rows), "reached": sum(row.reached for row in rows)}
        for goal in GOALS:
            mine = [row for row in rows if row.goal == goal]
            found[f"{goal}_cycles"] = float(np.mean([row.cycles for row in mine]))
            found[f"{goal}_mm"] = max(row.position_error_mm for row in mine)
            found[f"{goal}_deg"] = max(row.heading_error_deg for row in mine)
        return found


def run_waypoints(argument: Tuple[Setup, Any]) -> List[Mission]:
    """Run the missions, each from lying straight."""
    return [_mission(argument[0], name) for name in GOALS]


def _mission(setup: Setup, name: str) -> Mission:
    run = SnakeRun(setup)
    run.run(0.3)
    begin = run.truth
    run.core.go_to(_goal(run.estimate, name))
    start = run.simulator.time
    is_reached = run.run(_LONGEST, lambda: run.output is not None and run.output.waypoint is Waypoint.REACHED)
    end, own = run.truth, run.estimate
    true_goal = _goal((begin.x, begin.y, begin.yaw), name)
    return Mission(
        name, setup.friction, setup.seed or 0, (run.simulator.time - start) / setup.period,
        1e3 * math.hypot(end.x - true_goal[0], end.y - true_goal[1]),
        math.degrees(abs(math.remainder(end.yaw - true_goal[2], 2.0 * math.pi))),
        1e3 * math.hypot(own[0] - end.x, own[1] - end.y), is_reached,
    )  # fmt: skip


def _goal(pose: Tuple[float, float, float], name: str) -> Tuple[float, float, float]:
    x, y, turn = GOALS[name]
    cos, sin = math.cos(pose[2]), math.sin(pose[2])
    return pose[0] + cos * x - sin * y, pose[1] + sin * x + cos * y, pose[2] + turn
