# SPDX-License-Identifier: MIT
"""Walking 3 m by every gait: scripts/experiment gaits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, List

from shellbot_chain.chain_config import ChainConfig
from shellbot_common.seed_streams import Stream, seeded

from .experiments import Case, Run
from .grouped_runs import GroupedRuns
from .runner import execute as execute_run
from .seeded_runs import at_most

DISTANCE_M = 3.0
SPEEDS_M_S = {"tripod": (0.06, 0.17, 0.38), "tetrapod": (0.06, 0.17), "ripple": (0.06, 0.17), "wave": (0.06, 0.17)}
HEADINGS_DEG = {"ahead": 0.0, "sideways": 90.0}
ALLOWED_M = 0.010  # of distance, and off the line ...
ALLOWED_FAST_M = 0.030  # ... and faster than this:
FAST_M_S = 0.2


@dataclass(frozen=True)
class GaitCase:
    """One walk."""

    seed: int
    gait: str
    speed_m_s: float
    heading: str
    friction: float

    @property
    def label(self) -> str:
        """Name of the line of the table."""
        return f"{self.gait}, {self.speed_m_s:g} m/s, {self.heading}"


def conditions(seed: int) -> List[GaitCase]:
    """Return the cases of a seed: friction from 0.6 to 1."""
    friction = float(seeded(seed, Stream.FLOOR).uniform(0.6, 1.0))
    return [
        GaitCase(seed, gait, speed, heading, friction)
        for gait, speeds in SPEEDS_M_S.items()
        for speed in speeds
        for heading in HEADINGS_DEG
    ]


def execute(case: GaitCase) -> Dict[str, Any]:
    """Walk to the point that the robot's own odometry takes for the end, and measure where that is."""
    row: Dict[str, Any] = {**vars(case), "label": case.label, "success": False, "message": ""}
    row.update(
        dict.fromkeys(
            ("mean_speed_m_s", "beyond_mm", "error_mm", "deviation_mm", "odometry_mm", "electrical_cost"), math.nan
        )
    )
    values = {"distance_m": DISTANCE_M, "speed_m_s": case.speed_m_s, "heading_deg": HEADINGS_DEG[case.heading]}
    run = Run("gaits", Case(case.heading, "walk", values), case.seed, case.friction)
    found: Any = execute_run(run, ChainConfig(gait=case.gait)).row
    if not found["success"]:
        return {**row, "message": found["message"], "duration_s": math.nan}
    row["duration_s"], row["mean_speed_m_s"] = found["duration_s"], found["mean_speed_m_s"]
    row["electrical_cost"] = found["electrical_cost"]
    row["beyond_mm"] = 1e3 * (found["walked_m"] - DISTANCE_M)
    row["error_mm"], row["deviation_mm"] = abs(row["beyond_mm"]), 1e3 * found["max_lateral_m"]
    row["odometry_mm"] = 1e3 * math.hypot(
        found["walked_m"] - found["odometry_m"], found["lateral_m"] - found["odometry_lateral_m"]
    )
    allowed_mm = 1e3 * (ALLOWED_FAST_M if case.speed_m_s > FAST_M_S else ALLOWED_M)
    row["success"] = row["error_mm"] <= allowed_mm and row["deviation_mm"] <= allowed_mm
    return row


GAITS = GroupedRuns(
    name="gaits",
    what="every gait, slow and faster, ahead and sideways",
    description="Walks 3 m by every gait on the robot's own odometry; friction 0.6 to 1.",
    columns={
        "label": "gait, commanded speed",
        "mean_speed_m_s": "mean / m/s",
        "beyond_mm": "walked beyond 3 m / mm",
        "error_mm": "at most off by / mm",
        "deviation_mm": "at most off the line / mm",
        "odometry_mm": "odometry wrong by at most / mm",
        "electrical_cost": "cost of transport, electrical",
        "success": "within 10 mm (fast: 30 mm)",
    },
    digits={
        "mean_speed_m_s": 3,
        "electrical_cost": 2,
        **dict.fromkeys(("beyond_mm", "error_mm", "deviation_mm", "odometry_mm"), 0),
    },
    goals={key: at_most(1e3 * ALLOWED_M) for key in ("error_mm", "deviation_mm", "odometry_mm")},
    conditions=conditions,
    execute=execute,
    duration=lambda row: float(row["duration_s"]),
    done="Within the limits of distance and line",
    worst=("error_mm", "deviation_mm", "odometry_mm"),
)
