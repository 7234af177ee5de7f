# SPDX-License-Identifier: MIT
"""`scripts/experiment humanoid`: walks scored by the truth, and the thesis's experiments beside its own figures."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

from humanoid_evaluation.calibrate import calibrate
from humanoid_evaluation.campaign import campaign_table, run_campaign
from humanoid_evaluation.get_up import Fall, run_get_up, summarise_get_up
from humanoid_evaluation.matrix import matrix_holds, matrix_table, run_matrix
from humanoid_evaluation.summary import summarise
from humanoid_evaluation.trial import Trial, run_trial
from robot_evaluation.console import add_seeds, add_simulators, file_of, one_simulator, run_tool, say, seeds_of
from robot_evaluation.journal import Journal
from robot_evaluation.parallel import add_workers, map_jobs, pool_of
from robot_evaluation.report_files import write_runs
from robot_evaluation.reports import machine, made_by, write_json
from robot_evaluation.tables import markdown_table, split_at_markers, write_between_markers
from shellbot_common import SettingsError

_OF_A_WALK = (
    "simulator",
    "distance",
    "aside",
    "angle",
    "speed",
    "push",
    "slope",
    "plates",
    "motors",
    "heading",
    "contacts",
)
_MODES: Dict[str, Tuple[str, ...]] = {"get_up": ("motors",), "calibrate": (), "campaign": ("simulator",), "matrix": ()}
"""Options of a walk that each looks at."""
_COLUMNS = {
    "seed": "seed",
    "x_m": "ahead / m",
    "y_m": "left / m",
    "turn_deg": "turned / deg",
    "odometry_error_m": "odometry off / m",
    "height_range_m": "torso height / m",
    "push_N": "push / N",
    "push_deg": "from / deg",
    "side": "lay on its",
    "shock_m_s2": "shock / m/s^2",
    "stands": "stands",
    "tries": "tries",
    "seconds": "seconds",
    "cost": "cost of transport",
    "fell": "fell",
    "arrived": "arrived",
}
_DIGITS = {"turn_deg": 1, "push_N": 0, "push_deg": 0, "shock_m_s2": 0, "seconds": 1, "cost": 2}


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Run the walks; returns 0, 1 if a run fell or did not arrive, 2 for arguments that cannot be used."""
    given = sys.argv[1:] if arguments is None else arguments
    options = _parser().parse_args(given)
    options.command = " ".join(["scripts/experiment humanoid", *given])
    return run_tool(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    mode = _mode_of(options)
    seeds, file = seeds_of(options.seeds), _file_of(options, mode)
    if mode == "calibrate":
        return _calibrate(seeds, options, file)
    if mode == "campaign":
        results = run_campaign(seeds, options.jobs, file, options.scheduler, options.simulator)
        _show(results, campaign_table(results), options, mode)
        return int(any(run["fell"] for run in results))
    if mode == "matrix":
        results = run_matrix(seeds, options.jobs, file, options.scheduler)
        _show(results, matrix_table(results), options, mode)
        return int(not matrix_holds(results))
    if mode == "get_up":
        falls = [(f"seed {seed}", Fall(seed, options.motors)) for seed in seeds]
        summary = _runs(run_get_up, falls, summarise_get_up, options, file, mode)
        return int(summary["got_up"] < summary["fell"])
    if options.speed is None:
        raise SettingsError("--speed is missing; give m/s for a distance, rad/s for an angle")
    engine = one_simulator(options.simulator)
    trials = [
        Trial(
            options.distance,
            options.angle,
            options.speed,
            seed,
            options.push,
            options.slope,
            options.plates,
            options.motors,
            options.heading,
            engine,
            options.contacts,
            options.aside,
        )
        for seed in seeds
    ]
    summary = _runs(run_trial, [(f"seed {t.seed}", t) for t in trials], summarise, options, file, mode)
    return int(summary["falls"] > 0 or summary["not_arrived"] > 0)


def _mode_of(options: argparse.Namespace) -> str:
    """Return what is run; refuses options that it would not look at."""
    mode = next((name for name in _MODES if getattr(options, name)), "walk")
    if mode != "walk":
        for name in _OF_A_WALK:
            if name not in _MODES[mode] and getattr(options, name) != _parser().get_default(name):
                words = mode.replace("_", "-")
                raise SettingsError(f"--{words} does not look at --{name}; leave --{name} out, or --{words}")
    if options.write and mode not in ("campaign", "matrix"):
        raise SettingsError("--write is for --campaign and --matrix; --out DIR reports other runs")
    if options.write:
        split_at_markers(options.write, mode)  # refuses, before the first run, a page without a place for the table
    return mode


def _file_of(options: argparse.Namespace, mode: str) -> Optional[Path]:
    """Return the file of the runs, which the journal lies beside."""
    if options.json is None and options.out is not None:
        return Path(options.out / f"humanoid_{mode}.json")
    return options.json


def _calibrate(seeds: Sequence[int], options: argparse.Namespace, file: Optional[Path]) -> int:
    with Journal.beside(file, "humanoid calibrate") as journal:
        rows, scale = calibrate(seeds, options.jobs, options.scheduler, journal=journal)
        if file is not None:
            write_json(file, {"machine": machine(), "rows": rows, "odometry_scale": scale})
    say(markdown_table(rows))
    say(f"odometry_scale: {scale:.4f}")
    return 0


def _runs(
    function: Callable[[Any], Dict[str, Any]],
    labelled: Sequence[Tuple[str, Any]],
    summarise_runs: Callable[[Sequence[Dict[str, Any]]], Dict[str, Any]],
    options: argparse.Namespace,
    file: Optional[Path],
    mode: str,
) -> Dict[str, Any]:
    """Carry out runs of one case, show and write them, and return their summary."""
    with Journal.beside(file, f"humanoid {mode}") as journal:
        runs = map_jobs(function, labelled, options.jobs, pool_of(options.scheduler), journal)
        summary = summarise_runs(runs)
        if file is not None:
            write_json(file, {"machine": machine(), "command": options.command, "runs": runs, "summary": summary})
        columns = dict.fromkeys(key for key in _COLUMNS if key in runs[0])
        text = markdown_table([{key: run[key] for key in columns} for run in runs]) + "\n" + markdown_table([summary])
        _show(runs, text, options, mode, summary)
    return summary


def _show(
    runs: Sequence[Dict[str, Any]],
    text: str,
    options: argparse.Namespace,
    mode: str,
    summary: Optional[Dict[str, Any]] = None,
) -> None:
    text += made_by(options.command)
    say(text)
    if options.write:
        write_between_markers(options.write, mode, text)
    if options.out is not None:
        labelled = [{**run, "label": f"{run['case']}, {run['engine']}"} if "case" in run else run for run in runs]
        columns = {key: head for key, head in _COLUMNS.items() if key in runs[0]}
        content = {"command": options.command, **({"summary": summary} if summary else {})}
        page = write_runs(options.out, f"humanoid_{mode}", text, labelled, columns, _DIGITS, content)
        say(f"every run, as table and plot: {page}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/experiment humanoid",
        description=__doc__,
        epilog="--running, first: walks over ROS with the humanoid that runs, such as one in Gazebo (--running --help)",
    )
    parser.add_argument("--distance", type=float, default=0.0, metavar="M", help="walk so far ahead (negative: back)")
    parser.add_argument(
        "--aside", type=float, default=0.0, metavar="M", help="walk so far to the left (negative: right)"
    )
    parser.add_argument("--angle", type=float, default=0.0, metavar="DEG", help="or turn in place, left positive")
    parser.add_argument("--speed", type=float, metavar="V", help="m/s, or rad/s (of a slanting walk: ahead)")
    parser.add_argument("--push", type=float, default=0.0, metavar="N", help="push the torso for 0.1 s, from any side")
    parser.add_argument("--slope", type=float, default=0.0, metavar="DEG", help="slope of the floor, in any direction")
    parser.add_argument("--plates", type=float, default=0.0, metavar="M", help="height of plates strewn on the floor")
    parser.add_argument("--motors", choices=("peak", "rated"), default="peak")
    parser.add_argument("--heading", choices=("imu", "feet"), default="imu", help="feet: without the IMU's yaw")
    parser.add_argument("--contacts", choices=("wrench", "cells"), default="wrench", help="cells: force sensors only")
    add_simulators(parser)
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--get-up", action="store_true", help="push it over, from any side, and let it get up")
    modes.add_argument("--calibrate", action="store_true", help="odometry_scale of walk.yaml; --seeds 100:106")
    modes.add_argument("--campaign", action="store_true", help="the thesis's 9 + 12 cases")
    modes.add_argument("--matrix", action="store_true", help="all rows of config/matrix.yaml")
    parser.add_argument(
        "--write", type=Path, metavar="PAGE", help="with --campaign, --matrix: put tables between its markers"
    )
    parser.add_argument(
        "--json", type=file_of, metavar="FILE", help="write runs and summary there; what is interrupted goes on from it"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="report there: every run as CSV, JSON, Markdown and one HTML page"
    )
    add_workers(parser)
    add_seeds(parser, "7", "friction, mass, sensor noise")
    return parser


if __name__ == "__main__":
    sys.exit(main())
