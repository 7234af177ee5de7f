# SPDX-License-Identifier: MIT
"""Command line of scripts/experiment snake."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import Any, ContextManager, Dict, List, Optional, Sequence, Tuple

from robot_evaluation.console import add_seeds, engine_of, file_of, run_tool, say, seeds_of
from robot_evaluation.errors import EvaluationError
from robot_evaluation.journal import Journal
from robot_evaluation.parallel import add_workers, map_jobs, pool_of
from robot_evaluation.report_files import write_runs
from robot_evaluation.reports import machine, made_by, write_json
from robot_evaluation.tables import markdown_table, split_at_markers, write_between_markers
from shellbot_simulator.core.config import ENGINES
from snake_motion.drive import SIDEWAYS_BY
from snake_motion.errors import SnakeMotionError
from snake_motion.families import FAMILIES
from snake_motion.gait_table import load_rows

from .changes import Change, run_changes
from .commanded import Commanded, run_commands
from .cycles import CycleResult, run_cycles, summarise
from .snake_run import TIMESTEPS, Setup
from .waypoint_experiment import Mission, run_waypoints

COLUMNS = {
    "gait": "gait",
    "direction": "d",
    "modules": "modules",
    "friction": "friction",
    "alpha_deg": "alpha deg",
    "k": "k",
    "forward_mm": "forward mm",
    "left_mm": "left mm",
    "yaw_deg": "yaw deg",
    "cost_of_transport": "CoT",
    "power_w": "power W",
    "saturated_percent": "saturated %",
    "greatest_speed": "greatest rad/s",
    "odometry_error_percent": "odometry %",
    "odometry_yaw_deg_per_m": "odometry deg/m",
    "tipped": "tipped",
}
DIGITS = {
    **dict.fromkeys(COLUMNS, 1),
    **dict.fromkeys(("direction", "modules", "tipped"), 0),
    **dict.fromkeys(("friction", "alpha_deg", "k", "cost_of_transport"), 2),
}
WRITTEN = (
    "gait", "direction", "modules", "friction", "alpha_deg", "k", "forward_mm", "left_mm", "yaw_deg",
    "cost_of_transport", "tipped",
)  # fmt: skip


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        prog="scripts/experiment snake",
        description="Experiments with the snake in one process: no ROS master. Steps a cycle are in the frame of the"
        " virtual chassis. --running, first: over ROS, with the snake that runs (--running --help).",
        epilog="example: scripts/experiment snake --gait inclined --friction 0.4 0.8 --seeds 5 --json inclined.json",
    )
    p.add_argument(
        "experiment",
        nargs="?",
        default="gait",
        choices=("gait", "changes", "commands", "waypoints"),
        help="gait: what gaits do in a cycle (default); changes: all changes between gaits; commands: random cmd_vel, "
        "open loop; waypoints: missions on the robot's own odometry",
    )
    p.add_argument(
        "--gait",
        nargs="+",
        help="of gait and changes: names, or all (the source's eight, default of changes), or every (of the table); "
        "default of gait: straight",
    )
    p.add_argument("--direction", type=int, nargs="+", choices=(1, -1), help="of gait: 1, -1 or both (default 1)")
    p.add_argument(
        "--friction", type=float, nargs="+", default=[0.8], help="sliding friction of the floor (default 0.8)"
    )
    p.add_argument("--modules", type=int, nargs="+", default=[16], help="1 to 128, also several (default 16)")
    p.add_argument("--servo", default="ax", help="of snake.yaml: ax (AX-12A) or source (default ax)")
    p.add_argument(
        "--simulator", type=engine_of, choices=ENGINES, default="mujoco", help="physics engine (default mujoco)"
    )
    p.add_argument("--family", default="forward", choices=tuple(FAMILIES), help="of commands (default forward)")
    p.add_argument(
        "--sideways-by",
        default="side_winding",
        choices=tuple(SIDEWAYS_BY),
        help="waypoints: what moves it sideways (default side_winding)",
    )
    p.add_argument("--cycles", type=int, default=6, help="cycles that count, after two (default 6)")
    p.add_argument(
        "--timestep",
        type=float,
        default=0.002,
        help=f"of the physics, s, a whole part of 0.01, at most {TIMESTEPS[1]} (default 0.002)",
    )
    for name, what in (("alpha", "winding angles"), ("k", "undulations")):
        p.add_argument(
            f"--{name}-scale",
            type=float,
            nargs="+",
            default=[1.0],
            metavar="X",
            help=f"gait: {what} times so much (default 1)",
        )
    p.add_argument("--json", type=file_of, metavar="FILE", help="write runs and summary there")
    p.add_argument(
        "--write", type=Path, metavar="PAGE", help="gait: put a table between the markers snake-modules of a page"
    )
    p.add_argument("--out", type=Path, metavar="DIR", help="report there: CSV, JSON, Markdown and one HTML page")
    add_files(p)
    add_workers(p)
    add_seeds(p, "3", "a run of each case")
    return p


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add the options for what a user has changed of the packages' files."""
    parser.add_argument(
        "--variables", type=Path, metavar="FILE", help="body and servos (default: snake.yaml of snake_description)"
    )
    parser.add_argument(
        "--gaits", type=Path, metavar="FILE", help="table of gaits (default: gaits.yaml of snake_motion)"
    )
    parser.add_argument("--maps", type=Path, metavar="DIR", help="velocity maps (default: config/maps of snake_motion)")
    parser.add_argument(
        "--odometry",
        type=Path,
        metavar="FILE",
        help="slip corrections, of scripts/snake slips (default: the package's)",
    )


def main(argv: Optional[List[str]] = None) -> int:
    """Run the tool; returns 0, 1 if a robot tipped over or did not reach a waypoint, 2 after an error."""
    given = sys.argv[1:] if argv is None else argv
    options = parser().parse_args(given)
    options.command = " ".join(["scripts/experiment snake", *given])
    return run_tool(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    if options.out and options.json is None:
        options.json = options.out / f"{options.experiment}.json"  # the report has one of its own form
    files = (options.variables, options.gaits, options.maps, options.odometry)
    varied = (options.modules, options.alpha_scale, options.k_scale, options.friction, seeds_of(options.seeds))
    setups = [
        Setup(m, options.servo, mu, seed, options.timestep, options.simulator, *files, options.sideways_by, alpha, k)
        for m, alpha, k, mu, seed in product(*varied)
    ]
    if options.experiment == "gait":
        return _gaits(options, setups)
    if options.direction or (options.gait and options.experiment != "changes"):
        raise EvaluationError(f"--direction and --gait are not of {options.experiment}; leave them out")
    if options.experiment == "changes":
        options.gait = _names(options, setups, ["all"])
    function, argument, kind = {
        "changes": (run_changes, options.gait, Change),
        "commands": (run_commands, options.family, Commanded),
        "waypoints": (run_waypoints, None, Mission),
    }[options.experiment]
    if len(options.modules) > 1 or options.write or any(s.alpha_scale != 1.0 or s.k_scale != 1.0 for s in setups):
        raise EvaluationError(
            "several --modules, --alpha-scale, --k-scale and --write are for gaits only; name one number, and a file "
            "with --json"
        )
    of = " ".join([options.experiment, *(options.gait or ())])
    jobs = [(f"{of} {s.friction} seed {s.seed}", (s, argument)) for s in setups]
    with _journal(options, kind, setups[0].digest) as journal:
        found = map_jobs(function, jobs, options.jobs, pool_of(options.scheduler), journal)
        rows = [row for each in found for row in each]
        summary = type(rows[0]).summary(rows)
        _report(options, [asdict(row) for row in rows], summary, markdown_table([summary]))
    return 1 if any(getattr(row, "tipped", False) or not getattr(row, "reached", True) for row in rows) else 0


def _names(options: argparse.Namespace, setups: Sequence[Setup], default: List[str]) -> List[str]:
    """Return the gaits that --gait means."""
    gaits = replace(setups[0], alpha_scale=1.0, k_scale=1.0).gaits  # refuses an empty table
    given = options.gait or default
    names = {"all": [n for n, row in gaits.rows.items() if row.source], "every": list(gaits.rows)}.get(given[0], given)
    unknown = [name for name in names if name not in gaits.rows]
    if unknown or not names:
        wrong = (
            f"gait {unknown[0]!r} does not exist" if unknown else f"--gait {given[0]} names no row of {options.gaits}"
        )
        raise EvaluationError(f"{wrong}; choose from {', '.join(gaits.rows)}")
    return list(names)


def _gaits(options: argparse.Namespace, setups: Sequence[Setup]) -> int:
    names = _names(options, setups, ["straight"])
    if options.write:
        split_at_markers(options.write, "snake-modules")  # before the first run
    robots = {_body(setup): setup for setup in setups}
    refusals = {(name, body): _refusal(robot, name) for body, robot in robots.items() for name in names}
    for (_, (modules, alpha, k)), reason in refusals.items():
        scales = f", alpha x {alpha:g}, k x {k:g}" if (alpha, k) != (1.0, 1.0) else ""
        sys.stderr.write(f"left out with {modules} modules{scales}: {reason}\n" if reason else "")
    case = "{} {:+d} modules {} friction {} alpha x {:g} k x {:g} seed {}".format
    cases = [
        (case(name, d, s.modules, s.friction, s.alpha_scale, s.k_scale, s.seed), (s, name, d, options.cycles))
        for name in names
        for d in options.direction or [1]
        for s in setups
        if not refusals[name, _body(s)]
    ]
    if not cases:
        raise EvaluationError(next(iter(refusals.values())))
    with _journal(options, CycleResult, setups[0].digest) as journal:
        found = map_jobs(_cycles, cases, options.jobs, pool_of(options.scheduler), journal)
        runs = [run for (run,) in found]
        keys = ["gait", "direction", "modules", "friction"]
        keys += ["alpha_deg", "k"] if len(options.alpha_scale) * len(options.k_scale) > 1 else []
        groups: Dict[Any, List[CycleResult]] = {}
        for run in runs:
            groups.setdefault(tuple(getattr(run, key) for key in keys), []).append(run)
        rows = [{**dict(zip(keys, group)), **summarise(each)} for group, each in groups.items()]
        columns = {key: title for key, title in COLUMNS.items() if key in rows[0]}
        summary = rows[0] if len(rows) == 1 else {"cases": rows, "tipped": sum(row["tipped"] for row in rows)}
        _report(options, [asdict(run) for run in runs], summary, markdown_table(rows, columns, DIGITS))
        if options.write:
            columns = {key: title for key, title in columns.items() if key in WRITTEN}
            write_between_markers(options.write, "snake-modules", markdown_table(rows, columns, DIGITS))
    return 1 if any(run.tipped for run in runs) else 0


def _body(setup: Setup) -> Tuple[int, float, float]:
    return setup.modules, setup.alpha_scale, setup.k_scale


def _refusal(setup: Setup, name: str) -> str:
    row = load_rows(setup.gaits_file)[name]
    alpha, k = row.winding(setup.modules)
    if setup.alpha_scale != 1.0 and not alpha:
        return f"gait {name} has no alpha_deg to scale"
    if setup.k_scale != 1.0 and not k:
        return f"gait {name} has no undulations to scale"
    try:
        row.scaled(setup.alpha_scale, setup.k_scale)
        setup.gaits.shape(name)
    except SnakeMotionError as error:
        return str(error) if name in str(error) else f"gait {name}: {error}"
    return ""


def _cycles(arguments: Any) -> List[CycleResult]:
    return [run_cycles(*arguments)]


def _journal(options: argparse.Namespace, kind: Any, digest: str) -> ContextManager[Optional[Journal]]:
    """Return the journal beside ``--json``; a run is a list of a dataclass, and made with files of one digest."""
    return Journal.beside(
        options.json,
        f"snake {options.experiment} {digest}".strip(),
        lambda found: [asdict(row) for row in found],
        lambda packed: [kind(**row) for row in packed],
    )


def _report(options: argparse.Namespace, runs: Sequence[Dict[str, Any]], summary: Dict[str, Any], text: str) -> None:
    text += made_by(options.command)
    say(text)
    if options.json:
        made = {"machine": machine(), "command": options.command, "experiment": options.experiment}
        write_json(options.json, {**made, "runs": runs, "summary": summary})
        say(f"written: {options.json}")
    if options.out:
        label = "{gait} {direction:+d}, {modules} modules, friction {friction:g}" if "gait" in runs[0] else "{goal}"
        if "gait" in runs[0] and len(options.alpha_scale) * len(options.k_scale) > 1:
            label += ", alpha {alpha_deg:.4g} deg, k {k:.3g}"
        rows = [{**run, "label": label.format(**run)} if {"gait", "goal"} & set(run) else run for run in runs]
        columns = {key: COLUMNS.get(key, key) for key in runs[0] if key not in ("gait", "direction", "alpha_deg", "k")}
        name = f"snake_{options.experiment}"
        content = {"command": options.command, "summary": summary}
        page = write_runs(options.out, name, text, rows, columns, DIGITS, content)
        say(f"every run, as table and plot: {page}")


if __name__ == "__main__":
    sys.exit(main())
