# SPDX-License-Identifier: MIT
"""Command line of scripts/experiment."""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import operator
import sys
from dataclasses import replace
from pathlib import Path
from typing import List, Optional, Sequence, Tuple

from robot_evaluation.console import (
    add_out,
    add_seeds,
    add_simulators,
    file_of,
    one_simulator,
    robots_with,
    run_tool,
    say,
    seeds_of,
)
from robot_evaluation.errors import DefinitionError
from robot_evaluation.journal import Journal
from robot_evaluation.parallel import add_workers, map_jobs, pool_of
from robot_evaluation.reports import machine, write_json
from robot_evaluation.tables import split_at_markers, write_between_markers
from shellbot_chain.chain_config import ChainConfig
from shellbot_common import package_file
from shellbot_simulator.core.terrain import terrain, terrains

from .campaign import Campaign
from .experiment_report import campaign_text, experiment_text, journal_of, limits_text, walking_summary, write_report
from .experiments import Experiment, Run, check_speeds, load_experiments, plan_runs
from .perturbations import Perturbations, add_perturb
from .runner import RunResult, execute, verdicts
from .seeded_runs import OVER_ROS, RUNNING, refuse_with_running

_UNSEEN = "lowest_foot_mm"  # of a robot over ROS
CAMPAIGNS = {"nao": "nao_campaign.yaml"}
PROGRAMS = {
    "transform": ("transform_cli", "main"),
    "roll": ("rolling_cli", "ROLL.main"),
    "right": ("rolling_cli", "RIGHT.main"),
    "recover": ("recover_experiment", "RECOVER.main"),
    "course": ("mission_cli", "course"),
    "mission": ("mission_cli", "main"),
    "sweep": ("sweep_cli", "main"),
    "transport": ("transport_experiment", "TRANSPORT.main"),
    "energy": ("energy_experiment", "ENERGY.main"),
    "gaits": ("gaits_experiment", "GAITS.main"),
    "limp": ("limp_experiment", "LIMP.main"),
    "feed_forward": ("feed_forward_experiment", "FEED_FORWARD.main"),
    "terrain": ("terrain_experiment", "TERRAIN.main"),
    "optimise": ("optimise_cli", "GAIT.main"),
    "optimise_roll": ("optimise_roll_cli", "ROLL.main"),
    "engines": ("engines_cli", "main"),
    "onboard": ("onboard_cli", "main"),
}
"""Experiments with options of their own: module and function."""
IN_ALL = ("transform", "roll", "course")


def of_the_script() -> Tuple[str, ...]:
    """Return the experiments that scripts/experiment starts without coming here: two, and those of the other robots."""
    return ("bus-faults", "same", *robots_with("experiment_cli", "shellbot"))


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        prog="scripts/experiment",
        description="Walking experiments with the whole chain in one process: no ROS master, faster than real time."
        " Runs end on the robot's own odometry; ground truth only scores them.",
        epilog="example: scripts/experiment walk --seeds 5 --friction 0.7 1.0 --out results/walk; with options of "
        f"their own: scripts/experiment {'|'.join(of_the_script())} --help",
    )
    p.add_argument(
        "experiment",
        nargs="*",
        help="walk, turn, square, speed, sprint (config/experiments.yaml), or all: these and "
        f"{', '.join(IN_ALL)}; or, each with a --help of its own: transform (to a ball and back), roll (straight on), "
        "right (upright from any attitude), recover (gets up after a fall), course (walk, turn, close, roll, open, "
        "walk), mission (without the turn), sweep (the ball over design and floor), transport (cost of a metre), "
        "energy (of the battery), gaits (3 m by each), limp (walk without a leg), feed_forward (joint errors with it), "
        "terrain (rubble, slopes), engines (MuJoCo and Bullet beside analytic results), optimise (a gait that costs "
        "less), optimise_roll (the law of rolling), onboard (the chain on emulated servos), bus-faults (emulated bus)",
    )
    p.add_argument("--campaign", choices=sorted(CAMPAIGNS), help="repeat a published study and compare with its means")
    p.add_argument("--merge", type=Path, nargs="+", default=[], metavar="FILE", help="campaign: earlier NAME.json, too")
    add_seeds(p, None, "a run of each case (default 5; campaign: as published)")
    p.add_argument(
        "--friction",
        type=float,
        nargs=2,
        default=(0.7, 1.0),
        metavar=("LOW", "HIGH"),
        help="floor friction, spread evenly over the seeds (default 0.7 1.0)",
    )
    add_perturb(p, pushed="walk, turn, square")
    p.add_argument("--distance", type=float, metavar="M", help="walk this far, or this long a side of the square, m")
    p.add_argument("--speed", type=float, metavar="M_S", help="walk at this speed, m/s")
    p.add_argument("--gait", default="tripod", help="gait of the action manager (default tripod)")
    add_simulators(p)
    p.add_argument(
        "--terrain",
        choices=list(terrains()),
        default="flat",
        help="ground (default flat); ice has a friction of its own",
    )
    p.add_argument("--definitions", type=Path, help="another file of experiments")
    p.add_argument("--running", action="store_true", help=RUNNING)
    add_out(p)
    p.add_argument("--json", type=file_of, metavar="FILE", help="write runs and summary of one experiment there, too")
    p.add_argument("--traces", action="store_true", help="also keep every run as .npz")
    add_workers(p)
    p.add_argument(
        "--write",
        type=Path,
        metavar="PAGE",
        help="put the table between '<!-- begin: NAME -->' and '<!-- end: NAME -->' of this page",
    )
    return p


def main(argv: Optional[List[str]] = None) -> int:
    """Run the tool; returns 0 if every limit was met, 1 if not, 2 after an error."""
    given = sys.argv[1:] if argv is None else argv
    if given and given[0] in PROGRAMS:
        return _other(given[0], given[1:])
    arguments = parser().parse_args(given)
    return run_tool(lambda: _run(arguments, f"scripts/experiment {' '.join(given)}"))


def _other(name: str, given: Sequence[str]) -> int:
    module, tool = PROGRAMS[name]
    return int(operator.attrgetter(tool)(importlib.import_module(f"shellbot_evaluation.{module}"))(given))


def base_of(arguments: argparse.Namespace, engine: str) -> ChainConfig:
    """Return the chain of every run, which gives it seed and friction."""
    return ChainConfig(gait=arguments.gait, engine=engine, terrain=arguments.terrain)


def _run(arguments: argparse.Namespace, command: str) -> int:
    if arguments.campaign is not None:
        return _run_campaign(arguments, command)
    if arguments.merge:
        raise DefinitionError("--merge is of a campaign; add --campaign, or leave it out")
    base = base_of(arguments, one_simulator(arguments.simulator))
    known = load_experiments(arguments.definitions or package_file("shellbot_evaluation", "config/experiments.yaml"))
    names = list(known) if arguments.experiment == ["all"] else arguments.experiment
    if not names:
        raise DefinitionError(f"name an experiment: {', '.join(known)} or all; or give --campaign")
    if arguments.json is not None and (len(names) > 1 or arguments.experiment == ["all"]):
        raise DefinitionError(f"--json is for one experiment; of {', '.join(names)} name one")
    unknown = [name for name in names if name not in known]
    if unknown:
        choices = ", ".join((*known, *PROGRAMS, *of_the_script()))
        raise DefinitionError(f"there is no experiment '{unknown[0]}'; choose from {choices} or all")
    seeds = seeds_of("5" if arguments.seeds is None else arguments.seeds)
    is_all = arguments.experiment == ["all"] and arguments.definitions is None
    # what puts the ball down cannot be done over ROS
    others = [name for name in IN_ALL if name != "roll" or not arguments.running] if is_all else []
    if others:
        _check_options_of_all(arguments, names)
    experiments = [_changed(known[name], arguments) for name in names]
    if arguments.running:
        _check_running(arguments)
        experiments = [replace(one, limits=tuple(x for x in one.limits if x.column != _UNSEEN)) for one in experiments]
    for experiment in experiments:  # refused before the first run
        _plan(experiment, seeds, arguments, base)
    check_speeds(experiments, base, is_given=arguments.speed is not None)
    met = [_one(experiment, seeds, arguments, base, command) for experiment in experiments]
    for name in others:
        say(f"{name}:")
        status = _other(name, _shared(name, arguments, seeds))
        if status > 1:  # an error, or Ctrl-C, which is for all
            return status
        met.append(status == 0)
    return 0 if all(met) else 1


def _run_campaign(arguments: argparse.Namespace, command: str) -> int:
    for option in ("experiment", "distance", "speed", "definitions", "json"):
        if getattr(arguments, option):
            raise DefinitionError(f"--campaign has cases of its own, and its files in --out; leave out {option}")
    campaign = Campaign.load(package_file("shellbot_evaluation", f"config/{CAMPAIGNS[arguments.campaign]}"))
    seeds = seeds_of(str(campaign.repetitions) if arguments.seeds is None else arguments.seeds)
    several = len(arguments.simulator) > 1
    names = [f"{arguments.campaign}_{engine}" if several else arguments.campaign for engine in arguments.simulator]
    if arguments.running:
        _check_running(arguments)
        names = [f"{arguments.campaign}_running"]
    merged = campaign.earlier_runs(arguments.merge, [OVER_ROS] if arguments.running else arguments.simulator)
    with contextlib.ExitStack() as open_journals:  # until all are done: what is interrupted goes on from all of them
        found = {}
        for name, engine in zip(names, arguments.simulator):
            journal = open_journals.enter_context(_journal(arguments, name))
            found[name] = _execute(campaign.experiment(), seeds, arguments, base_of(arguments, engine), journal)
        rows = [result.row for results in found.values() for result in results]
        text = campaign_text(campaign, [*merged, *rows], command)
        for name, results in found.items():
            write_report(arguments.out, name, results, text, {}, arguments.traces)
            say(f"every run, as table and plot: {arguments.out / name}.html")
        _show(arguments, arguments.campaign, text)
    return 0 if all(row["success"] for row in rows) else 1


def _check_running(arguments: argparse.Namespace) -> None:
    defaults = {option: parser().get_default(option) for option in ("friction", "perturb", "simulator", "terrain")}
    refuse_with_running(arguments, {**defaults, "scheduler": ""})
    arguments.jobs = 1


def _check_options_of_all(arguments: argparse.Namespace, names: Sequence[str]) -> None:
    for option in ("friction", "terrain"):
        if getattr(arguments, option) != parser().get_default(option):
            raise DefinitionError(
                f"--{option} is none of {', '.join(IN_ALL)}, which `all` runs, too: they have a floor of their own; "
                f"leave it out, or name the experiments: {' '.join(names)}"
            )


def _changed(known: Experiment, arguments: argparse.Namespace) -> Experiment:
    length = "side_m" if any(case.kind == "square" for case in known.cases) else "distance_m"
    return known.changed(**{length: arguments.distance, "speed_m_s": arguments.speed})


def _one(
    experiment: Experiment, seeds: Sequence[int], arguments: argparse.Namespace, base: ChainConfig, command: str
) -> bool:
    """Carry out one experiment of the file and write its reports; return whether it met its limits."""
    with _journal(arguments, experiment.name) as journal:
        results = _execute(experiment, seeds, arguments, base, journal)
        rows = [result.row for result in results]
        limits, summary = verdicts(experiment, rows), walking_summary(rows)
        text = experiment_text(experiment, rows, command)
        content = {"command": command, "limits": limits, "summary": summary}
        write_report(arguments.out, experiment.name, results, limits_text(limits, command), content, arguments.traces)
        say(f"every run, as table and plot: {arguments.out / experiment.name}.html")
        _show(arguments, experiment.name, text)
        if arguments.json is not None:
            write_json(arguments.json, {"machine": machine(), "command": command, "runs": rows, "summary": summary})
    return all(bool(line["met"]) for line in limits)


def _shared(name: str, arguments: argparse.Namespace, seeds: Sequence[int]) -> List[str]:
    """Return the options of `all` for one of IN_ALL; only the course walks, and has a gait."""
    given = ["--seeds", f"{seeds[0]}:{seeds[-1] + 1}", "--out", str(arguments.out), "--workers", str(arguments.jobs)]
    given += ["--simulator", *arguments.simulator, *(["--perturb", *arguments.perturb] if arguments.perturb else [])]
    given += ["--running"] if arguments.running else []
    if name == "course":
        given += ["--gait", arguments.gait]
    if arguments.scheduler:
        given += ["--scheduler", arguments.scheduler]
    return given + (["--write", str(arguments.write)] if arguments.write is not None else [])


def _journal(arguments: argparse.Namespace, name: str) -> Journal:
    others = ("experiment", "merge", "out", "json", "traces", "write", "jobs", "scheduler")  # they change no run
    options = {key: value for key, value in vars(arguments).items() if key not in others}
    return journal_of(arguments.out, name, " ".join([name, *(f"{k}={v}" for k, v in options.items() if v)]))


def _plan(experiment: Experiment, seeds: Sequence[int], arguments: argparse.Namespace, base: ChainConfig) -> List[Run]:
    perturbations = Perturbations.parse(arguments.perturb)
    if arguments.write is not None:
        split_at_markers(arguments.write, arguments.campaign or experiment.name)
    if terrain(base.terrain).slope_deg:
        for key in set(perturbations.names) & {"slope_deg", "slope_azimuth_deg"}:
            raise DefinitionError(f"--terrain {base.terrain} has a slope of its own; leave out {key}, or the terrain")
    return plan_runs(experiment, seeds, tuple(arguments.friction), perturbations)


def _execute(
    experiment: Experiment, seeds: Sequence[int], arguments: argparse.Namespace, base: ChainConfig, journal: Journal
) -> List[RunResult]:
    found = _plan(experiment, seeds, arguments, base)
    if arguments.running:  # only here ROS is needed
        robot = importlib.import_module("shellbot_evaluation.running_node").RunningShellbot()
        run_case = functools.partial(robot.run, gait=arguments.gait)
        return map_jobs(run_case, [(f"{run.case.name}, {run.seed}", run) for run in found], 1, None, journal)
    runs = [(f"{run.case.name}, seed {run.seed}, friction {run.friction:g}", run) for run in found]
    return map_jobs(functools.partial(execute, base=base), runs, arguments.jobs, pool_of(arguments.scheduler), journal)


def _show(arguments: argparse.Namespace, name: str, text: str) -> None:
    say(text)
    if arguments.write is not None:
        write_between_markers(arguments.write, name, text)
        say(f"table '{name}' written into {arguments.write}")


if __name__ == "__main__":
    sys.exit(main())
