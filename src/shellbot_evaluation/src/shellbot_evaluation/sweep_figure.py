# SPDX-License-Identifier: MIT
"""The picture of scripts/experiment sweep: a column a parameter, a row a capability."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any, Dict, List, Mapping, Sequence, Tuple

import numpy as np
from matplotlib.axes import Axes

from robot_evaluation.plot_canvas import new_figure
from robot_evaluation.plots import save_figure

from .sweep_experiment import PARAMETERS

# figure of a run, heading, truth value that says whether it was reached, range of the axis
_ROWS: Tuple[Tuple[str, str, str, Tuple[float, float]], ...] = (
    ("both_s", "closes and opens in / s", "transforms", (15.0, 50.0)),
    ("roll_m_s", "rolls at / m/s", "", (-0.1, 1.3)),
    ("upright_s", "upright after / s", "rights", (0.0, 24.0)),
)


def draw(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw each run as a dot, or a red cross where it did not get there, and the medians as a line."""
    figure = new_figure((12.0, 7.2), show=False)
    figure.suptitle("One value changed, the others as adopted (grey); a dot a run, red: not reached", fontsize=12)
    axes: np.ndarray = figure.subplots(len(_ROWS), len(PARAMETERS), sharex="col", sharey="row", squeeze=False)
    for column, (name, parameter) in enumerate(PARAMETERS.items()):
        values = {value: _runs(rows, name, value, parameter.adopted) for value in parameter.values}
        for line, (key, heading, reached, span) in enumerate(_ROWS):
            panel: Axes = axes[line, column]
            panel.axvline(parameter.adopted, color="0.88", linewidth=14, zorder=0)
            _panel(panel, values, key, reached, span)
            if column == 0:
                panel.set_ylabel(heading)
        last: Axes = axes[-1, column]
        last.set_xlabel(textwrap.fill(parameter.heading, 16))
        last.set_xticks(list(parameter.values), [f"{value:.2g}" if value < 10 else f"{value:.4g}" for value in values])
        edge = 0.12 * np.ptp(parameter.values)
        last.set_xlim(min(parameter.values) - edge, max(parameter.values) + edge)
    save_figure(figure, path)


def _runs(rows: Sequence[Mapping[str, Any]], name: str, value: float, adopted: float) -> List[Mapping[str, Any]]:
    if value == adopted:
        return [row for row in rows if not row["parameter"]]
    return [row for row in rows if row["parameter"] == name and row["value"] == value]


def _panel(
    panel: Axes, values: Dict[float, List[Mapping[str, Any]]], key: str, reached: str, span: Tuple[float, float]
) -> None:
    beside = 0.02 * np.ptp(list(values))  # runs of one value stand beside each other
    top = span[1] - 0.15 * (span[1] - span[0])
    medians = []
    for value, runs in values.items():
        numbers = np.array([row[key] for row in runs], dtype=float)
        x = value + beside * (np.arange(len(runs)) - 0.5 * (len(runs) - 1))
        ends = np.isfinite(numbers)
        medians.append(float(np.median(numbers[ends])) if ends.any() else np.nan)
        panel.plot(x[ends], numbers[ends], "o", color="tab:blue", markersize=4.5, alpha=0.8)
        panel.plot(x[~ends], np.full(int((~ends).sum()), top), "x", color="tab:red", markersize=5)
        if reached:
            count = sum(bool(row[reached]) for row in runs)
            colour = "0.35" if count == len(runs) else "tab:red"
            panel.annotate(
                f"{count}/{len(runs)}", (value, 1.0), (0, -12), ("data", "axes fraction"), "offset points",
                color=colour, fontsize=9, ha="center",
            )  # fmt: skip
    panel.plot(list(values), medians, "-", color="tab:blue", linewidth=1.2, alpha=0.6)
    panel.set_ylim(*span)
    panel.grid(True, alpha=0.3)
