# SPDX-License-Identifier: MIT
"""The published NAO experiments repeated with Shellbot, and the comparison of the means."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from shellbot_chain.errors import DefinitionError

from .experiments import Case, Experiment, load_yaml
from .stats import spread

COMPARED_M, COMPARED_DEG = 3.0, 360.0  # the commands whose means were published for all sources


@dataclass(frozen=True)
class Campaign:
    """Cases at shares of the greatest speed, and published means (one value per share of speed)."""

    cases: Tuple[Case, ...]
    speeds_percent: Tuple[int, ...]
    repetitions: int
    published: Tuple[Mapping[str, Any], ...]

    def experiment(self) -> Experiment:
        """Return the cases as an experiment without limits."""
        return Experiment("nao", self.cases, ())


def load_campaign(path: Path) -> Campaign:
    """Read a campaign from YAML (see config/nao_campaign.yaml).

    Raises
    ------
    DefinitionError
        If a key is missing or the published means do not match the speeds.
    """
    content = load_yaml(path)
    needed = (
        "greatest_speed_m_s",
        "greatest_rate_deg_s",
        "speeds_percent",
        "distances_m",
        "angles_deg",
        "repetitions",
        "published",
    )
    missing = [key for key in needed if key not in content]
    if missing:
        raise DefinitionError(f"{path} lacks {', '.join(missing)}")
    percents = tuple(int(p) for p in content["speeds_percent"])
    for entry in content["published"]:
        for key in ("x_m", "y_m", "turned_deg"):
            if len(entry.get(key, ())) != len(percents):
                raise DefinitionError(f"{path}: '{entry.get('source')}' needs {len(percents)} values of {key}")
    cases: List[Case] = []
    for percent in percents:
        speed = content["greatest_speed_m_s"] * percent / 100.0
        rate = content["greatest_rate_deg_s"] * percent / 100.0
        cases += [
            Case(f"{d:g} m at {percent} %", "walk", {"distance_m": float(d), "speed_m_s": speed})
            for d in content["distances_m"]
        ]
        cases += [
            Case(f"{a:g} deg at {percent} %", "turn", {"angle_deg": float(a), "rate_deg_s": rate})
            for a in content["angles_deg"]
        ]
    return Campaign(tuple(cases), percents, int(content["repetitions"]), tuple(content["published"]))


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
        row: Dict[str, object] = {"source": entry["source"]}
        for i, percent in enumerate(campaign.speeds_percent):
            row[f"x_{percent}"], row[f"y_{percent}"] = float(entry["x_m"][i]), float(entry["y_m"][i])
            row[f"turn_{percent}"] = float(entry["turned_deg"][i])
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
