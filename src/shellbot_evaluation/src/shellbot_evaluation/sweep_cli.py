# SPDX-License-Identifier: MIT
"""Command line of scripts/experiment sweep."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Sequence

from robot_evaluation.console import run_tool

from .grouped_runs import GroupedRuns
from .sweep_experiment import PARAMETERS, conditions, execute
from .sweep_figure import draw

SWEEP = GroupedRuns(
    name="sweep",
    what="of each value of each parameter a run",
    description="Closes and opens, rolls for 5 s from rest, and rolls upright, with fan gear, stall torque, friction, "
    "mass, latency of commands, the servos' stiffness and the foot frame's sphere centre changed one at a time. Each "
    "seed draws the attitude and direction of the roll, and errors of the joints' zeros of 1 deg standard deviation.",
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


def main(given: Sequence[str]) -> int:
    """Run the tool; returns 0 if every run succeeded, 1 if not, 2 after an error."""
    parser = SWEEP.parser()
    parser.add_argument(
        "--only", nargs="+", default=(), choices=list(PARAMETERS), metavar="PARAMETER",
        help=f"only the rows of some parameters: {', '.join(PARAMETERS)}; files and marker are called sweep_only",
    )  # fmt: skip
    arguments = parser.parse_args(given)
    runs = SWEEP
    if arguments.only:
        runs = replace(SWEEP, name="sweep_only", conditions=functools.partial(conditions, only=arguments.only))
    words = " ".join(["scripts/experiment sweep", *(f"'{word}'" if " " in word else word for word in given)])
    return run_tool(lambda: runs.run(arguments, words))
