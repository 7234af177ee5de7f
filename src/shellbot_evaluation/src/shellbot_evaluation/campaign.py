# SPDX-License-Identifier: MIT
"""The published NAO experiments repeated with Shellbot, and the comparison of the means."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from robot_evaluation.errors import DefinitionError
from robot_evaluation.stats import spread
from shellbot_client.phases import POSITIVE
from shellbot_common import Settings, number, required

from .experiments import Case, Experiment

COMPARED_M, COMPARED_DEG = 3.0, 360.0  # the commands whose means were published for all sources


@dataclass(frozen=True)
class Published(Settings, error=DefinitionError):
    """Means of one source, one value per fraction of the greatest speed."""

    source: str
    x_m: Tuple[float, ...]
    y_m: Tuple[float, ...]
    turned_deg: Tuple[float, ...]


@dataclass(frozen=True)
class Campaign(Settings, error=DefinitionError):
    """Walks and turns at fractions of the greatest speed, and published means; see config/nao_campaign.yaml."""

    greatest_speed_m_s: float = number(*POSITIVE, "m/s")
    greatest_rate_deg_s: float = number(*POSITIVE, "deg/s")
    speeds_percent: Tuple[int, ...] = number(1, 100, "%")
    distances_m: Tuple[float, ...] = number(*POSITIVE, "m")
    angles_deg: Tuple[float, ...] = required()
    repetitions: int = number(1, 10_000)
    published: Tuple[Published, ...] = required()

    def conflict(self) -> str:
        """Return which published means do not match the speeds."""
        count = len(self.speeds_percent)
        for entry in self.published:
            for key in ("x_m", "y_m", "turned_deg"):
                if len(getattr(entry, key)) != count:
                    return f"published '{entry.source}' needs {count} values of {key}, one per speed"
        return ""

    def experiment(self) -> Experiment:
        """Return the cases as an experiment without limits."""
        cases: List[Case] = []
        for percent in self.speeds_percent:
            speed = self.greatest_speed_m_s * percent / 100.0
            rate = self.greatest_rate_deg_s * percent / 100.0
            walks = [(f"{d:g} m", "walk", {"distance_m": d, "speed_m_s": speed}) for d in self.distances_m]
            turns = [(f"{a:g} deg", "turn", {"angle_deg": a, "rate_deg_s": rate}) for a in self.angles_deg]
            cases += [Case(f"{name} at {percent} %", kind, values) for name, kind, values in walks + turns]
        return Experiment("nao", tuple(cases), ())

    def earlier_runs(self, files: Sequence[Path], simulators: Sequence[str]) -> List[Dict[str, Any]]:
        """Return the runs of earlier reports, JSON, of which none may be of one of these simulators.

        Raises
        ------
        DefinitionError
            If a file lacks runs of a case, or two have runs of one simulator.
        """
        found: List[Dict[str, Any]] = []
        cases, present = {case.name for case in self.experiment().cases}, set(simulators)
        for file in files:
            try:
                runs = json.loads(file.read_text(encoding="utf-8"))["runs"]
                of_file = {(run["simulator"], run["case"]) for run in runs}
            except (ValueError, KeyError, TypeError):
                of_file = set()
            engines = {simulator for simulator, _ in of_file}
            if not of_file or of_file != {(simulator, case) for simulator in engines for case in cases}:
                raise DefinitionError(
                    f"{file} lacks runs of the campaign's {len(cases)} cases; give its earlier NAME.json"
                )
            if engines & present:
                both = ", ".join(sorted(engines & present))
                raise DefinitionError(f"{file} has runs of {both}, which the table has already; leave it out")
            found, present = found + runs, present | engines
        return found


def case_summary(rows: Sequence[Mapping[str, Any]]) -> List[Dict[str, object]]:
    """Mean and standard deviation of each case in each simulator, walks and turns in one list; NaN if no run has it."""
    summary: List[Dict[str, object]] = []
    for simulator, name in dict.fromkeys((row["simulator"], row["case"]) for row in rows):
        of_case = [row for row in rows if (row["simulator"], row["case"]) == (simulator, name)]
        done = [row for row in of_case if row["success"]]
        kind = of_case[0]["kind"]
        keys = (
            ("duration_s", "walked_m", "lateral_m", "odometry_m", "cost_of_transport", "electrical_cost")
            if kind == "walk"
            else ("duration_s", "turned_deg", "drift_m", "odometry_deg")
        )
        line: Dict[str, object] = {"simulator": simulator, "case": name, "kind": kind}
        line.update(runs=len(of_case), failed=len(of_case) - len(done))
        for key in keys:
            line[key], line[key + "_std"] = _mean_and_std(of_case, key)
        summary.append(line)
    return summary


def comparison(campaign: Campaign, rows: Sequence[Mapping[str, Any]]) -> List[Dict[str, object]]:
    """Set Shellbot's means beside the published ones, one row a source, for 3 m and 360 degrees commanded.

    Raises
    ------
    EvaluationError
        If Shellbot's runs of a compared case are missing.
    """
    table: List[Dict[str, object]] = []
    for entry in campaign.published:
        row: Dict[str, object] = {"source": entry.source}
        for percent, x_m, y_m, angle in zip(campaign.speeds_percent, entry.x_m, entry.y_m, entry.turned_deg):
            row[f"x_{percent}"], row[f"y_{percent}"], row[f"turn_{percent}"] = x_m, y_m, angle
        table.append(row)
    for simulator in dict.fromkeys(row["simulator"] for row in rows):
        for source, x, y, turned in (
            ("ground truth", "walked_m", "lateral_m", "turned_deg"),
            ("odometry", "odometry_m", "odometry_lateral_m", "odometry_deg"),
        ):
            own: Dict[str, object] = {"source": f"Shellbot, {simulator}, {source}"}
            for percent in campaign.speeds_percent:
                walks, turns = (
                    [row for row in rows if (row["simulator"], row["case"]) == (simulator, f"{what} at {percent} %")]
                    for what in (f"{COMPARED_M:g} m", f"{COMPARED_DEG:g} deg")
                )
                own[f"x_{percent}"], _ = _mean_and_std(walks, x)
                own[f"y_{percent}"], _ = _mean_and_std(walks, y)
                own[f"turn_{percent}"], _ = _mean_and_std(turns, turned)
            table.append(own)
    return table


def _mean_and_std(rows: Sequence[Mapping[str, Any]], key: str) -> Tuple[float, float]:
    """Return mean and standard deviation of a figure over the runs that did not fail; NaN if none has it."""
    done = [row[key] for row in rows if row["success"] and row.get(key) is not None]
    if rows and not done:
        return math.nan, math.nan
    found = spread(done)
    return found.mean, found.std
