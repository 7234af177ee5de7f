# SPDX-License-Identifier: MIT
"""All rows of walks that the documentation shows, by one command, each beside what is required of it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from humanoid_evaluation.campaign import Run, run_all
from humanoid_evaluation.summary import summarise
from humanoid_evaluation.trial import Trial
from robot_evaluation.tables import format_cell, markdown_table
from shellbot_common import package_file, read_yaml

Summary = Dict[str, Any]
Limits = Dict[str, float]

# column: key of the summary, factor, digits
_COLUMNS: Dict[str, Tuple[str, float, int]] = {
    "distance off, mm": ("worst_distance_error_m", 1e3, 0),
    "aside, mm": ("worst_lateral_m", 1e3, 0),
    "place off, mm": ("worst_place_m", 1e3, 0),
    "angle off, deg": ("worst_angle_error_deg", 1.0, 2),
    "odometry off, mm": ("worst_odometry_error_m", 1e3, 0),
    "torso height, ± mm": ("worst_height_range_m", 0.5e3, 1),
}


def _rows() -> Dict[str, Dict[str, Any]]:
    return read_yaml(package_file("humanoid_evaluation", "config/matrix.yaml"))


def matrix_trials(seeds: Sequence[int]) -> List[Tuple[str, Trial]]:
    """Return name and trial of every run: each row takes as many of the seeds, from the first on, as it says."""
    return [(name, _trial(row["trial"], seed)) for name, row in _rows().items() for seed in seeds[: row["runs"]]]


def _trial(given: Dict[str, Any], seed: int) -> Trial:
    fields = {"distance": 0.0, "angle_deg": 0.0, **given}
    if fields["angle_deg"]:
        fields["speed"] = math.radians(fields["speed"])
    return Trial(seed=seed, **fields)


def run_matrix(seeds: Sequence[int], jobs: int, file: Optional[Path], scheduler: str = "") -> List[Run]:
    """Carry out all runs of the matrix, as `run_campaign`."""
    return run_all("humanoid matrix", matrix_trials(seeds), jobs, file, scheduler)


def matrix_table(runs: Sequence[Run]) -> str:
    """Return the worst of each row, Markdown."""
    return markdown_table([_line(name, *found) for name, found in _by_row(runs).items()])


def matrix_holds(runs: Sequence[Run]) -> bool:
    """Whether every row is as required."""
    return not any(_missed(*found) for found in _by_row(runs).values())


def _by_row(runs: Sequence[Run]) -> Dict[str, Tuple[Summary, Limits]]:
    """Return summary and limits of each row."""
    return {
        name: (
            summarise([run for run in runs if run["case"] == name]),
            {"falls": 0, "not_arrived": 0, **row.get("most", {})},
        )
        for name, row in _rows().items()
    }


def _missed(summary: Summary, limits: Limits) -> List[str]:
    """Return what is greater than required, as name and limit."""
    names = {key: (name, factor) for name, (key, factor, _) in _COLUMNS.items()}
    missed = [
        (*names.get(key, (key.replace("_", " "), 1.0)), most)
        for key, most in limits.items()
        if not summary[key] <= most
    ]
    return [f"{name} {factor * most:g}" for name, factor, most in missed]


def _line(name: str, summary: Summary, limits: Limits) -> Dict[str, object]:
    return {
        "walk": name,
        "runs": summary["runs"],
        "falls": summary["falls"],
        **{column: f"{factor * summary[key]:.{digits}f}" for column, (key, factor, digits) in _COLUMNS.items()},
        "seconds": f"{summary['mean_seconds']:.1f}",
        "cost of transport": format_cell(summary["mean_cost_of_transport"], 2),
        "required, but missed": "; ".join(_missed(summary, limits)),
    }
