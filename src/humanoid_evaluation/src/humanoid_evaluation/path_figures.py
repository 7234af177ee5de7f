# SPDX-License-Identifier: MIT
"""Pictures of the thesis's cases: paths of the walks and angles of the turns, beside odometry, command and thesis."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Sequence, Tuple

import numpy as np

from humanoid_evaluation.campaign import Run, thesis
from robot_evaluation.plot_canvas import COLOURS, new_figure

_THESIS = {"real": ("*", "real robot"), "gazebo": ("^", "Gazebo"), "ode": ("s", "ODE"), "bullet": ("D", "Bullet")}
_NAMES = {"mujoco": "MuJoCo", "bullet": "Bullet"}
Row = Mapping[str, Any]


def paths_figure(runs: Sequence[Run]) -> Any:
    """Return the picture of the walks, a row a speed: seen from above, and their ends, larger.

    Parameters
    ----------
    runs : sequence of Run
        Of the campaign in one simulator, with their paths; nothing is drawn of turns.
    """
    by_speed = _by_speed("distances")
    figure = new_figure((7.2, 2.9 * len(by_speed)), False)
    _entitle(figure, runs, "+")
    plots = figure.subplots(len(by_speed), 2, squeeze=False, gridspec_kw={"width_ratios": (1.45, 1.0)})
    for (above, ends), (speed, cases) in zip(plots, by_speed.items()):
        for name, colour, row in cases:
            for path in _paths_of(runs, name):
                true, own = path["true"], path["odometry"]
                above.plot(true["x_m"], true["y_m"], color=colour, linewidth=1.0)
                above.plot(own["x_m"], own["y_m"], "--", color="black", linewidth=0.4)
                for track, fill in ((own, "none"), (true, colour)):
                    end = 1e3 * (track["x_m"][-1] - row["distance"]), 1e3 * track["y_m"][-1]
                    ends.plot(*end, "o", markersize=5, markeredgecolor=colour, markerfacecolor=fill)
            above.plot(row["distance"], 0.0, "+", color="black", markersize=10, zorder=4)
            for who, (mark, _) in _THESIS.items():
                above.plot(*row[who], mark, color=colour, markersize=6, markerfacecolor="none")
            ends.plot([], [], "o", color=colour, label=f"{name}, {row['distance']:g} m")
        ends.plot(0.0, 0.0, "+", color="black", markersize=10)
        above.set(xlim=(-0.15, 3.2), ylim=(-0.3, 2.1), ylabel="left / m", title=f"{speed:g} m/s")
        ends.set(xlim=(-60.0, 25.0), ylim=(-42.5, 42.5), ylabel="left / mm", title="ends; open: odometry")
        ends.legend(fontsize=8, loc="upper left")
        for axes in (above, ends):
            axes.set_aspect("equal", adjustable="box")
            axes.grid(True, alpha=0.25, linewidth=0.6)
    _name_marks(plots[0][0])
    plots[-1][0].set_xlabel("ahead / m")
    plots[-1][1].set_xlabel("ahead of the commanded end / mm")
    return figure


def angles_figure(runs: Sequence[Run]) -> Any:
    """Return the picture of the turns over time, a column a speed, and by how much the odometry is off.

    Parameters
    ----------
    runs : sequence of Run
        As of `paths_figure`; nothing is drawn of walks.
    """
    by_speed = _by_speed("angles")
    figure = new_figure((9.5, 6.5), False)
    _entitle(figure, runs, "dotted")
    plots = figure.subplots(
        2, len(by_speed), squeeze=False, sharex="col", sharey="row", gridspec_kw={"height_ratios": (2.6, 1.0)}
    )
    for (turned, off), (speed, cases) in zip(plots.T, by_speed.items()):
        last = 0.0
        for name, colour, row in cases:
            turned.axhline(row["angle"], color=colour, linestyle=":", linewidth=1.0)
            for path in _paths_of(runs, name):
                true, own = (np.array(path[of]["turn_deg"]) for of in ("true", "odometry"))
                time = path["period_s"] * np.arange(len(true))
                turned.plot(time, true, color=colour, linewidth=1.0)
                turned.plot(time, own, "--", color="black", linewidth=0.4)
                off.plot(time, own - true, color=colour, linewidth=0.6)
                last = max(last, float(time[-1]))
            turned.plot([], [], color=colour, label=f"{name}, {row['angle']:g}°")
        for _, colour, row in cases:
            for who, (mark, _) in _THESIS.items():
                turned.plot(1.07 * last, row[who], mark, color=colour, markersize=6, markerfacecolor="none")
        turned.set_title(f"{speed:g} deg/s")
        turned.legend(fontsize=8, loc="lower left")
        off.set_xlabel("simulated time / s")
        for axes in (turned, off):
            axes.grid(True, alpha=0.25, linewidth=0.6)
    _name_marks(plots[0][0])
    plots[0][0].set_ylabel("turned to the left / deg")
    plots[1][0].set_ylabel("odometry off / deg")
    return figure


def _entitle(figure: Any, runs: Sequence[Run], command: str) -> None:
    name = _NAMES.get(runs[0]["engine"], runs[0]["engine"])
    figure.suptitle(f"{name}; solid: truth, dashed: odometry, {command}: command", fontsize=10)


def _by_speed(kind: str) -> Dict[float, List[Tuple[str, str, Row]]]:
    """Return name, colour and figures of the cases by their speed, long walks first: short ones lie on them."""
    found: Dict[float, List[Tuple[str, str, Row]]] = {}
    for name, row in reversed(list(thesis()[kind].items())):
        cases = found.setdefault(row["speed"], [])
        cases.append((name, COLOURS[len(cases)], row))
    return {speed: found[speed] for speed in sorted(found)}


def _paths_of(runs: Sequence[Run], name: str) -> List[Mapping[str, Any]]:
    return [run["path"] for run in runs if run["case"] == name]


def _name_marks(axes: Any) -> None:
    """Add what the thesis's marks mean, beside the legend that is there."""
    before = axes.get_legend()
    marks = [axes.plot([], [], mark, color="0.3", markerfacecolor="none")[0] for mark, _ in _THESIS.values()]
    axes.legend(marks, [f"thesis: {name}" for _, name in _THESIS.values()], fontsize=8, loc="upper left")
    if before is not None:
        axes.add_artist(before)
