# SPDX-License-Identifier: MIT
"""Plots of runs; drawn without a display."""

from __future__ import annotations

import io
import textwrap
from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np

from shellbot_common import write_file

from .planar import PlanarPath
from .plot_canvas import new_figure
from .trace import Trace


def plot_paths(path: Path, title: str, truth: Mapping[str, PlanarPath], own: Mapping[str, PlanarPath]) -> None:
    """Draw paths seen from above in the axes of their start: ground truth solid, the robot's odometry dashed.

    Parameters
    ----------
    path : pathlib.Path
        Picture file; its ending chooses the format.
    title : str
        Heading of the picture.
    truth, own : mapping
        Label to path; `own` may lack labels of `truth`.
    """
    figure, (axes,) = _figure(title, 1, (7.0, 4.5))
    paths = [track.in_start_axes() for track in [*truth.values(), *own.values()]]
    span = np.ptp(np.vstack(paths), axis=0)  # (2,) m
    enlarged = span.min() < 0.2 * span.max()
    for label, track in truth.items():
        xy = track.in_start_axes()
        (line,) = axes.plot(xy[:, 0], xy[:, 1], label=label)
        axes.plot(xy[-1, 0], xy[-1, 1], "o", color=line.get_color())
        if label in own:
            estimate = own[label].in_start_axes()
            axes.plot(estimate[:, 0], estimate[:, 1], "--", color=line.get_color(), linewidth=0.9)
    if not enlarged:
        axes.set_aspect("equal", adjustable="datalim")
    note = "; scales differ" if enlarged else ""
    axes.set_xlabel(f"forward / m   (solid: ground truth, dashed: odometry{note})")
    axes.set_ylabel("left / m")
    axes.legend(fontsize="small")
    save_figure(figure, path)


def plot_run(path: Path, title: str, trace: Trace) -> None:
    """Draw body height, lowest foot point and heading over time, three plots above each other."""
    figure, (height, foot, heading) = _figure(title, 3, (7.0, 7.0))
    height.plot(trace.t, 1e3 * trace.p_world_base[:, 2])
    height.set_ylabel("body height / mm")
    foot.plot(trace.t, 1e3 * trace.lowest_foot_z)
    foot.axhline(-2.0, color="tab:red", linewidth=0.8)
    foot.set_ylabel("lowest foot point / mm")
    start = trace.odom_path
    heading.plot(trace.t, np.rad2deg(trace.yaw_world_base - trace.yaw_world_base[0]), label="ground truth")
    heading.plot(start.t, np.rad2deg(start.yaw - start.yaw[0]), "--", label="odometry")
    heading.set_ylabel("heading / deg")
    heading.set_xlabel("simulated time / s")
    heading.legend(fontsize="small")
    save_figure(figure, path)


def plot_columns(path: Path, title: str, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> None:
    """Draw one figure of each run against friction, a plot a column, a colour a case."""
    figure, plots = _figure(title, len(columns), (7.0, 2.2 * len(columns) + 0.8))
    for axes, (key, heading) in zip(plots, columns.items()):
        for case in dict.fromkeys(row["case"] for row in rows):
            points = sorted((row["friction"], row[key]) for row in rows if row["case"] == case and key in row)
            if points:
                axes.plot([p[0] for p in points], [p[1] for p in points], "o-", label=case)
        axes.set_ylabel(heading, fontsize="small")
    plots[0].legend(fontsize="small")
    plots[-1].set_xlabel("floor friction coefficient")
    save_figure(figure, path)


def plot_runs(path: Path, title: str, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> None:
    """Draw the numbers of every run, a plot a column, cases side by side, with mean and standard deviation.

    Parameters
    ----------
    path : pathlib.Path
        Picture file; its ending chooses the format.
    title : str
        Heading of the picture.
    rows : sequence of mapping
        Runs; the key label names the case.
    columns : mapping
        Key to heading. Keys without a finite float in any run are left out; `success` is drawn if none is left.
    """
    labels = list(dict.fromkeys(str(row.get("label", "")) for row in rows))
    numbers = {
        key: heading
        for key, heading in columns.items()
        if any(isinstance(row.get(key), float) and np.isfinite(row[key]) for row in rows)
    }
    if not numbers:
        numbers = {"success": "success"}
    figure, plots = _figure(
        title, len(numbers), (max(7.0, 0.45 * len(labels)), 1.9 * len(numbers) + 0.3 * len(labels) ** 0.5)
    )
    for axes, (key, heading) in zip(plots, numbers.items()):
        for x, label in enumerate(labels):
            found = [float(row[key]) for row in rows if str(row.get("label", "")) == label and row.get(key) is not None]
            values = np.array([value for value in found if np.isfinite(value)])
            if values.size:
                axes.plot(x + np.linspace(-0.2, 0.2, values.size), values, ".", color="tab:blue", markersize=4)
                axes.errorbar(
                    x, values.mean(), values.std(ddof=1) if values.size > 1 else 0.0, fmt="_", color="black", capsize=4
                )
        axes.set_ylabel(textwrap.fill(heading, 22), fontsize="small")
        axes.set_xticks(range(len(labels)))
        axes.set_xticklabels(
            labels if axes is plots[-1] else [], rotation=60 if len(labels) > 3 else 0, fontsize="small"
        )
    save_figure(figure, path)


def plot_traces(
    path: Path, title: str, times: np.ndarray, series: Mapping[str, Mapping[str, np.ndarray]], unit: str
) -> None:
    """Draw signals over time, those of one heading over each other: (m,) times in s, signals of m or fewer values."""
    figure, plots = _figure(title, len(series), (7.0, 1.9 * len(series) + 0.8))
    for axes, (heading, signals) in zip(plots, series.items()):
        for i, (label, values) in enumerate(signals.items()):
            count = min(len(times), len(values))
            axes.plot(times[:count], values[:count], ("-", "--")[i % 2], label=label, linewidth=1.1)
        axes.set_ylabel(f"{heading} / {unit}", fontsize="small")
    plots[0].legend(fontsize="small")
    plots[-1].set_xlabel("simulated time / s")
    save_figure(figure, path)


def _figure(title: str, count: int, size: Any) -> Any:
    figure = new_figure(size, show=False)
    figure.suptitle(title)
    plots = [figure.add_subplot(count, 1, i + 1) for i in range(count)]
    for axes in plots:
        axes.grid(True, alpha=0.3)
    return figure, plots


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure as PNG."""
    stream = io.BytesIO()
    figure.savefig(stream, dpi=110)
    write_file(path, stream.getvalue())
