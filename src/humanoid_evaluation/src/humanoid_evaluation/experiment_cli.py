# SPDX-License-Identifier: MIT
"""`scripts/experiment humanoid`: walks scored by the truth, and the thesis's experiments beside its own figures."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Dict, Optional, Sequence

from humanoid_evaluation.calibrate import calibrate
from humanoid_evaluation.campaign import campaign_table, run_campaign
from humanoid_evaluation.get_up import Fall, run_get_up, summarise_get_up
from humanoid_evaluation.matrix import matrix_holds, matrix_table, run_matrix
from humanoid_evaluation.summary import summarise
from humanoid_evaluation.trial import Trial, run_trial
from shellbot_common import SettingsError
from shellbot_evaluation.console import add_seeds, add_simulators, one_simulator, run_tool, say, seeds_of
from shellbot_evaluation.parallel import add_workers, map_jobs, pool_of
from shellbot_evaluation.tables import markdown_table, write_between_markers


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Run the walks; returns 0, 1 if a run fell or did not arrive, 2 for arguments that cannot be used."""
    options = _parser().parse_args(arguments)
    return run_tool(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    seeds = seeds_of(options.seeds)
    if options.calibrate:
        rows, scale = calibrate(seeds, options.jobs, options.scheduler)
        say(markdown_table(rows))
        say(f"odometry_scale: {scale:.4f}")
        return 0
    file = Path(options.json) if options.json else None
    if options.campaign:
        results = run_campaign(seeds, options.jobs, file, options.scheduler, options.simulator)
        say(campaign_table(results))
        if options.write:
            write_between_markers(Path(options.write), "campaign", campaign_table(results))
        return int(any(run["fell"] for run in results))
    if options.matrix:
        results = run_matrix(seeds, options.jobs, file, options.scheduler)
        say(matrix_table(results))
        if options.write:
            write_between_markers(Path(options.write), "matrix", matrix_table(results))
        return int(not matrix_holds(results))
    if options.get_up:
        if options.simulator != ["mujoco"]:
            names = " ".join(options.simulator)
            raise SettingsError(f"--get-up runs in mujoco, not in {names}; leave --simulator out")
        return _get_up(seeds, options)
    engine = one_simulator(options.simulator)
    if options.speed is None:
        raise SettingsError("--speed is missing; give m/s for a distance, rad/s for an angle")
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
    labelled = [(f"seed {trial.seed}", trial) for trial in trials]
    runs = map_jobs(run_trial, labelled, options.jobs, pool_of(options.scheduler))
    summary = summarise(runs)
    columns = ("seed", "x_m", "y_m", "turn_deg", "odometry_error_m", "seconds", "cost", "fell", "arrived")
    _report(runs, summary, columns, options)
    return int(summary["falls"] > 0 or summary["not_arrived"] > 0)


def _get_up(seeds: Sequence[int], options: argparse.Namespace) -> int:
    falls = [(f"seed {seed}", Fall(seed, options.motors)) for seed in seeds]
    runs = map_jobs(run_get_up, falls, options.jobs, pool_of(options.scheduler))
    summary = summarise_get_up(runs)
    _report(runs, summary, ("seed", "push_N", "push_deg", "side", "shock_m_s2", "stands", "tries", "seconds"), options)
    return int(summary["got_up"] < summary["fell"])


def _report(
    runs: Sequence[Dict[str, Any]], summary: Dict[str, Any], columns: Sequence[str], options: argparse.Namespace
) -> None:
    say(markdown_table([{key: run[key] for key in columns} for run in runs]))
    say(markdown_table([summary]))
    if options.json:
        _write(Path(options.json), {"runs": runs, "summary": summary})


def _write(path: Path, values: Dict[str, Any]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"cannot write {path}: {error}; give a path in a folder of yours") from error


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
    parser.add_argument("--speed", type=float, metavar="V", help="m/s, or rad/s")
    parser.add_argument("--push", type=float, default=0.0, metavar="N", help="push the torso for 0.1 s, from any side")
    parser.add_argument("--slope", type=float, default=0.0, metavar="DEG", help="slope of the floor, in any direction")
    parser.add_argument("--plates", type=float, default=0.0, metavar="M", help="height of plates strewn on the floor")
    parser.add_argument("--motors", choices=("peak", "rated"), default="peak")
    parser.add_argument("--heading", choices=("imu", "feet"), default="imu", help="feet: without the IMU's yaw")
    parser.add_argument("--contacts", choices=("wrench", "cells"), default="wrench", help="cells: force sensors only")
    add_simulators(parser)
    parser.add_argument("--get-up", action="store_true", help="push it over, from any side, and let it get up")
    parser.add_argument("--calibrate", action="store_true", help="odometry_scale of walk.yaml; --seeds 100:106")
    parser.add_argument("--campaign", action="store_true", help="the thesis's 9 + 12 cases; --json FILE resumes")
    parser.add_argument("--matrix", action="store_true", help="all rows of config/matrix.yaml; --json FILE resumes")
    parser.add_argument("--write", metavar="PAGE", help="with --campaign, --matrix: put tables between its markers")
    parser.add_argument("--json", metavar="FILE", help="write runs and summary there")
    add_workers(parser)
    add_seeds(parser, "7", "friction, mass, sensor noise")
    return parser


if __name__ == "__main__":
    sys.exit(main())
