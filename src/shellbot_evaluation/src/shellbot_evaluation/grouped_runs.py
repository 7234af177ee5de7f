# SPDX-License-Identifier: MIT
"""Seeded experiments with several cases a seed, whose table has a line for each case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Sequence, Tuple

import numpy as np

from robot_evaluation.reports import made_by
from robot_evaluation.tables import markdown_table

from .seeded_runs import SeededRuns, of_finite


@dataclass(frozen=True)
class GroupedRuns(SeededRuns):
    """Several cases a seed, and a table with a line for the runs of all seeds with one case.

    `conditions` returns the cases of a seed; a case, and its row, has a `label`. A line holds the median of numbers,
    how many of truth values are true, and other values of the first run.
    """

    worst: Tuple[str, ...] = ()  #: Columns of which a line holds the greatest value instead of the median

    def cases(self, seeds: Sequence[int]) -> List[Tuple[str, Any]]:
        """Return a label for the progress bar and the case, of every run."""
        return [(f"{case.label}, seed {seed}", case) for seed in seeds for case in self.conditions(seed)]

    def lines(self, rows: Sequence[Mapping[str, Any]]) -> List[Dict[str, Any]]:
        """Return the lines of the table, in the order of the rows."""
        groups: Dict[str, List[Mapping[str, Any]]] = {}
        for row in rows:
            groups.setdefault(row["label"], []).append(row)
        return [
            {
                key: _together([row[key] for row in group], np.max if key in self.worst else np.median)
                for key in self.columns
            }
            for group in groups.values()
        ]

    def report(self, rows: Sequence[Mapping[str, Any]], summary: Mapping[str, Any], command: str) -> str:
        """Return the table as Markdown."""
        text = markdown_table(self.lines(rows), dict(self.columns), {**dict.fromkeys(self.columns, 1), **self.digits})
        text += f"\n{self.done}: {summary['success']} of {summary['runs']} runs.\n"
        return text + made_by(command)


def _together(values: Sequence[Any], function: Any) -> Any:
    if isinstance(values[0], bool):
        return f"{sum(values)} of {len(values)}"
    return of_finite(values, function) if isinstance(values[0], float) else values[0]
