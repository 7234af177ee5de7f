# SPDX-License-Identifier: MIT
"""Command line of scripts/experiment onboard."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import List, Optional

from robot_evaluation.console import add_page, add_seeds, run_tool, say, seeds_of
from robot_evaluation.parallel import add_workers, map_jobs, pool_of
from robot_evaluation.plots import plot_paths
from robot_evaluation.reports import machine, made_by, write_csv, write_json
from robot_evaluation.tables import markdown_table, write_between_markers
from shellbot_common import write_file

from .onboard_experiment import COLUMNS, DIGITS, JOINT_LIMIT_DEG, PATH_LIMIT_PERCENT, compare, plan, plot

_JOINTS = ("lower_1_coxa", "lower_1_femur", "lower_1_tibia")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        prog="scripts/experiment onboard",
        description="The same walks through motor driver, bytes, emulated servos and rigid bodies, and in direct "
        "simulation at matched gains; both in virtual time.",
    )
    add_seeds(p, "3", "a run of each case")
    p.add_argument("--seconds", type=float, default=8.0, help="length of each walk (default 8)")
    p.add_argument("--variant", choices=("walker", "simulation"), default="walker", help="default walker: 19 servos")
    p.add_argument("--out", type=Path, default=Path("results/onboard"), help="folder for table, plots and files")
    add_workers(p)
    add_page(p, "onboard")
    return p


def main(argv: Optional[List[str]] = None) -> int:
    """Run the tool; returns 0 if every limit was met, 1 if not, 2 after an error."""
    arguments = parser().parse_args(argv)
    words = " ".join(sys.argv[1:] if argv is None else ["onboard", *argv])
    return run_tool(lambda: _run(arguments, f"scripts/experiment {words}"))


def _run(arguments: argparse.Namespace, command: str) -> int:
    seeds = seeds_of(arguments.seeds)
    cases = plan(seeds, arguments.seconds, arguments.variant)
    labelled = [(f"{case.name}, seed {case.seed}", case) for case in cases]
    results = map_jobs(compare, labelled, arguments.jobs, pool_of(arguments.scheduler))
    rows = [result.row for result in results]
    met = all(row["met"] for row in rows)
    text = markdown_table(rows, COLUMNS, DIGITS)
    text += f"\nRequired: joint RMS difference below {JOINT_LIMIT_DEG:g} deg, path difference below "
    text += f"{PATH_LIMIT_PERCENT:g} % of the path (of the angle where it turns): "
    text += f"{'met' if met else 'NOT met'} in {len(rows)} runs.\n"
    text += made_by(command)
    arguments.out.mkdir(parents=True, exist_ok=True)
    write_csv(arguments.out / "onboard.csv", rows)
    write_json(arguments.out / "onboard.json", {"machine": machine(), "rows": rows, "met": met})
    for result in results:
        if result.row["seed"] == seeds[0]:
            name = result.row["case"].replace(" ", "-").replace("/", "-per-")
            plot(arguments.out / f"joints-{name}.png", result, _JOINTS)
            paths = {"direct": result.direct.truth_path, "through bytes": result.onboard.truth_path}
            plot_paths(arguments.out / f"paths-{name}.png", str(result.row["case"]), paths, {})
    write_file(arguments.out / "onboard.md", text)
    say(text)
    say(f"files in {arguments.out}")
    if arguments.write is not None:
        write_between_markers(arguments.write, "onboard", text)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
