# SPDX-License-Identifier: MIT
"""Command line of scripts/experiment transform."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import List, Optional

from .console import add_seeds, run_tool, say, seeds_of
from .parallel import map_jobs
from .pictures import contact_sheet, save_png
from .reports import machine, write_json
from .tables import markdown_table, write_between_markers
from .transform_experiment import COLUMNS, GOALS, conditions, execute, pictures, summarise

_DIGITS = {"friction": 2, "mass": 2, "slope_deg": 1, "ball_joint_error_deg": 2, "penetration_mm": 2, "clamped_s": 2}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        prog="scripts/experiment transform",
        description="Closes to a ball and opens again with the whole chain in one process. Each seed draws friction "
        "0.3 to 1, mass 85 to 115 %, a slope up to 3 deg, and errors of the joints' zeros of 1 deg standard deviation.",
        epilog="example: scripts/experiment transform --seeds 100:120 --json transform.json",
    )
    add_seeds(p, "20", "a closing and an opening each")
    p.add_argument("--json", type=Path, metavar="FILE", help="write runs and summary there")
    p.add_argument("--jobs", type=int, default=1, help="processes to use (default 1)")
    p.add_argument("--pictures", type=Path, metavar="FILE", help="instead: a picture of each step, as one PNG file")
    p.add_argument(
        "--write", type=Path, metavar="PAGE", help="put the table between '<!-- begin: transform -->' and its end"
    )
    return p


def main(argv: Optional[List[str]] = None) -> int:
    """Run the tool; returns 0 if every goal was reached in every run, 1 if not, 2 after an error."""
    arguments = parser().parse_args(argv)
    words = " ".join(sys.argv[1:] if argv is None else ["transform", *argv])
    return run_tool(lambda: _run(arguments, f"scripts/experiment {words}"))


def _run(arguments: argparse.Namespace, command: str) -> int:
    if arguments.pictures is not None:
        save_png(arguments.pictures, contact_sheet(pictures(), columns=4, tile_width=300))
        say(f"{arguments.pictures} written")
        return 0
    cases = [conditions(seed) for seed in seeds_of(arguments.seeds)]
    rows = map_jobs(execute, [(f"seed {case.seed}", case) for case in cases], arguments.jobs)
    summary = summarise(rows)
    goals = [{"figure": column, **summary[column], "runs": summary["runs"]} for column in GOALS]
    text = markdown_table(rows, COLUMNS, {**dict.fromkeys(COLUMNS, 1), **_DIGITS})
    text += f"\nClosed and opened: {summary['success']} of {summary['runs']}, "
    text += f"closing and opening together median {summary['median_s']:.1f} s, worst {summary['worst_s']:.1f} s.\n\n"
    text += markdown_table(goals, {k: k for k in ("figure", "goal", "median", "worst", "within", "runs")}, {})
    text += f"\nMade by `{command}` in virtual time: the machine does not matter.\n"
    if arguments.json is not None:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        write_json(arguments.json, {"machine": machine(), "command": command, "runs": rows, "summary": summary})
    say(text)
    if arguments.write is not None:
        write_between_markers(arguments.write, "transform", text)
    reached = all(summary[column]["within"] == summary["runs"] for column in GOALS)
    return 0 if reached and summary["success"] == summary["runs"] else 1


if __name__ == "__main__":
    sys.exit(main())
