# SPDX-License-Identifier: MIT
"""Steps and costs of gaits over winding angle and undulations, as a figure."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Dict, List, Sequence

import matplotlib
import numpy as np

from robot_evaluation.errors import EvaluationError
from shellbot_common import write_file

from .results import load

_STEPS = {  # label, and what weighs alike
    "forward_mm": ("forward, mm a cycle", 50.0),
    "left_mm": ("left, mm a cycle", 50.0),
    "yaw_deg": ("yaw, deg a cycle", 10.0),
}
_GAITS_A_ROW = 2


def draw_shapes(files: Sequence[Path], path: Path) -> None:
    """Draw step and cost of transport of each gait over its greater winding angle, with a line for each number of
    undulations: medians of all runs, and bands from the least to the greatest.

    Parameters
    ----------
    files : sequence of Path
        Of scripts/experiment snake with --alpha-scale or --k-scale.
    path : Path
        Picture to write.

    Raises
    ------
    EvaluationError
        If a file cannot be read or is of another experiment, no gait has a winding angle, or matplotlib cannot write
        such a picture.
    """
    runs: Dict[str, List[Dict[str, Any]]] = {}
    for file in files:
        content = load(file)
        if content["experiment"] != "gait":
            raise EvaluationError(f"{file} is of the experiment {content['experiment']!r}; give runs of gaits")
        for run in content["runs"]:
            if run["alpha_deg"]:
                runs.setdefault(run["gait"], []).append(run)
    if not runs:
        raise EvaluationError("no run has a winding angle; make some with scripts/experiment snake --alpha-scale")
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    rows = -(-len(runs) // _GAITS_A_ROW)
    columns = 2 * min(len(runs), _GAITS_A_ROW)
    figure, axes = pyplot.subplots(rows, columns, figsize=(4.4 * columns, 3.3 * rows), squeeze=False)
    pairs = axes.reshape(-1, 2)
    for (name, found), pair in zip(runs.items(), pairs):
        # of the middle of what was measured, where the gait's own values are: others may drift more than they turn
        alpha, k = (sorted({run[name] for run in found}) for name in ("alpha_deg", "k"))
        middle = [r for r in found if (r["alpha_deg"], r["k"]) == (alpha[len(alpha) // 2], k[len(k) // 2])] or found
        key = max(_STEPS, key=lambda step: float(np.median(np.abs([run[step] for run in middle]))) / _STEPS[step][1])
        for axis, value, label in zip(pair, (key, "cost_of_transport"), (_STEPS[key][0], "cost of transport")):
            _draw(axis, found, value)
            axis.set_xlabel("winding angle (arc of circular waves), deg")
            axis.set_ylabel(label)
            axis.set_title(name.replace("_", " "), fontsize=9)
            axis.grid(alpha=0.3)
        pair[1].set_yscale("log")
        pair[1].yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        pair[1].yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        pair[1].yaxis.set_minor_formatter(NullFormatter())
        pair[0].legend(fontsize=7)
    for pair in pairs[len(runs) :]:
        for axis in pair:
            axis.set_axis_off()
    figure.tight_layout()
    stream = io.BytesIO()
    try:
        figure.savefig(stream, dpi=75, format=path.suffix[1:] or "png")
    except ValueError as error:
        raise EvaluationError(f"cannot draw {path}: {error}") from error
    pyplot.close(figure)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, stream.getvalue())


def _draw(axis: Any, runs: Sequence[Dict[str, Any]], value: str) -> None:
    """Draw a line for each number of undulations."""
    for k in sorted({run["k"] for run in runs}):
        points: Dict[float, List[float]] = {}
        for run in runs:
            if run["k"] == k and run[value] is not None:
                points.setdefault(run["alpha_deg"], []).append(run[value])
        if not points:
            continue  # without a step there is no cost of transport
        angles = sorted(points)
        medians = [np.median(points[a]) for a in angles]
        line = axis.plot(angles, medians, marker="o", markersize=3, label=f"k {k:.3g}")[0]
        band = [[limit(points[a]) for a in angles] for limit in (min, max)]
        axis.fill_between(angles, *band, color=line.get_color(), alpha=0.15)
