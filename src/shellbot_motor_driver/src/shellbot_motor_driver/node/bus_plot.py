# SPDX-License-Identifier: MIT
"""A picture of the bus loop's times: lateness, tick, round trip, overhead, in percent over a logarithmic axis."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Mapping

from ax_tools.errors import ToolError
from shellbot_motor_driver.driving.timing import BINS, EDGES, Histogram

TITLES = {
    "lateness": "start of a tick after it was due",
    "tick_time": "start to end of a tick",
    "round_trip": "round trip of a READ",
    "overhead": "round trip over the wire's own time",
}


def plot(counts: Mapping[str, Any], figures: Mapping[str, Any], file: Path) -> None:
    """Write a picture.

    Parameters
    ----------
    counts : mapping
        ``lateness``, ``tick_time``, ``round_trip``, ``overhead``: counts of `Histogram`.
    figures : mapping
        `BusTiming.figures`.
    file : pathlib.Path
        Where to; the ending says the format, such as ``.png``.

    Raises
    ------
    ToolError
        If the file cannot be written.
    """
    # slow to import, and only wanted here
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 7.0), constrained_layout=True)
    FigureCanvasAgg(figure)
    edges_us = [1e6 * edge for edge in EDGES]
    for axes, (name, title) in zip(figure.subplots(2, 2).flat, TITLES.items()):
        given = list(counts.get(name, ()))
        histogram = Histogram(tuple(given)) if len(given) == BINS else Histogram()
        total = max(histogram.total, 1)
        percents = [100.0 * count / total for count in histogram.counts]
        # the first bin is below the first edge, the last above the last
        axes.stairs(percents[1:-1], edges_us, fill=True, alpha=0.6)
        for percent, style in ((50.0, "-"), (99.0, "--"), (99.9, ":")):
            value = 1e6 * histogram.percentile(percent)
            if value == value:
                axes.axvline(value, linestyle=style, color="black", linewidth=1.0, label=f"p{percent:g} {value:.0f} µs")
        axes.set_xscale("log")
        axes.set_xlabel("µs")
        axes.set_ylabel("% of all")
        axes.set_title(f"{title} ({histogram.total})", fontsize=10)
        if histogram.total:
            axes.legend(fontsize=8)
    parts = [
        f"{name.replace('_', ' ')} {figures[name]}"
        for name in ("ticks", "late_ticks", "retries", "timeouts", "bad_checksums")
        if name in figures
    ]
    figure.suptitle("bus: " + ", ".join(parts), fontsize=11)
    try:
        figure.savefig(str(file), dpi=110)
    except (OSError, ValueError) as error:
        raise ToolError(f"{file} cannot be written: {error}; choose another file with --output") from error
