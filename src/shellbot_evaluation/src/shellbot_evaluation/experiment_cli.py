# SPDX-License-Identifier: MIT
"""Command line of scripts/experiment."""

from __future__ import annotations

import argparse
import functools
import importlib
import operator
import sys
from pathlib import Path
from typing import List, Optional, Sequence

from shellbot_chain.chain_config import ChainConfig
from shellbot_chain.errors import DefinitionError
from shellbot_common import package_file
from shellbot_simulator.core.config import ENGINES
from shellbot_simulator.core.terrain import terrains

from .campaign import Campaign
from .console import add_seeds, run_tool, say, seeds_of
from .experiment_report import campaign_text, experiment_text, walking_summary, write_report
from .experiments import Experiment, load_experiments, plan_runs
from .parallel import map_jobs
from .reports import machine, write_json
from .runner import RunResult, execute, verdicts
from .tables import write_between_markers

CAMPAIGNS = {"nao": "nao_campaign.yaml"}
PROGRAMS = {
    "transform": ("transform_cli", "main"),
    "roll": ("rolling_cli", "run_roll"),
    "right": ("rolling_cli", "run_right"),
    "mission": ("mission_cli", "main"),
    "sweep": ("sweep_cli", "SWEEP.main"),
    "transport": ("transport_experiment", "TRANSPORT.main"),
    "energy": ("energy_experiment", "ENERGY.main"),
    "gaits": ("gaits_experiment", "GAITS.main"),
    "limp": ("limp_experiment", "LIMP.main"),
    "feed_forward": ("feed_forward_experiment", "FEED_FORWARD.main"),
    "terrain": ("terrain_experiment", "TERRAIN.main"),
    "engines": ("engines_cli", "main"),
    "onboard": ("onboard_cli", "main"),
}
"""Experiments with options of their own: module and function."""
_OF_THE_SCRIPT = ("bus-faults", "same")  # which it starts without coming here


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        prog="scripts/experiment",
        description="Walking experiments with the whole chain in one process: no ROS master, faster than real time."
        " Runs end on the robot's own odometry; ground truth only scores them.",
        epilog="example: scripts/experiment walk --seeds 5 --friction 0.7 1.0 --out results/walk",
    )
    p.add_argument(
        "experiment",
        nargs="*",
        help="walk, turn, square, speed (config/experiments.yaml) or all of the file: all;"
        " or, each with a --help of its own: transform (to a ball and back), roll (straight on), right (upright from "
        "any attitude), mission (walk, close, roll, open, walk), sweep (the ball over design and floor), transport "
        "(cost of walking and rolling), energy (run time of the battery), gaits (3 m by each), limp (walk without a "
        "leg), feed_forward (joint errors without and with it), terrain (rubble, slopes), engines (MuJoCo and "
        "Bullet beside analytic results), onboard (the chain on emulated servos), bus-faults (emulated servo bus)",
    )
    p.add_argument("--campaign", choices=sorted(CAMPAIGNS), help="repeat a published study and compare with its means")
    add_seeds(p, None, "a run of each case (default 5; campaign: as published)")
    p.add_argument(
        "--friction",
        type=float,
        nargs=2,
        default=(0.7, 1.0),
        metavar=("LOW", "HIGH"),
        help="floor friction, spread evenly over the seeds (default 0.7 1.0)",
    )
    p.add_argument("--distance", type=float, metavar="M", help="walk this far, or this long a side of the square, m")
    p.add_argument("--speed", type=float, metavar="M_S", help="walk at this speed, m/s")
    p.add_argument("--gait", default="tripod", help="gait of the action manager (default tripod)")
    p.add_argument("--simulator", choices=ENGINES, default="mujoco", help="physics engine (default mujoco)")
    p.add_argument(
        "--terrain",
        choices=list(terrains()),
        default="flat",
        help="ground (default flat); ice has a friction of its own",
    )
    p.add_argument("--definitions", type=Path, help="another file of experiments")
    p.add_argument("--out", type=Path, default=Path("results/experiment"), help="folder for tables, plots and files")
    p.add_argument("--json", type=Path, metavar="FILE", help="write runs and summary of one experiment there, too")
    p.add_argument("--traces", action="store_true", help="also keep every run as .npz")
    p.add_argument("--jobs", type=int, default=1, help="processes to use (default 1)")
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
        module, name = PROGRAMS[given[0]]
        program = operator.attrgetter(name)(importlib.import_module(f"shellbot_evaluation.{module}"))
        return int(program(given[1:]))
    arguments = parser().parse_args(argv)
    words = " ".join(sys.argv[1:] if argv is None else argv)
    return run_tool(lambda: _run(arguments, f"scripts/experiment {words}"))


def base_of(arguments: argparse.Namespace) -> ChainConfig:
    """Return the chain of every run, which gives it seed and friction."""
    return ChainConfig(gait=arguments.gait, engine=arguments.simulator, terrain=arguments.terrain)


def _run(arguments: argparse.Namespace, command: str) -> int:
    base = base_of(arguments)
    if arguments.campaign is not None:
        campaign = Campaign.load(_config_file(CAMPAIGNS[arguments.campaign]))
        seeds = seeds_of(arguments.seeds or str(campaign.repetitions))
        results = _execute(campaign.experiment(), seeds, arguments, base)
        _report(arguments, arguments.campaign, results, campaign_text(campaign, results, command), [])
        return 0
    known = load_experiments(arguments.definitions or _config_file("experiments.yaml"))
    names = list(known) if arguments.experiment == ["all"] else arguments.experiment
    if not names:
        raise DefinitionError(f"name an experiment: {', '.join(known)} or all; or give --campaign")
    if arguments.json is not None and len(names) > 1:
        raise DefinitionError(f"--json is for one experiment; of {', '.join(names)} name one")
    met = True
    for name in names:
        if name not in known:
            raise DefinitionError(
                f"there is no experiment '{name}'; choose from {', '.join((*known, *PROGRAMS, *_OF_THE_SCRIPT))} or all"
            )
        length = "side_m" if any(case.kind == "square" for case in known[name].cases) else "distance_m"
        experiment = known[name].changed(**{length: arguments.distance, "speed_m_s": arguments.speed})
        results = _execute(experiment, seeds_of(arguments.seeds or "5"), arguments, base)
        limits = verdicts(experiment, [result.row for result in results])
        _report(arguments, name, results, experiment_text(experiment, results, command), limits)
        if arguments.json is not None:
            arguments.json.parent.mkdir(parents=True, exist_ok=True)
            rows = [result.row for result in results]
            content = {"machine": machine(), "command": command, "runs": rows, "summary": walking_summary(rows)}
            write_json(arguments.json, content)
        met = met and all(line["met"] for line in limits)
    return 0 if met else 1


def _config_file(name: str) -> Path:
    return package_file("shellbot_evaluation", f"config/{name}")


def _execute(
    experiment: Experiment, seeds: Sequence[int], arguments: argparse.Namespace, base: ChainConfig
) -> List[RunResult]:
    runs = plan_runs(experiment, seeds, tuple(arguments.friction))
    labelled = [(f"{run.case.name}, seed {run.seed}, friction {run.friction:g}", run) for run in runs]
    return map_jobs(functools.partial(execute, base=base), labelled, arguments.jobs)


def _report(arguments: argparse.Namespace, name: str, results: List[RunResult], text: str, limits: List[dict]) -> None:
    write_report(arguments.out, name, results, text, {"limits": limits}, arguments.traces)
    say(text)
    say(f"files in {arguments.out}")
    if arguments.write is not None:
        write_between_markers(arguments.write, name, text)
        say(f"table '{name}' written into {arguments.write}")


if __name__ == "__main__":
    sys.exit(main())
