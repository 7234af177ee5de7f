# SPDX-License-Identifier: MIT
"""Command line of scripts/experiment mission."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import Sequence

from .console import run_tool, say, seeds_of
from .mission_experiment import COLUMNS, GOALS, conditions, execute
from .mission_film import film
from .plans import CoursePlan
from .seeded_runs import SeededRuns, at_most

RUNS = SeededRuns(
    name="mission",
    what="a mission each",
    description="Walks 0.5 m, closes to a ball, rolls to a point 3 m away, rights itself, opens, and walks 0.5 m, with "
    "the whole chain in one process. Each seed draws friction 0.5 to 1, the direction of the roll, and errors of the "
    "joints' zeros of 1 deg standard deviation; the robot knows its own odometry only.",
    columns=COLUMNS,
    digits={
        "friction": 2,
        **dict.fromkeys(("bearing_deg", "tries"), 0),
        **dict.fromkeys(
            ("own_error_m", "point_error_m", "odometry_error_pct", "odometry_error_m", "electrical_cost"), 2
        ),
    },
    goals=GOALS,
    conditions=conditions,
    execute=execute,
    duration=lambda row: row["total_s"],
    done="Whole mission done",
)
_LEG = {"walk out": "walks / s", "turn": "turns / s"}
COURSE = replace(
    RUNS,
    name="course",
    what="a course each",
    description="Walks 1 m, turns by 90 deg, closes to a ball, rolls to a point 2 m away, rights itself, opens, walks "
    "1 m, with the whole chain in one process; draws and odometry as of scripts/experiment mission.",
    columns={**{key: COLUMNS[key] for key in ("seed", "friction", "bearing_deg")}, **_LEG, **COLUMNS},
    goals={**GOALS, "total_s": at_most(75.0)},
    execute=functools.partial(execute, plan=CoursePlan),
    done="Whole course done",
)


def main(given: Sequence[str]) -> int:
    """Run the tool; returns 0 if every goal was reached in every run, 1 if not, 2 after an error."""
    parser = RUNS.parser()
    parser.add_argument(
        "--film", type=Path, metavar="FILE", help="instead: an animated GIF of the first seed's mission"
    )
    arguments = parser.parse_args(given)
    if arguments.film is None:
        return run_tool(lambda: RUNS.run(arguments, " ".join(["scripts/experiment mission", *given])))
    return run_tool(lambda: _film(arguments.film, seeds_of(arguments.seeds)[0]))


def _film(path: Path, seed: int) -> int:
    row = film(path, conditions(seed))
    say(f"{path} written, {path.stat().st_size / 1e6:.1f} MB" + ("" if row["success"] else f"; {row['message']}"))
    return 0 if row["success"] else 1
