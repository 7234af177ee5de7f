# SPDX-License-Identifier: MIT
"""Plots of step responses: as they are, and with the proposed gains."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from robot_evaluation.plot_canvas import COLOURS, new_figure

from .response import Response

_SHOWN = 0.6  # s


def draw(title: str, responses: Mapping[str, Mapping[str, Sequence[Response]]], show: bool) -> Any:
    """Return a figure with a row for each class: position and torque of its joints over time.

    Parameters
    ----------
    title : str
        Above all.
    responses : mapping
        Class to series to responses; the series are "present" and perhaps "proposed".
    show : bool
        Whether it is for a window.
    """
    figure = new_figure((9.0, 2.1 * len(responses) + 0.8), show)
    figure.suptitle(title)
    for row, (kind, of_class) in enumerate(responses.items()):
        position, torque = (figure.add_subplot(len(responses), 2, 2 * row + column) for column in (1, 2))
        for colour, (series, joints) in zip(COLOURS, of_class.items()):
            for index, response in enumerate(joints):
                t, y = response.fine()
                label = series if index == 0 else None
                position.plot(1e3 * t, y, color=colour, linewidth=1.0, alpha=0.7, label=label)
                effort = np.sign(response.step) * (response.effort - response.effort[0])
                torque.plot(1e3 * response.t, effort, color=colour, linewidth=1.0, alpha=0.7)
        position.axhline(1.0, color="k", linestyle="--", linewidth=0.8)
        position.set_ylabel(f"{kind}: step done", fontsize="small")
        torque.set_ylabel("added torque / N m", fontsize="small")
        position.legend(fontsize="x-small", loc="lower right")
        for axes in (position, torque):
            axes.set_xlim(-5.0, 1e3 * _SHOWN)
            axes.grid(True, alpha=0.3, linewidth=0.6)
            axes.tick_params(labelsize="small")
            if row == len(responses) - 1:
                axes.set_xlabel("time after the step / ms", fontsize="small")
    return figure
