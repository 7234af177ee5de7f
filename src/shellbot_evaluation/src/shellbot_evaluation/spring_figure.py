# SPDX-License-Identifier: MIT
"""The maps of the spring study, and three runs of it: scripts/plot stability."""

from __future__ import annotations

import argparse
from typing import Any, Tuple

import numpy as np
from scipy.optimize import brentq

from robot_evaluation.console import Progress, say
from robot_evaluation.plot_canvas import COLOURS, new_figure
from robot_evaluation.tables import markdown_table
from robot_evaluation.tuning.spring_study import Foot, damping_needed, growth, simulate, wander
from shellbot_common import TICK
from shellbot_description import robot_profile
from shellbot_kinematics.solver_config import SolverConfig

from .loop_experiment import DIGITS, GAINS, HEADS, loop_rows

MASS = 1.27  # kg: a third of Shellbot, of which three feet stand
LEVER = 0.12  # m from femur to foot: brings gains of the joint to the foot
STIFFNESS = robot_profile("simulation").classes["femur"].stiffness / LEVER**2  # N/m
FRICTION = 0.174 / LEVER**2  # N s/m, as scripts/tune finds it
CHOSEN = 0.1  # k of the report
OURS = float(np.ravel(SolverConfig().clik_gain)[0]) * TICK  # k of the solver clik here
SEED = 0
_COUNT = 36  # of each axis of a map
_TABLE, _DAMPING = (0.1, 0.5, 1.0, 1.5), (2.0, 400.0)  # k of the printed rows; N s/m between which d is looked for
_RUNS = ((FRICTION, 0.1), (25.0, 0.1), (16.0, 1.0))


def add_parser(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add the command to those of scripts/plot."""
    text = "where a foot on a one-sided spring is stable, over servo gains and closed-loop gain (docs/gains.md)"
    p = commands.add_parser("stability", parents=[common], help=text, description=text)
    p.add_argument("--timestep", type=float, default=0.001, metavar="S", help="of the physics, s (default 0.001)")
    p.add_argument("--chain", action="store_true", help="print what gains do on the robot in the simulator, too")


def run(arguments: argparse.Namespace) -> Tuple[Any, str]:
    """Return the figure and its name."""
    foot = Foot(MASS, timestep=arguments.timestep)
    needed = [{"k": k, "d": brentq(lambda d, k=k: growth(STIFFNESS, d, k, foot) - 1.0, *_DAMPING)} for k in _TABLE]
    say(markdown_table(needed, {"k": "k a tick", "d": "damping needed / (N s/m)"}, {"k": 1, "d": 1}))
    if arguments.chain:
        say(markdown_table(loop_rows(Progress(len(GAINS)).step), HEADS, DIGITS))
    figure = new_figure((10.0, 7.2), arguments.show)
    grid = figure.add_gridspec(2, 2)
    loop, servo, runs = (figure.add_subplot(place) for place in (grid[0, 0], grid[0, 1], grid[1, :]))
    k, d = np.linspace(0.02, 2.0, _COUNT), np.geomspace(5.0, 200.0, _COUNT)
    _map(loop, foot, k, d, lambda x, y: (STIFFNESS, y, x))
    loop.set_xlabel("k of the closed loop, a tick of 10 ms")
    for chosen, colour, label in ((CHOSEN, "w", "report, 0.1"), (OURS, "k", "here, 0.5")):
        loop.axvline(chosen, color=colour, linestyle=":", linewidth=1.4, label=label)
    loop.axhline(FRICTION, color="k", linestyle="--", linewidth=0.8, label="servo's friction")
    loop.legend(fontsize="x-small", loc="upper right")
    p = np.geomspace(100.0, 1e4, _COUNT)
    mesh = _map(servo, foot, p, d, lambda x, y: (x, y, CHOSEN))
    figure.colorbar(mesh, ax=[loop, servo], label="wanders by, RMS / mm")
    servo.plot(p, damping_needed(p, foot), "k--", linewidth=0.8, label="(p + ground) dt")
    servo.axvline(STIFFNESS, color="k", linestyle=":", linewidth=1.4, label="servo's stiffness")
    servo.set_xscale("log")
    servo.set_xlabel("p at the foot / (N/m), k = 0.1")
    servo.legend(fontsize="x-small", loc="upper right")
    for colour, (damping, gain) in zip(COLOURS, _RUNS):
        t, z = simulate(np.array(STIFFNESS), np.array(damping), np.array(gain), foot, 3.0, SEED)
        runs.plot(t, 1e3 * z, color=colour, linewidth=1.0, label=f"d = {damping:.0f} N s/m, k = {gain:g}")
    runs.set_xlabel("time / s")
    runs.set_ylabel("foot above the ground / mm")
    runs.grid(True, alpha=0.3)
    runs.legend(fontsize="x-small", loc="upper left")
    return figure, "stability"


def _map(axes: Any, foot: Foot, x: np.ndarray, y: np.ndarray, gains: Any) -> Any:
    """Draw how far the foot wanders, and where theory says that it is stable; return the map."""
    from matplotlib.colors import LogNorm  # takes long to load, and the command line names this module

    columns, rows = np.meshgrid(x, y)
    p, d, k = gains(columns, rows)
    off = np.maximum(1e3 * wander(p, d, k, foot, seed=SEED), 1e-3)
    mesh = axes.pcolormesh(columns, rows, off, norm=LogNorm(0.01, 50.0), cmap="viridis", shading="nearest")
    radius = np.vectorize(lambda p, d, k: growth(p, d, k, foot))(p, d, k)
    axes.contour(columns, rows, radius, levels=[1.0], colors="tab:red", linewidths=1.6)
    axes.plot([], [], color="tab:red", linewidth=1.6, label="stable above")
    axes.set_yscale("log")
    axes.set_ylabel("d at the foot / (N s/m)")
    return mesh
