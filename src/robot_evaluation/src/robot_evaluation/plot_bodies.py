# SPDX-License-Identifier: MIT
"""What the dynamics of a robot are made of, as a picture, and its motion under a law as a film: scripts/plot bodies."""

from __future__ import annotations

import argparse
import math
import warnings
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple, Union

import numpy as np

from robot_mechanics.dynamics import DynamicModel
from robot_mechanics.dynamics.cli import load
from robot_mechanics.dynamics.laws import Reference, computed_torque, gravity_pd, open_loop, pd_outside
from robot_mechanics.dynamics.simulation import DivergenceError, Motion, simulate, warn_of_step

from .console import say
from .errors import DefinitionError
from .pictures import find_ffmpeg, save_gif, save_mp4
from .plot_canvas import COLOURS, new_figure
from .plot_chain import equal_box

_MM = 1e3
_FRAME_S, _LONGEST = 0.05, 20.0  # s: of a picture of the film, of the film
_SLOW_S = 0.2  # s of a picture of a motion that diverges: one for each step
_ALONE = 20.0  # rad/s^2 (m/s^2) that a random torque would give to its joint alone
_CHANGE = 0.25  # s between random torques
_WAVE_S = 2.5  # period of what the laws are to follow
_FEEDBACK = {"gravity_pd": gravity_pd, "pd_outside": pd_outside, "computed_torque": computed_torque}
Gain = Union[float, np.ndarray]
LAWS = ("fall", "random", "open_loop", *_FEEDBACK)
METHODS = ("explicit", "semi_implicit", "rk4")


def add_parser(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add the command to those of scripts/plot."""
    text = "links, joint axes and centres of mass of any robot on a fixed base; with --film its motion under a law"
    p = commands.add_parser("bodies", parents=[common], help=text, description=text)
    p.add_argument("robot", help="a URDF file, or a model of the library (arm4)")
    p.add_argument(
        "--q", nargs="+", type=float, metavar="DEG", help="joints, in order (mm if prismatic); zero if not given"
    )
    p.add_argument("--film", type=Path, metavar="FILE", help="also a film, .gif, or .mp4 by ffmpeg")
    p.add_argument(
        "--law", choices=LAWS, default="random",
        help="of the film: no torque, random torques (default), or a swing by one of the control laws of the library",
    )  # fmt: skip
    p.add_argument(
        "--kp", type=float, help="gain of the law, N m/rad, of computed_torque 1/s^2 (default: poles at -10/s)"
    )
    p.add_argument("--kd", type=float, help="gain of the law, N m s/rad, of computed_torque 1/s")
    p.add_argument("--step", type=float, default=2.0, metavar="MS", help="of the integration (default 2)")
    p.add_argument("--method", choices=METHODS, default="semi_implicit", help="of the integration")
    p.add_argument("--seed", type=int, default=0, help="of random torques (default 0)")
    p.add_argument("--seconds", type=float, default=4.0, help="length of the film (default 4)")


def run(arguments: argparse.Namespace) -> Tuple[Any, str]:
    """Return the figure and its name; write the film."""
    model = load(arguments.robot, floating=False)
    q = _joints(arguments, model)
    if arguments.film is not None:
        _film(arguments, model, q)
    figure = new_figure((7.0, 7.5), arguments.show)
    figure.suptitle(f"Bodies of {model.tree.name}, {model.mass:.3f} kg")
    axes = figure.add_subplot(projection="3d")
    equal_box(axes, draw_bodies(axes, model, q, labels=True), 60.0)
    _legend(axes)
    return figure, f"bodies_{model.tree.name}"


def draw_bodies(axes: Any, model: DynamicModel, q: np.ndarray, labels: bool) -> np.ndarray:
    """Draw links, axes of the joints and centres of mass.

    Parameters
    ----------
    axes : mpl_toolkits.mplot3d.Axes3D
        Where to, in mm.
    model : DynamicModel
        The robot, on a fixed base.
    q : (n,) array
        Joint positions, rad or m.
    labels : bool
        Whether joints and links are named.

    Returns
    -------
    (m, 3) array
        Origins of the links and centres of mass, root frame, mm.
    """
    poses, table, tree = model.body_poses(q), model.table, model.tree
    T = {link: poses[table.body_of[link]] @ table.pose_in_body[link] for link in tree.links}  # noqa: N806
    points: List[np.ndarray] = [_MM * T[tree.root][:3, 3]]
    for joint in tree.evaluation_order:
        ends = _MM * np.array([T[joint.parent][:3, 3], T[joint.child][:3, 3]])
        points.append(ends[1])
        axes.plot(*ends.T, "-", color="0.3", linewidth=2.5, solid_capstyle="round")
        if joint.kind == "fixed":
            continue
        body = poses[table.body_of[joint.child]]
        axis = _MM * (body[:3, 3] + 0.04 * np.outer([-1.0, 1.0], body[:3, 2]))
        axes.plot(*axis.T, "-", color=COLOURS[3], linewidth=1.6)
        if labels:
            axes.text(*axis[1], joint.name + "   ", fontsize=8, color=COLOURS[3], ha="right")
    for link, inertia in model.inertias.items():
        if inertia.mass == 0.0:
            continue
        com = _MM * (T[link][:3, :3] @ inertia.com + T[link][:3, 3])
        points.append(com)
        axes.plot(*com, "o", color=COLOURS[0], markersize=20.0 * (inertia.mass / model.mass) ** (1.0 / 3.0), alpha=0.7)
        if labels:
            axes.text(*com, f"    {link}, {_MM * inertia.mass:.0f} g", fontsize=8, color=COLOURS[0], va="top")
    if model.mass > 0.0:
        axes.plot(*(_MM * model.centre_of_mass(q)), "x", color="k", markersize=9, markeredgewidth=2.0)
    return np.array(points)


def _joints(arguments: argparse.Namespace, model: DynamicModel) -> np.ndarray:
    if not arguments.q:
        return np.zeros(model.n)
    if len(arguments.q) != model.n:
        raise DefinitionError(
            f"--q has {len(arguments.q)} values; {model.tree.name} has {model.n}: {', '.join(model.joint_names)}"
        )
    if not np.isfinite(arguments.q).all():
        raise DefinitionError(f"--q is {' '.join(map(str, arguments.q))}; give finite numbers, deg (mm if prismatic)")
    prismatic = {joint.name for joint in model.tree.evaluation_order if joint.kind == "prismatic"}
    names = zip(arguments.q, model.joint_names)
    return np.array([1e-3 * value if name in prismatic else math.radians(value) for value, name in names])


def _legend(axes: Any) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color="0.3", linewidth=2.5, label="link"),
        Line2D([], [], color=COLOURS[3], label="axis of a joint"),
        Line2D([], [], color=COLOURS[0], marker="o", linestyle="", label="mass, at its centre"),
        Line2D([], [], color="k", marker="x", linestyle="", label="centre of all"),
    ]
    axes.legend(handles=handles, fontsize=8, loc="upper left", frameon=False)


def law_of(arguments: argparse.Namespace, model: DynamicModel, start: np.ndarray) -> Callable[..., np.ndarray]:
    """Return the law of the film.

    Parameters
    ----------
    arguments : argparse.Namespace
        `law`, one of LAWS, its gains `kp` and `kd`, and `seed`, of random torques.
    model : DynamicModel
        The robot, on a fixed base.
    start : (n,) array
        Joint positions about which the laws swing, rad or m.

    Returns
    -------
    callable
        From t (s), q and v (n,) (rad, rad/s; m, m/s) to the joints' torques or forces (n,), N m or N.
    """
    if arguments.law == "random":
        inertia = np.diag(model.mass_matrix(start))
        rng = np.random.default_rng(arguments.seed)
        torques = _ALONE * inertia * rng.uniform(-1.0, 1.0, (math.ceil(_LONGEST / _CHANGE) + 1, model.n))
        return lambda t, q, v: torques[int(t / _CHANGE)]
    if arguments.law == "fall":
        return lambda t, q, v: np.zeros(model.n)

    def reference(t: float) -> Reference:
        """Swing each joint about the start, from rest."""
        rate = 2.0 * math.pi / _WAVE_S
        wave = 0.5 * (1.0 - math.cos(rate * t)), 0.5 * rate * math.sin(rate * t), 0.5 * rate**2 * math.cos(rate * t)
        return Reference(start + wave[0], np.full(model.n, wave[1]), np.full(model.n, wave[2]))

    if arguments.law == "open_loop":
        return lambda t, q, v: open_loop(model, q, v, reference(t))
    kp, kd = _gains(arguments, model, start)
    return lambda t, q, v: _FEEDBACK[arguments.law](model, q, v, reference(t), kp=kp, kd=kd)


def _gains(arguments: argparse.Namespace, model: DynamicModel, start: np.ndarray) -> Tuple[Gain, Gain]:
    """Return the gains given, or those of poles at -10/s: outside the mass matrix of each joint alone."""
    own = 1.0 if arguments.law == "computed_torque" else np.diag(model.mass_matrix(start))
    return (
        100.0 * own if arguments.kp is None else arguments.kp,
        20.0 * own if arguments.kd is None else arguments.kd,
    )


def motion_of(arguments: argparse.Namespace, model: DynamicModel, start: np.ndarray) -> Tuple[Motion, bool]:
    """Return the motion of the film, and whether it diverges, which is said, and before whether the step is too great.

    Parameters
    ----------
    arguments, model, start
        As of `law_of`; and of the arguments `seconds`, `step` (ms) and `method`.
    """
    step = 1e-3 * arguments.step
    if arguments.law in _FEEDBACK:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it is said here
            inside = arguments.law == "computed_torque"
            text = warn_of_step(model, start, *_gains(arguments, model, start), step, arguments.method, inside)
        if text is not None:
            say(f"warning: {text}")
    elif arguments.kp is not None or arguments.kd is not None:
        raise DefinitionError(
            f"--law {arguments.law} has no gains; those with --kp and --kd are {', '.join(_FEEDBACK)}"
        )
    law, rest = law_of(arguments, model, start), np.zeros(model.n)
    try:
        return simulate(model, law, start, rest, arguments.seconds, step, arguments.method), False
    except DivergenceError as error:
        say(str(error))
        return error.motion, True


def _film(arguments: argparse.Namespace, model: DynamicModel, start: np.ndarray) -> None:
    path: Path = arguments.film
    savers: Dict[str, Any] = {".gif": save_gif, ".mp4": save_mp4}
    if path.suffix.lower() not in savers:
        raise DefinitionError(f"--film {path} does not end in .gif or .mp4; the ending chooses the format")
    if not 0.0 < arguments.seconds <= _LONGEST:
        raise DefinitionError(f"--seconds is {arguments.seconds:g}; expected above 0 to {_LONGEST:g}")
    if arguments.seed < 0:
        raise DefinitionError(f"--seed is {arguments.seed}; expected 0 or more")
    if path.suffix.lower() == ".mp4":
        find_ffmpeg(path)
    if not 0.0 < arguments.step <= _MM * _FRAME_S:
        raise DefinitionError(f"--step is {arguments.step:g} ms; expected above 0 to {_MM * _FRAME_S:g}")
    motion, diverges = motion_of(arguments, model, start)
    # what diverges does so within a few steps: each is shown, slowly
    each, frame_s = (1, _SLOW_S) if diverges else (round(_MM * _FRAME_S / arguments.step), _FRAME_S)
    times, shown = motion.t[::each], motion.q[::each]
    figure = new_figure((3.6, 3.8), False)
    axes = figure.add_subplot(projection="3d")
    room = np.vstack([draw_bodies(axes, model, q, labels=False) for q in shown[::4]])
    frames = []
    for t, q in zip(times, shown):
        axes.clear()
        draw_bodies(axes, model, q, labels=False)
        equal_box(axes, room)
        figure.canvas.draw()
        picture = np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()
        frames.append((f"{arguments.law}, {t:.{4 if diverges else 2}f} s", picture))
    path.parent.mkdir(parents=True, exist_ok=True)
    savers[path.suffix.lower()](path, frames, frame_s)
    say(f"film in {path}")
