# SPDX-License-Identifier: MIT
"""Experiments that run once per seed and are judged figure by figure: command line, summary, tables, files."""

from __future__ import annotations

import argparse
import functools
import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from robot_evaluation.console import add_out, add_seeds, add_simulators, file_of, one_simulator, run_tool, say, seeds_of
from robot_evaluation.errors import DefinitionError
from robot_evaluation.journal import Journal
from robot_evaluation.parallel import add_workers, map_jobs, pool_of
from robot_evaluation.report_files import write_runs
from robot_evaluation.reports import machine, made_by, write_json
from robot_evaluation.tables import markdown_table, split_at_markers, write_between_markers
from shellbot_chain.chain_config import ChainConfig
from shellbot_chain.onboard_chain import refuse_on_bus

from . import bus_runs
from .perturbations import PERTURBATIONS, PUSH, RAW_IMU, Perturbations, add_perturb, add_raw_imu, chain_changes

OVER_ROS = "over ROS"
"""In the place of a simulator's name."""
RUNNING = "with the robot that runs over ROS, such as one in Gazebo, one run after the other; seeds count repetitions"
_FIGURES = {k: k for k in ("figure", "goal", "median", "worst", "within", "runs")}


@dataclass(frozen=True)
class SeededRuns:
    """One experiment."""

    name: str  #: Subcommand of scripts/experiment, and marker of its table in a page
    what: str  #: What a seed is, in words for --help: "a closing and an opening each"
    description: str  #: For --help
    columns: Mapping[str, str]  #: Keys of a row and their headings, in the order of the table
    goals: Mapping[str, Tuple[float, float]]  #: Least and greatest value of a figure in a run
    conditions: Callable[[int], Any]  #: Seed to case; a case has a `seed`
    execute: Callable[[Any], Dict[str, Any]]  #: Case to row: `seed`, `success`, the figures (NaN where not reached)
    duration: Callable[[Mapping[str, Any]], float]  #: Row to seconds that it took, NaN if it did not get there
    done: str  #: Heading of the number of successes: "Closed and opened"
    digits: Mapping[str, int] = field(default_factory=dict)  #: Decimals of columns that have not one
    picture: Optional[Callable[[Path, Sequence[Mapping[str, Any]]], None]] = None  #: Draws the rows into a file
    #: Returns what carries out a case on the robot that runs over ROS, of ``--running``, in the place of `execute`
    running: Optional[Callable[[], Callable[[Any], Dict[str, Any]]]] = None
    #: Why ``--running`` is refused, after the name; empty: there is no such option without `running`
    not_running: str = ""
    #: Columns that only a simulator in this process has: what seeds draw, and what no topic tells
    simulator_only: Tuple[str, ...] = ()
    #: Whether ``--simulator``, ``--perturb``, ``--raw-imu`` and ``--bus`` are options. A case then has `changes`, for
    #: `build_chain`, and its row `bus_figures`.
    is_varied: bool = False

    def parser(self) -> argparse.ArgumentParser:
        """Return the parser of the command line."""
        p = argparse.ArgumentParser(
            prog=f"scripts/experiment {self.name}",
            description=self.description,
            epilog=f"example: scripts/experiment {self.name} --seeds 100:120 --json {self.name}.json",
        )
        add_seeds(p, "20", self.what)
        add_out(p)
        p.add_argument("--json", type=file_of, metavar="FILE", help="write runs and summary there, too")
        add_workers(p)
        marker = f"'<!-- begin: {self.name} -->'"
        p.add_argument("--write", type=Path, metavar="PAGE", help=f"put the table between {marker} and its end")
        if self.is_varied:
            add_simulators(p, campaign=False)
            add_perturb(p, pushed="")
            add_raw_imu(p)
            bus_runs.add_bus(p)
        if self.running is not None or self.not_running:
            shown = argparse.SUPPRESS if self.not_running else RUNNING
            p.add_argument("--running", action="store_true", help=shown)
        if self.picture is not None:
            p.add_argument("--picture", type=file_of, metavar="FILE", help="draw the runs into this PNG file")
        return p

    def main(self, given: Sequence[str]) -> int:
        """Run the tool; returns 0 if every goal was reached in every run, 1 if not, 2 after an error."""
        arguments = self.parser().parse_args(given)
        words = " ".join(["scripts/experiment", self.name, *given])
        return run_tool(lambda: self.run(arguments, words))

    def run(self, arguments: argparse.Namespace, command: str) -> int:
        """Run the seeds, print the tables, write the files; returns 0 if every goal was reached in every run."""
        runs = self.over_ros(arguments) if getattr(arguments, "running", False) else self.varied(arguments)
        return runs._run(arguments, command)

    def over_ros(self, arguments: argparse.Namespace) -> SeededRuns:
        """Return the experiment with the robot that runs over ROS, one run after the other.

        Raises
        ------
        DefinitionError
            For options of a simulator in this process, and for `not_running`.
        SettingsError, EvaluationError
            If no robot runs.
        """
        if self.not_running:
            raise DefinitionError(f"'{self.name}' {self.not_running}")
        assert self.running is not None  # there is no such option else
        defaults: Dict[str, Any] = {"simulator": ["mujoco"], "perturb": [], "design": [], "scheduler": ""}
        refuse_with_running(arguments, {**defaults, "raw_imu": False, "bus": False})
        arguments.jobs = 1
        columns = {key: head for key, head in self.columns.items() if key not in self.simulator_only}
        goals = {key: bounds for key, bounds in self.goals.items() if key not in self.simulator_only}
        return replace(self, columns=columns, goals=goals, execute=self.running())

    def varied(self, arguments: argparse.Namespace) -> SeededRuns:
        """Return the experiment with simulator, perturbations, IMU and bus of the command line, if it takes them.

        That with a raw IMU, or on the bus, has a table, files and a journal of its own: ``NAME_raw_imu``, ``NAME_bus``.

        Raises
        ------
        DefinitionError
            For several simulators, for pushes, for what the bus has of its own, and as `Perturbations.parse`.
        """
        if not self.is_varied:
            return self
        perturbations = Perturbations.parse(arguments.perturb)
        settings = {"engine": one_simulator(arguments.simulator), **(RAW_IMU if arguments.raw_imu else {})}
        if PUSH in perturbations.names:
            raise DefinitionError(f"'{self.name}' has no pushes; leave out {PUSH}")

        def conditions(seed: int) -> Any:
            found, drawn = self.conditions(seed), {**settings, **chain_changes(perturbations.draw(seed))}
            return [changed(case, drawn) for case in found] if isinstance(found, list) else changed(found, drawn)

        def changed(case: Any, drawn: Dict[str, Any]) -> Any:
            changes = {**case.changes, **drawn}
            if arguments.bus:
                refuse_on_bus(ChainConfig(design=getattr(case, "design", {})).replace(**changes))
                changes[bus_runs.BUS] = True
            return replace(case, changes=changes)

        heads = {key: head for key, head in self.columns.items() if key != "message"}
        heads.update({key: key for key in perturbations.names if key not in heads})
        heads.update(bus_runs.COLUMNS if arguments.bus else {}, message="last message")
        digits = {**dict.fromkeys(perturbations.names, 3), **bus_runs.DIGITS, **self.digits}
        name = self.name + "_raw_imu" * arguments.raw_imu + "_bus" * arguments.bus
        return replace(self, name=name, columns=heads, digits=digits, conditions=conditions)

    def _run(self, arguments: argparse.Namespace, command: str) -> int:
        cases = self.cases(seeds_of(arguments.seeds))
        if arguments.write is not None:
            split_at_markers(arguments.write, self.name)
        with Journal(arguments.out / f"{self.name}.unfinished.jsonl", self.name) as journal:
            rows = map_jobs(self.execute, cases, arguments.jobs, pool_of(arguments.scheduler), journal)
            rows = [_with_changes(row, case) for (_, case), row in zip(cases, rows)]
            summary = self.summary(rows)
            text = self.report(rows, summary, command)
            say(text)
            self._write(arguments, rows, text, {"command": command, "summary": summary})
        say(f"every run, as table and plot: {arguments.out / self.name}.html")
        reached = all(summary[column]["within"] == summary["runs"] for column in self.goals)
        return 0 if reached and summary["success"] == summary["runs"] else 1

    def _write(
        self, arguments: argparse.Namespace, rows: Sequence[Mapping[str, Any]], text: str, content: Mapping[str, Any]
    ) -> None:
        digits = {**dict.fromkeys(self.columns, 1), **self.digits}
        write_runs(arguments.out, self.name, text, rows, self.columns, digits, content, PERTURBATIONS)
        if arguments.json is not None:
            write_json(arguments.json, {"machine": machine(), **content, "runs": rows})
        if arguments.write is not None:
            write_between_markers(arguments.write, self.name, text)
        if self.picture is not None and arguments.picture is not None:
            arguments.picture.parent.mkdir(parents=True, exist_ok=True)
            self.picture(arguments.picture, rows)

    def cases(self, seeds: Sequence[int]) -> List[Tuple[str, Any]]:
        """Return a label for the progress bar and the case, of every run."""
        return [(f"seed {seed}", self.conditions(seed)) for seed in seeds]

    def summary(self, rows: Sequence[Mapping[str, Any]]) -> Dict[str, Any]:
        """Return what `summary` of the JSON file holds; median and worst over the runs that reached the figure."""
        took = [self.duration(row) for row in rows]
        found: Dict[str, Any] = {
            "success": sum(bool(row["success"]) for row in rows),
            "runs": len(rows),
            "median_s": of_finite(took, np.median),
            "worst_s": of_finite(took, np.max),
        }
        for column, (low, high) in self.goals.items():
            values = [float(row.get(column, math.nan)) for row in rows]
            found[column] = {
                "median": of_finite(values, np.median),
                "worst": of_finite(values, functools.partial(max, key=functools.partial(_beyond, low, high))),
                "goal": high if math.isinf(low) else low if math.isinf(high) else [low, high],
                "within": sum(low <= value <= high for value in values),
            }
        return found

    def report(self, rows: Sequence[Mapping[str, Any]], summary: Mapping[str, Any], command: str) -> str:
        """Return the tables as Markdown."""
        figures: List[Dict[str, Any]] = [
            {"figure": column, **summary[column], "goal": _range(*self.goals[column]), "runs": summary["runs"]}
            for column in self.goals
        ]
        text = markdown_table(rows, dict(self.columns), {**dict.fromkeys(self.columns, 1), **self.digits})
        text += f"\n{self.done}: {summary['success']} of {summary['runs']}, "
        text += f"median {summary['median_s']:.1f} s, worst {summary['worst_s']:.1f} s.\n\n"
        text += markdown_table(figures, _FIGURES, dict.fromkeys(("median", "worst"), 2))
        return text + made_by(command)


def refuse_with_running(arguments: argparse.Namespace, defaults: Mapping[str, Any]) -> None:
    """Raise DefinitionError for an option beside ``--running`` that has another value than its default."""
    for option, default in defaults.items():
        if getattr(arguments, option, default) not in (default, None):
            name = f"--{option.replace('_', '-')}"
            raise DefinitionError(
                f"{name} is of a simulator in this process, and the robot of --running is as it was started; leave "
                f"{name} out"
            )


def at_most(value: float) -> Tuple[float, float]:
    """Return the goal of a figure that is to be no greater."""
    return -math.inf, value


def at_least(value: float) -> Tuple[float, float]:
    """Return the goal of a figure that is to be no less."""
    return value, math.inf


def _with_changes(row: Mapping[str, Any], case: Any) -> Dict[str, Any]:
    """Return a row in which what the command line changed of its case has columns."""
    changes = dict(getattr(case, "changes", {}))
    if changes:
        changes["simulator"] = changes.pop("engine", OVER_ROS)
    return {**{key: value for key, value in row.items() if key != "changes"}, **changes}


def _range(low: float, high: float) -> str:
    if math.isinf(low):
        return f"≤ {high:g}"
    return f"≥ {low:g}" if math.isinf(high) else f"{low:g} to {high:g}"


def _beyond(low: float, high: float, value: float) -> float:
    """Return by how much a value is outside of a range; negative inside."""
    return max(low - value, value - high)


def of_finite(values: Sequence[float], function: Any) -> Optional[float]:
    """Return a function of those of the values that are finite; NaN if none is."""
    finite = [value for value in values if np.isfinite(value)]
    return float(function(finite)) if finite else math.nan
