# SPDX-License-Identifier: MIT
"""Plots of a recorded run."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence

import numpy as np

from robot_evaluation.plot_canvas import COLOURS, new_figure

from .analysis import Tracking, commanded_velocity, intervals, measured_velocity, tracking
from .data import BagData

_AXES = (("forward / (m/s)", 1.0), ("left / (m/s)", 1.0), ("turn / (°/s)", np.degrees(1.0)))
_WIDTH = 9.0  # in
_TITLE: Dict[str, Any] = {"fontsize": "small", "loc": "left", "pad": 2}


def draw(data: BagData, parts: Sequence[str], show: bool) -> Any:
    """Return a figure with some of the parts tracking, latency, contacts, velocity, over the seconds of the run."""
    classes = tracking(data) if "tracking" in parts else []
    heights: List[float] = [1.5] * len(classes)
    heights += [2.0] if "latency" in parts else []
    contacts = list(data.contacts.items()) if "contacts" in parts else []
    heights += [0.5 + 0.16 * max(int(track.touching.any(axis=0).sum()), 1) for _, track in contacts]
    heights += [1.4] * 3 if "velocity" in parts else []
    figure = new_figure((_WIDTH, sum(heights) + 0.8), show)
    figure.suptitle(f"{data.file.rsplit('/', 1)[-1]}: {data.end - data.begin:.1f} s")
    first = figure.add_subplot(len(heights), 1, 1)
    axes = [first, *(figure.add_subplot(len(heights), 1, i + 2, sharex=first) for i in range(len(heights) - 1))]
    axes[0].get_gridspec().set_height_ratios(heights)
    for one in axes:
        one.grid(True, alpha=0.3, linewidth=0.6)
        one.tick_params(labelsize="small")
    rest = iter(axes)
    for of_class in classes:
        _tracking(next(rest), of_class, data.begin)
    if "latency" in parts:
        _latency(next(rest), data)
    for name, track in contacts:
        _contacts(next(rest), name, track, data.begin)
    if "velocity" in parts:
        _velocity([next(rest) for _ in range(3)], data)
    axes[-1].set_xlabel("time / s")
    return figure


def _tracking(axes: Any, of: Tracking, begin: float) -> None:
    worst = int(np.argmax(of.rms))
    t = of.t - begin
    axes.plot(t, np.degrees(of.commanded[:, worst]), "--", color=COLOURS[1], linewidth=1.0, label="commanded")
    axes.plot(t, np.degrees(of.measured[:, worst]), color=COLOURS[0], linewidth=1.0, label="measured")
    axes.set_ylabel(f"{of.names[worst]} / °", fontsize="small")
    error = axes.twinx()
    low, high = np.nanmin(of.error, axis=1), np.nanmax(of.error, axis=1)
    error.fill_between(t, np.degrees(low), np.degrees(high), color=COLOURS[2], alpha=0.25, linewidth=0.0)
    error.set_ylabel(f"errors of {len(of.names)} / °", fontsize="small", color=COLOURS[2])
    error.tick_params(labelsize="small", colors=COLOURS[2])
    axes.set_title(of.kind, **_TITLE)
    _legend(axes)


def _latency(axes: Any, data: BagData) -> None:
    for colour, (name, stamps) in zip(_many(), data.stamps.items()):
        stamp = np.unique(stamps.stamp)
        axes.plot(stamp[1:] - data.begin, 1e3 * np.diff(stamp), ".", markersize=2.5, color=colour, label=name)
    axes.set_ylabel("period of stamps / ms", fontsize="small")
    axes.set_ylim(0.0, 1.1 * axes.get_ylim()[1])
    _legend(axes)


def _contacts(axes: Any, name: str, track: Any, begin: float) -> None:
    shown = [(n, column) for n, column in zip(track.names, track.touching.T) if column.any()]
    for row, (colour, (_, column)) in enumerate(zip(_many(), shown)):
        bars = [(start - begin, end - start) for start, end in intervals(track.t, column)]
        axes.broken_barh(bars, (row - 0.4, 0.8), facecolors=colour)
    axes.set_yticks(range(len(shown)))
    axes.set_yticklabels([n for n, _ in shown], fontsize="x-small")
    axes.invert_yaxis()
    axes.set_title(name, **_TITLE)


def _velocity(plots: Sequence[Any], data: BagData) -> None:
    t = np.arange(data.begin, data.end, 0.02)
    commanded = commanded_velocity(data.cmd_vel, t)
    measured = {name: measured_velocity(track) for name, track in data.poses.items()}
    for i, (axes, (label, scale)) in enumerate(zip(plots, _AXES)):
        for colour, (name, (times, velocity)) in zip(COLOURS, measured.items()):
            axes.plot(times - data.begin, scale * velocity[:, i], color=colour, linewidth=1.0, label=name)
        axes.plot(t - data.begin, scale * commanded[:, i], "k--", linewidth=1.0, label="cmd_vel")
        axes.set_ylabel(label, fontsize="small")
    _legend(plots[0])


def _legend(axes: Any) -> None:
    """Put a legend above the plot, where it covers nothing."""
    axes.legend(
        fontsize="x-small", ncol=3, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.0, frameon=False
    )


def _many() -> Any:
    while True:
        yield from COLOURS
