# SPDX-License-Identifier: MIT
"""Command line of scripts/experiment mission."""

from __future__ import annotations

import argparse
import functools
import importlib
from dataclasses import replace
from typing import Any, Callable, Sequence, Type

from robot_evaluation.console import file_of, run_tool, say, seeds_of

from .mission_experiment import COLUMNS, GOALS, Conditions, conditions, execute
from .mission_film import film
from .plans import CoursePlan, MissionPlan
from .seeded_runs import SeededRuns, at_most


def _running(plan: Type[MissionPlan]) -> Callable[[], Any]:
    """Return what returns the robot over ROS that carries out a plan."""

    def running() -> Any:
        robot = importlib.import_module("shellbot_evaluation.running_node").RunningShellbot()
        return functools.partial(robot.plan, plan=plan)

    return running


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
    running=_running(MissionPlan),
    simulator_only=("friction", "electrical_cost"),
    is_varied=True,
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
    running=_running(CoursePlan),
)


def main(given: Sequence[str]) -> int:
    """Run the tool; returns 0 if every goal was reached in every run, 1 if not, 2 after an error."""
    parser = _parser(RUNS)
    parser.add_argument(
        "--film", type=file_of, metavar="FILE", help="instead: an animated GIF of the first seed's mission"
    )
    arguments = parser.parse_args(given)
    if arguments.film is None:
        return _run(RUNS, arguments, given)
    return run_tool(lambda: _film(arguments))


def course(given: Sequence[str]) -> int:
    """Run scripts/experiment course; returns as `main`."""
    return _run(COURSE, _parser(COURSE).parse_args(given), given)


def _parser(runs: SeededRuns) -> argparse.ArgumentParser:
    parser = runs.parser()
    parser.add_argument("--gait", default="tripod", help="of the walks (default tripod)")
    parser.add_argument("--speed", type=float, default=MissionPlan.speed_m_s, metavar="M_S", help="of the walks, m/s")
    return parser


def _run(runs: SeededRuns, arguments: argparse.Namespace, given: Sequence[str]) -> int:
    words = " ".join(["scripts/experiment", runs.name, *given])
    return run_tool(lambda: _walking(runs, arguments).run(arguments, words))


def _walking(runs: SeededRuns, arguments: argparse.Namespace) -> SeededRuns:
    """Return the experiment with another gait and speed of its walks."""
    MissionPlan(speed_m_s=arguments.speed)  # refuses a speed before the first run

    def conditions(seed: int) -> Conditions:
        case = runs.conditions(seed)
        return replace(case, speed_m_s=arguments.speed, changes={**case.changes, "gait": arguments.gait})

    return replace(runs, conditions=conditions)


def _film(arguments: argparse.Namespace) -> int:
    path, seed = arguments.film, seeds_of(arguments.seeds)[0]
    row = film(path, _walking(RUNS, arguments).varied(arguments).conditions(seed))
    say(f"{path} written, {path.stat().st_size / 1e6:.1f} MB" + ("" if row["success"] else f"; {row['message']}"))
    return 0 if row["success"] else 1
