# SPDX-License-Identifier: MIT
"""Command line of scripts/experiment sweep."""

from __future__ import annotations

from .seeded_runs import GroupedRuns
from .sweep_experiment import conditions, execute
from .sweep_figure import draw

SWEEP = GroupedRuns(
    name="sweep",
    what="of each value of each parameter a run",
    description="Closes and opens, rolls for 5 s from rest, and rolls upright, with fan gear, stall torque, friction, "
    "mass and latency of commands changed one at a time. Each seed draws the attitude and direction of the roll, and "
    "errors of the joints' zeros of 1 deg standard deviation.",
    columns={
        "label": "changed",
        "closes": "closes",
        "transforms": "and opens",
        "both_s": "both / s",
        "tilt_deg": "tilt / deg",
        "clamped_s": "torque limit / s",
        "roll_m_s": "rolls / m/s",
        "rights": "rights itself",
        "upright_s": "upright after / s",
    },
    digits={"roll_m_s": 2, "clamped_s": 2},
    goals={},
    conditions=conditions,
    execute=execute,
    duration=lambda row: row["both_s"],
    done="Closed, opened and righted itself",
    picture=draw,
)
