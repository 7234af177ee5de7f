# SPDX-License-Identifier: MIT
"""The published NAO experiments repeated with Shellbot, and the comparison of the means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from shellbot_chain.errors import DefinitionError
from shellbot_client.phases import POSITIVE
from shellbot_common import Settings, number, required

from .experiments import Case, Experiment
from .stats import spread

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


def case_summary(rows: Sequence[Mapping[str, Any]]) -> List[Dict[str, object]]:
    """Mean and standard deviation of each case, walks and turns in one list."""
    summary: List[Dict[str, object]] = []
    for name in dict.fromkeys(row["case"] for row in rows):
        of_case = [row for row in rows if row["case"] == name]
        walks = "walked_m" in of_case[0]
        keys = (
            ("duration_s", "walked_m", "lateral_m", "odometry_m")
            if walks
            else ("duration_s", "turned_deg", "drift_m", "odometry_deg")
        )
        line: Dict[str, object] = {"case": name, "runs": len(of_case)}
        for key in keys:
            s = spread(row[key] for row in of_case)
            line[key], line[key + "_std"] = s.mean, s.std
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
    for source, x, y, turned in (
        ("Shellbot, ground truth", "walked_m", "lateral_m", "turned_deg"),
        ("Shellbot, odometry", "odometry_m", "odometry_lateral_m", "odometry_deg"),
    ):
        own: Dict[str, object] = {"source": source}
        for percent in campaign.speeds_percent:
            walks = [row for row in rows if row["case"] == f"{COMPARED_M:g} m at {percent} %"]
            turns = [row for row in rows if row["case"] == f"{COMPARED_DEG:g} deg at {percent} %"]
            own[f"x_{percent}"] = spread(row[x] for row in walks).mean
            own[f"y_{percent}"] = spread(row[y] for row in walks).mean
            own[f"turn_{percent}"] = spread(row[turned] for row in turns).mean
        table.append(own)
    return table
