# SPDX-License-Identifier: MIT
"""Figures of a recording: body, feet and joints over time; of a gait also foot paths, stance and swing."""

from __future__ import annotations

from typing import Any, List, Sequence, Tuple

import numpy as np

from robot_evaluation.plot_canvas import COLOURS, equal_axes

from .preview import Recording

_NAMED = 0.035  # of the duration: a shorter step has no room for its name
_LEAST_SPAN = 4.0  # deg and mm: less is not enlarged to fill a plot
_UP = 1e-3  # m: a foot that is higher is drawn as swinging


def draw_action(figure: Any, recording: Recording, marks: Sequence[int] = ()) -> List[Any]:
    """Draw body pose, foot heights and moving joints over time, steps shaded in turn; return the axes.

    Parameters
    ----------
    figure : matplotlib figure or subfigure
        Empty.
    recording : Recording
        What the robot did.
    marks : sequence of int
        Ticks that are marked: those of the pictures.
    """
    groups = recording.groups()
    rows = (3 + len(groups) + 1) // 2
    panels = figure.subplots(rows, 2, sharex=True, squeeze=False).ravel().tolist()
    t = recording.t
    _draw_signals(panels[0], t, 1e3 * recording.position, ("x ahead", "y to the left", "z up"))
    panels[0].set_ylabel("body position / mm")
    _draw_signals(panels[1], t, np.degrees(recording.attitude), ("roll", "pitch", "yaw"))
    panels[1].set_ylabel("body attitude / deg")
    _draw_legs(panels[2], t, 1e3 * recording.foot_height, range(1, recording.foot_height.shape[1] + 1))
    panels[2].set_ylabel("foot height / mm")
    _draw_joints(panels[3:], recording, groups)
    for spare in panels[3 + len(groups) :]:
        spare.remove()
    used = panels[: 3 + len(groups)]
    for i, axes in enumerate(used):
        axes.set_xlim(0.0, t[-1])
        axes.grid(True, alpha=0.25, linewidth=0.6)
        low, high = axes.get_ylim()
        if high - low < _LEAST_SPAN:
            axes.set_ylim(0.5 * (low + high - _LEAST_SPAN), 0.5 * (low + high + _LEAST_SPAN))
        _shade(axes, recording, t[-1], i < 2)
        _mark(axes, t[list(marks)])
    for axes in used[-2:]:
        axes.tick_params(labelbottom=True)
        axes.set_xlabel("t / s" + ("   (triangles: the pictures)" if len(marks) else ""))
    return used


def draw_gait(figure: Any, recording: Recording, duty_factor: float, marks: Sequence[int] = ()) -> List[Any]:
    """Draw foot paths, stance and swing, foot heights and moving joints of a gait; return the axes.

    Parameters
    ----------
    figure : matplotlib figure or subfigure
        Empty.
    recording : Recording
        Of a gait.
    duty_factor : float
        Fraction of the cycle in which the gait lets a foot stand.
    marks : sequence of int
        Ticks that are marked: those of the pictures.
    """
    groups = recording.groups()
    grid = figure.add_gridspec(2 + len(groups), 2, width_ratios=(1.0, 1.25))
    above = figure.add_subplot(grid[:-2, 0])
    side = figure.add_subplot(grid[-2:, 0])
    diagram = figure.add_subplot(grid[0, 1])
    over_time = [diagram, *(figure.add_subplot(grid[1 + i, 1], sharex=diagram) for i in range(1 + len(groups)))]
    _draw_paths(above, side, recording)
    t = recording.t
    _draw_stance(diagram, t, recording, duty_factor)
    _draw_legs(over_time[1], t, 1e3 * recording.foot_height, range(1, recording.foot_height.shape[1] + 1), legend=False)
    over_time[1].set_ylabel("foot height / mm")
    _draw_joints(over_time[2:], recording, groups)
    for axes in over_time:
        axes.set_xlim(0.0, t[-1])
        axes.grid(True, axis="x" if axes is diagram else "both", alpha=0.25, linewidth=0.6)
        axes.tick_params(labelbottom=axes is over_time[-1])
        _mark(axes, t[list(marks)])
    over_time[-1].set_xlabel("t / s" + ("   (triangles: the pictures)" if len(marks) else ""))
    return [above, side, *over_time]


def _draw_paths(above: Any, side: Any, recording: Recording) -> None:
    """Draw the feet's paths under the body, from above and from the left; where they swing, dashed."""
    feet, swings = 1e3 * recording.feet, recording.foot_height > _UP
    for leg in range(feet.shape[1]):
        stance, swing = (np.where(where[:, None], feet[:, leg], np.nan) for where in (~swings[:, leg], swings[:, leg]))
        for axes, (i, j) in ((above, (0, 1)), (side, (0, 2))):
            axes.plot(stance[:, i], stance[:, j], color=COLOURS[leg], linewidth=4.5, alpha=0.35)
            axes.plot(swing[:, i], swing[:, j], "--", color=COLOURS[leg], linewidth=1.1)
        middle = feet[:, leg].mean(axis=0)
        above.annotate(f"{leg + 1}", 1.18 * middle[:2], ha="center", va="center", color=COLOURS[leg])
    above.plot(0.0, 0.0, "k+", markersize=9)
    above.margins(0.12)
    equal_axes(above, "x, ahead of the body", "y, to its left")
    above.set_title("foot paths from above: stance thick, swing dashed", fontsize=10)
    side.grid(True, alpha=0.25, linewidth=0.6)
    side.set_xlabel("x, ahead of the body / mm")
    side.set_ylabel("z, above the ground / mm")
    side.set_title("and from the right side (z enlarged)", fontsize=10)


def _draw_stance(axes: Any, t: np.ndarray, recording: Recording, duty_factor: float) -> None:
    """Draw when feet stand: pale by the gait's phase, dark by the simulator's contacts."""
    contact, planned = recording.contact, recording.phase < duty_factor
    legs = contact.shape[1]
    for leg in range(legs):
        for where, height, alpha in ((planned[:, leg], 0.8, 0.3), (contact[:, leg], 0.3, 1.0)):
            axes.broken_barh(_spans(t, where), (leg + 1 - 0.5 * height, height), color=COLOURS[leg], alpha=alpha,
                             linewidth=0.0)  # fmt: skip
    axes.set_ylim(legs + 0.6, 0.4)
    axes.set_yticks(range(1, legs + 1))
    axes.set_ylabel("leg")
    axes.set_title("stance: pale by the gait, dark with load on the foot", fontsize=10)


def _spans(t: np.ndarray, where: np.ndarray) -> List[Tuple[float, float]]:
    """Return begin and length of each time in which `where` holds."""
    tick = t[1] - t[0] if len(t) > 1 else 0.0
    edges = np.flatnonzero(np.diff(np.concatenate(([False], where, [False])).astype(int)))
    return [(float(t[i]), float(t[j - 1] - t[i] + tick)) for i, j in zip(edges[::2], edges[1::2])]


def _draw_joints(panels: Sequence[Any], recording: Recording, groups: Any) -> None:
    t, joints = recording.t, np.degrees(recording.joints)
    for axes, (kind, columns) in zip(panels, groups.items()):
        numbers = [int(recording.joint_names[i].split("_")[1]) for i in columns]
        _draw_legs(axes, t, joints[:, columns], numbers, legend=False)
        axes.plot(t, np.degrees(recording.commanded[:, columns]), "--", color="0.15", linewidth=0.6)
        axes.set_ylabel(f"{kind} / deg")


def _draw_legs(axes: Any, t: np.ndarray, values: np.ndarray, numbers: Sequence[int], legend: bool = True) -> None:
    for column, number in zip(values.T, numbers):
        axes.plot(t, column, color=COLOURS[(number - 1) % len(COLOURS)], linewidth=1.3, label=f"leg {number}")
    if legend:
        axes.plot([], [], "--", color="0.15", linewidth=0.6, label="joints: commanded")
        axes.legend(fontsize=7, ncol=2, loc="upper right")


def _draw_signals(axes: Any, t: np.ndarray, values: np.ndarray, names: Sequence[str]) -> None:
    for column, name, colour in zip(values.T, names, ("#d62728", "#2ca02c", "#1f77b4")):
        axes.plot(t, column, color=colour, linewidth=1.3, label=name)
    axes.legend(fontsize=7, loc="lower right")


def _mark(axes: Any, times: np.ndarray) -> None:
    """Mark the times of the pictures; nothing drawn has no extent, which would upset the layout."""
    if len(times):
        axes.plot(times, np.zeros(len(times)), "^", color="0.3", markersize=4, clip_on=False,
                  transform=axes.get_xaxis_transform())  # fmt: skip


def _shade(axes: Any, recording: Recording, end: float, named: bool) -> None:
    """Shade every second step, and write the names of those that have room."""
    begins = recording.boundaries
    for i, (begin, name) in enumerate(begins):
        until = begins[i + 1][0] if i + 1 < len(begins) else end
        if i % 2:
            axes.axvspan(begin, until, color="0.5", alpha=0.12, linewidth=0.0)
        if named and until - begin > _NAMED * end:
            axes.text(0.5 * (begin + until), 1.02, name, rotation=30, fontsize=8, ha="left", va="bottom",
                      rotation_mode="anchor", transform=axes.get_xaxis_transform())  # fmt: skip
