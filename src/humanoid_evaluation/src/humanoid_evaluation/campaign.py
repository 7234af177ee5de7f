# SPDX-License-Identifier: MIT
"""The thesis's 9 + 12 cases, resumable, and their table beside the thesis's corrected figures."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from humanoid_evaluation.trial import Trial, run_trial
from robot_evaluation.journal import Journal
from robot_evaluation.parallel import map_jobs, pool_of
from robot_evaluation.reports import machine, write_json
from robot_evaluation.stats import spread
from robot_evaluation.tables import markdown_table
from shellbot_common import package_file, read_yaml

Run = Dict[str, Any]


def thesis() -> Dict[str, Any]:
    """Return the cases and the figures of the thesis, from `config/thesis.yaml`."""
    return read_yaml(package_file("humanoid_evaluation", "config/thesis.yaml"))


def campaign_trials(seeds: Iterable[int], engines: Sequence[str] = ("mujoco",)) -> List[Tuple[str, Trial]]:
    """Return case and trial of every run: all cases in all engines with the first seed, then with the next."""
    cases = thesis()
    straight = {name: (row["distance"], 0.0, row["speed"]) for name, row in cases["distances"].items()}
    around = {name: (0.0, float(row["angle"]), math.radians(row["speed"])) for name, row in cases["angles"].items()}
    return [
        (name, Trial(*what, seed, engine=engine))
        for seed in seeds
        for engine in engines
        for name, what in {**straight, **around}.items()
    ]


def run_campaign(
    seeds: Sequence[int], jobs: int, file: Optional[Path], scheduler: str = "", engines: Sequence[str] = ("mujoco",)
) -> List[Run]:
    """Carry out all runs; with a file they are written there, and an interrupted campaign goes on.

    Parameters
    ----------
    seeds : sequence of int
        Of each case.
    jobs : int
        Processes.
    file : Path, optional
        JSON of all runs; until they are done, their journal lies beside it.
    scheduler : str
        Address of a Dask cluster, for its workers instead.
    engines : sequence of str
        Of the simulator.

    Raises
    ------
    EvaluationError
        If the journal is none of this campaign and code, or cannot be written.
    """
    name = f"humanoid campaign in {', '.join(engines)}"
    return run_all(name, campaign_trials(seeds, engines), jobs, file, scheduler)


def run_all(
    name: str, trials: Sequence[Tuple[str, Trial]], jobs: int, file: Optional[Path], scheduler: str
) -> List[Run]:
    """Carry out the trials of an experiment, each with its case, as `run_campaign`; the case is in each result."""
    labelled = [(f"{case} {trial.seed}", trial) for case, trial in trials]
    with Journal.beside(file, name) as journal:
        rows = map_jobs(run_trial, labelled, jobs, pool_of(scheduler), journal)
        runs = [{"case": case, **row} for (case, _), row in zip(trials, rows)]
        if file is not None:
            write_json(file, {"machine": machine(), "runs": runs})
    return runs


def campaign_table(runs: Sequence[Run]) -> str:
    """Return the tables of distances and of angles, Markdown, a line for each case in each simulator."""
    cases = thesis()
    groups: Dict[Tuple[str, str], List[Run]] = {}
    for run in runs:
        groups.setdefault((run["case"], run["engine"]), []).append(run)
    engines = dict.fromkeys(engine for _, engine in groups)
    straight, around = (
        [
            line(case, engine, row, groups[case, engine])
            for case, row in cases[kind].items()
            for engine in engines
            if (case, engine) in groups
        ]
        for kind, line in (("distances", _straight), ("angles", _around))
    )
    return "\n".join(markdown_table(rows) for rows in (straight, around) if rows)


def _straight(name: str, engine: str, row: Mapping[str, Any], runs: Sequence[Run]) -> Dict[str, object]:
    costs = [run["cost"] for run in runs if math.isfinite(run["cost"])]
    entries = {who: "{:.2f} / {:+.2f}".format(*row[who]) for who in ("real", "gazebo", "ode", "bullet")}
    return {
        "case": name,
        "m/s": f"{row['speed']:.3f}",
        "m": f"{row['distance']:.1f}",
        "simulator": engine,
        "ours ahead": _mean([run["x_m"] for run in runs], 3),
        "ours aside": _mean([run["y_m"] for run in runs], 3),
        "seconds": _mean([run["seconds"] for run in runs], 1),
        "cost of transport": _mean(costs, 2) if costs else "–",
        "runs": len(runs),
        "falls": sum(run["fell"] for run in runs),
        **entries,
    }


def _around(name: str, engine: str, row: Mapping[str, Any], runs: Sequence[Run]) -> Dict[str, object]:
    return {
        "case": name,
        "deg/s": f"{row['speed']:.1f}",
        "deg": row["angle"],
        "simulator": engine,
        "ours": _mean([run["turn_deg"] for run in runs], 1),
        "place mm": _mean([1e3 * math.hypot(run["x_m"], run["y_m"]) for run in runs], 0),
        "seconds": _mean([run["seconds"] for run in runs], 1),
        "runs": len(runs),
        "falls": sum(run["fell"] for run in runs),
        **{who: f"{row[who]:.1f}" for who in ("real", "gazebo", "ode", "bullet")},
    }


def _mean(values: Sequence[float], digits: int) -> str:
    found = spread(values)
    return f"{found.mean:.{digits}f} ± {found.std:.{digits}f}"
