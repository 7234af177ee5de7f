# SPDX-License-Identifier: MIT
"""Command line of scripts/experiment transform."""

from __future__ import annotations

import argparse
import importlib
import math
from dataclasses import replace
from typing import Sequence

from robot_evaluation.console import file_of, one_simulator, run_tool, say
from robot_evaluation.errors import DefinitionError
from robot_evaluation.pictures import contact_sheet, save_png
from shellbot_common import named_numbers

from .seeded_runs import SeededRuns
from .transform_experiment import COLUMNS, GOALS, conditions, execute, pictures
from .transform_pushes import PUSHED
from .transform_pushes import conditions as pushes

RUNS = SeededRuns(
    name="transform",
    what="a closing and an opening each",
    description="Closes to a ball and opens again with the whole chain in one process. Each seed draws friction "
    "0.3 to 1, mass 85 to 115 %, a slope up to 3 deg, and errors of the joints' zeros of 1 deg standard deviation.",
    columns=COLUMNS,
    digits={"friction": 2, "mass": 2, "ball_joint_error_deg": 2, "penetration_mm": 2, "clamped_s": 2},
    goals=GOALS,
    conditions=conditions,
    execute=execute,
    duration=lambda row: row["to_shell_s"] + row["to_hexapod_s"],
    done="Closed and opened, both together",
    running=lambda: importlib.import_module("shellbot_evaluation.running_node").RunningShellbot().transform,
    simulator_only=("friction", "mass", "slope_deg", "penetration_mm", "work_j"),
    is_varied=True,
)


def main(given: Sequence[str]) -> int:
    """Run the tool; returns 0 if every goal was reached in every run, 1 if not, 2 after an error."""
    parser = RUNS.parser()
    parser.add_argument(
        "--pictures", type=file_of, metavar="FILE", help="instead: a picture of each step, one PNG file"
    )
    parser.add_argument(
        "--design",
        nargs="+",
        default=[],
        metavar="KEY=VALUE",
        help="change variables of the description (shellbot.yaml): fan_drive.reduction=1",
    )
    parser.add_argument(
        "--push-n",
        type=float,
        metavar="N",
        help="instead: for each step of closing and of opening a run in which the body is pushed in it for 0.2 s, and "
        f"then requested to stand; files and marker are called {PUSHED.name}",
    )
    arguments = parser.parse_args(given)
    if arguments.pictures is None:
        return run_tool(lambda: _run(arguments, " ".join(["scripts/experiment transform", *given])))
    return run_tool(lambda: _draw(arguments))


def _run(arguments: argparse.Namespace, command: str) -> int:
    design = named_numbers(arguments.design, "fan_drive.reduction=1")
    if arguments.push_n is None:
        runs = replace(RUNS, conditions=lambda seed: replace(conditions(seed), design=design))
    elif 0.0 < arguments.push_n < math.inf:
        runs = replace(
            PUSHED,
            conditions=lambda seed: [replace(case, design=design) for case in pushes(seed, arguments.push_n)],
        )
    else:
        raise DefinitionError(f"--push-n {arguments.push_n:g} is no push; give a force above 0 N, such as 40")
    return runs.run(arguments, command)


def _draw(arguments: argparse.Namespace) -> int:
    if arguments.perturb or arguments.design or arguments.raw_imu or arguments.bus:
        raise DefinitionError("--pictures shows the robot as it is; leave out --perturb, --design, --raw-imu and --bus")
    drawn = pictures(one_simulator(arguments.simulator))
    save_png(arguments.pictures, contact_sheet(drawn, columns=4, tile_width=300))
    say(f"{arguments.pictures} written")
    return 0
