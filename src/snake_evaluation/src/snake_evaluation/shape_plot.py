# SPDX-License-Identifier: MIT
"""Steps and costs of gaits over winding angle and undulations, as a figure."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

import matplotlib
import numpy as np

from robot_evaluation.errors import EvaluationError
from shellbot_common import write_file
from snake_motion.gait_table import load_rows

from .results import load_runs

_STEPS = {  # label, and what weighs alike
    "forward_mm": ("forward, mm a cycle", 50.0),
    "left_mm": ("left, mm a cycle", 50.0),
    "yaw_deg": ("yaw, deg a cycle", 10.0),
}
_GAITS_A_ROW = 2


def draw_shapes(files: Sequence[Path], path: Path, gaits_file: Optional[Path] = None) -> None:
    """Draw step and cost of transport of each gait over its greater winding angle, with a line for each number of
    undulations (of that wave, or of the other if it is circular): medians of all runs, bands from least to greatest.

    Parameters
    ----------
    files : sequence of Path
        Of scripts/experiment snake with --alpha-scale or --k-scale.
    path : Path
        Picture to write.
    gaits_file : Path, optional
        Table of the gaits; that of the package if not given.

    Raises
    ------
    EvaluationError
        If a file cannot be read, is of another experiment, or has a gait that is not in the table.
    """
    runs: Dict[str, List[Dict[str, Any]]] = {}
    for file in files:
        experiment, found = load_runs(file)
        if experiment != "gait":
            raise EvaluationError(f"{file} is of the experiment {experiment!r}; give runs of gaits")
        for run in found:
            runs.setdefault(run["gait"], []).append(run)
    table = load_rows(gaits_file)
    unknown = [name for name in runs if name not in table or not table[name].has_angle]
    if unknown:
        raise EvaluationError(
            f"gait {unknown[0]} is not in the table, or has no alpha_deg; name the table that the runs are of (--gaits)"
        )
    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = -(-len(runs) // _GAITS_A_ROW)
    columns = 2 * min(len(runs), _GAITS_A_ROW)
    figure, axes = pyplot.subplots(rows, columns, figsize=(4.4 * columns, 3.3 * rows), squeeze=False)
    pairs = axes.reshape(-1, 2)
    for (name, found), pair in zip(runs.items(), pairs):
        row = table[name]
        main = max((row.pitch, row.yaw), key=lambda wave: abs(wave.alpha_deg or 0.0))
        own = [run for run in found if run["alpha_scale"] == run["k_scale"] == 1.0] or found
        key = max(_STEPS, key=lambda step: float(np.abs([run[step] for run in own]).max()) / _STEPS[step][1])
        for axis, value, label in zip(pair, (key, "cost_of_transport"), (_STEPS[key][0], "cost of transport")):
            _draw(axis, found, value, main.alpha_deg or 0.0, main.k or row.pitch.k or row.yaw.k or 0.0)
            axis.set_xlabel("winding angle, deg" if main.k else "arc, deg")
            axis.set_ylabel(label)
            axis.set_title(name.replace("_", " "), fontsize=9)
            axis.grid(alpha=0.3)
        pair[1].set_yscale("log")
        for ticks in ("major", "minor"):
            getattr(pair[1].yaxis, f"set_{ticks}_formatter")("{x:g}")
        pair[0].legend(fontsize=7)
    for pair in pairs[len(runs) :]:
        for axis in pair:
            axis.set_axis_off()
    figure.tight_layout()
    stream = io.BytesIO()
    figure.savefig(stream, dpi=75, format=path.suffix[1:] or "png")
    pyplot.close(figure)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, stream.getvalue())


def _draw(axis: Any, runs: Sequence[Dict[str, Any]], value: str, alpha: float, k: float) -> None:
    """Draw a line for each number of undulations."""
    for scale in sorted({run["k_scale"] for run in runs}):
        points: Dict[float, List[float]] = {}
        for run in runs:
            if run["k_scale"] == scale and run[value] is not None:
                points.setdefault(run["alpha_scale"] * abs(alpha), []).append(run[value])
        if not points:
            continue  # without a step there is no cost of transport
        angles = sorted(points)
        line = axis.plot(
            angles, [np.median(points[a]) for a in angles], marker="o", markersize=3, label=f"k {scale * k:g}"
        )[0]
        band = [[limit(points[a]) for a in angles] for limit in (min, max)]
        axis.fill_between(angles, *band, color=line.get_color(), alpha=0.15)
