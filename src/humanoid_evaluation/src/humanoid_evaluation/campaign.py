# SPDX-License-Identifier: MIT
"""The thesis's 9 + 12 cases, resumable, and their table beside the thesis's corrected figures."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from humanoid_evaluation.trial import Trial, run_trial
from shellbot_common import SettingsError, package_file, read_yaml
from shellbot_evaluation.parallel import map_jobs
from shellbot_evaluation.stats import spread
from shellbot_evaluation.tables import markdown_table

Run = Dict[str, Any]
_BATCH = 14  # runs between two writings of the file


def thesis() -> Dict[str, Any]:
    """Return the cases and the figures of the thesis, from `config/thesis.yaml`."""
    return read_yaml(package_file("humanoid_evaluation", "config/thesis.yaml"))


def campaign_trials(seeds: Iterable[int], engine: str = "mujoco") -> List[Tuple[str, Trial]]:
    """Return case and trial of every run."""
    cases = thesis()
    straight = {name: (row["distance"], 0.0, row["speed"]) for name, row in cases["distances"].items()}
    around = {name: (0.0, float(row["angle"]), math.radians(row["speed"])) for name, row in cases["angles"].items()}
    return [
        (name, Trial(*what, seed, engine=engine)) for name, what in {**straight, **around}.items() for seed in seeds
    ]


def run_campaign(seeds: Sequence[int], jobs: int, file: Optional[Path], engine: str = "mujoco") -> List[Run]:
    """Run what a file does not hold yet, and write it there as it is done.

    Parameters
    ----------
    seeds : sequence of int
        Of each case.
    jobs : int
        Processes.
    file : Path, optional
        JSON; it is read first, so that an interrupted campaign goes on.
    engine : str
        Of the simulator.

    Raises
    ------
    SettingsError
        If the file is none of a campaign, or of one in another engine.
    """
    done = _read(file)
    others = {run.get("engine", "mujoco") for run in done} - {engine}
    if others:
        raise SettingsError(
            f"{file} is of a campaign in {', '.join(others)}, not {engine}; give another file to --json"
        )
    known = {(run["case"], run["seed"]) for run in done}
    trials = [(case, trial) for case, trial in campaign_trials(seeds, engine) if (case, trial.seed) not in known]
    for first in range(0, len(trials), _BATCH):
        batch = trials[first : first + _BATCH]
        runs = map_jobs(run_trial, [(f"{case} {trial.seed}", trial) for case, trial in batch], jobs)
        done += [{"case": case, **run} for (case, _), run in zip(batch, runs)]
        if file is not None:
            file.write_text(json.dumps({"runs": done}, indent=1) + "\n", encoding="utf-8")
    return done


def campaign_table(runs: Sequence[Run]) -> str:
    """Return the tables of distances and of angles, Markdown."""
    cases = thesis()
    by_case: Dict[str, List[Run]] = {}
    for run in runs:
        by_case.setdefault(run["case"], []).append(run)
    straight = [_straight(name, row, by_case[name]) for name, row in cases["distances"].items() if name in by_case]
    around = [_around(name, row, by_case[name]) for name, row in cases["angles"].items() if name in by_case]
    return "\n".join(markdown_table(rows) for rows in (straight, around) if rows)


def _straight(name: str, row: Mapping[str, Any], runs: Sequence[Run]) -> Dict[str, object]:
    entries = {who: "{:.2f} / {:+.2f}".format(*row[who]) for who in ("real", "gazebo", "ode", "bullet")}
    return {
        "case": name,
        "m/s": f"{row['speed']:.3f}",
        "m": f"{row['distance']:.1f}",
        "ours ahead": _mean([run["x_m"] for run in runs], 3),
        "ours aside": _mean([run["y_m"] for run in runs], 3),
        "seconds": _mean([run["seconds"] for run in runs], 1),
        "runs": len(runs),
        "falls": sum(run["fell"] for run in runs),
        **entries,
    }


def _around(name: str, row: Mapping[str, Any], runs: Sequence[Run]) -> Dict[str, object]:
    return {
        "case": name,
        "deg/s": f"{row['speed']:.1f}",
        "deg": row["angle"],
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


def _read(file: Optional[Path]) -> List[Run]:
    if file is None or not file.exists():
        return []
    try:
        runs = json.loads(file.read_text(encoding="utf-8"))["runs"]
        assert all({"case", "seed"} <= set(run) for run in runs)
    except (OSError, ValueError, KeyError, TypeError, AssertionError) as error:
        raise SettingsError(f"{file} holds no campaign ({error}); give another path, or remove it") from None
    return list(runs)
