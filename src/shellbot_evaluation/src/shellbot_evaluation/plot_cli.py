# SPDX-License-Identifier: MIT
"""Command line of scripts/plot: pictures of workspaces and frames."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

import shellbot_description as description
from shellbot_action_manager import load_config
from shellbot_action_manager.errors import ActionManagerError
from shellbot_kinematics import (
    Frame,
    KinematicsError,
    LegSet,
    SerialChain,
    ShellbotModel,
    joint_map,
    limb_reach,
    model_names,
    model_path,
    reach_cloud,
    reach_slice,
    singularity_map,
    stroke_reach,
    walkspace,
)

from .console import run_tool, say
from .errors import DefinitionError
from .plot_canvas import check_file, finish, new_figure

FOLDER = Path("results/plots")
_FRAMES = {"foot": Frame.FOOT, "sphere_centre": Frame.SPHERE_CENTRE}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--out", type=Path, metavar="FILE", help="picture, .png .svg .pdf (default results/plots/...)")
    common.add_argument("--show", action="store_true", help="open it in a window, too")
    robot = argparse.ArgumentParser(add_help=False)
    robot.add_argument("--leg", metavar="LEG", help="1 .. 6, lower_1 .. lower_6 or upper_1 .. upper_6")
    robot.add_argument("--fan", type=float, default=0.0, metavar="DEG", help="angle of the fans, degrees (default 0)")
    height = argparse.ArgumentParser(add_help=False)
    height.add_argument(
        "--height", type=float, metavar="M", help="body centre above the ground, m (default: the gait's)"
    )
    chain = argparse.ArgumentParser(add_help=False)
    chain.add_argument(
        "--model", type=Path, metavar="FILE", help="another robot: a YAML model or URDF, or ur5, puma560"
    )
    chain.add_argument("--base", help="first link of a URDF given by --model")
    chain.add_argument("--tip", help="last link of a URDF given by --model")
    chain.add_argument("--samples", type=int, default=20000, help="with --model: joints drawn (default 20000)")
    chain.add_argument("--seed", type=int, default=0, help="with --model: of the draw (default 0)")
    tip = argparse.ArgumentParser(add_help=False)
    tip.add_argument("--frame", choices=sorted(_FRAMES), help="tip (default: foot; upper legs: sphere_centre)")
    tip.add_argument("--step", type=float, default=0.002, metavar="M", help="spacing of the grid, m (default 0.002)")
    p = argparse.ArgumentParser(
        prog="scripts/plot",
        description="Pictures of what a limb reaches, where it is singular, how far feet may go, and of its frames.",
        epilog="example: scripts/plot walkspace --height 0.17 --out walkspace.png",
    )
    kinds = p.add_subparsers(dest="what", metavar="reach|walkspace|singularity|frames")
    kinds.add_parser(
        "reach", parents=[common, robot, height, tip, chain], help="region in the limb's plane, and seen from above"
    )
    walk = kinds.add_parser("walkspace", parents=[common, robot, height], help="stroke of the feet over the ground")
    walk.add_argument(
        "--gait", default="tripod", help="whose stance, lift and height are the defaults (default tripod)"
    )
    walk.add_argument(
        "--stance", type=float, metavar="M", help="radius on which the feet stand, m (default: the gait's)"
    )
    walk.add_argument("--lift", type=float, metavar="M", help="top of the swing, m (default: the gait's)")
    walk.add_argument(
        "--margin", type=float, metavar="DEG", help="kept to joint limits (default: the action manager's)"
    )
    singular = kinds.add_parser(
        "singularity", parents=[common, robot, tip, chain], help="smallest singular value and manipulability"
    )
    singular.add_argument("--joints", nargs=2, metavar="NAME", help="with --model: the two joints that are varied")
    frames = kinds.add_parser(
        "frames", parents=[common, robot, chain], help="joint frames of a limb or of all: --leg all"
    )
    frames.add_argument("--pose", default="stand", help=f"{', '.join(description.POSES)} (default stand)")
    frames.add_argument("--q", nargs="+", type=float, metavar="DEG", help="joints instead of a pose (mm if prismatic)")
    return p


def main(argv: Optional[List[str]] = None) -> int:
    """Run the tool; returns 0, or 2 after an error."""
    p = parser()
    arguments = p.parse_args(argv)
    if arguments.what is None:
        p.error("say what to draw: reach, walkspace, singularity or frames (--help)")
    return run_tool(lambda: _run(arguments))


def _run(arguments: argparse.Namespace) -> int:
    tools: Dict[str, Callable[[argparse.Namespace], Tuple[Any, str]]] = {
        "reach": _reach,
        "walkspace": _walkspace,
        "singularity": _singularity,
        "frames": _frames,
    }
    if arguments.out is not None:
        check_file(arguments.out)
    if not math.isfinite(arguments.fan):
        raise DefinitionError(f"--fan is {arguments.fan}; give degrees")
    try:
        figure, name = tools[arguments.what](arguments)
    except (KinematicsError, ActionManagerError, description.DescriptionError) as error:
        raise DefinitionError(str(error)) from None
    path = check_file(FOLDER / f"{name}.png") if arguments.out is None else arguments.out
    finish(figure, path, arguments.show)
    say(f"picture in {path}")
    return 0


def _limb(given: Optional[str], default: str = "lower_1") -> str:
    text = default if given is None else given
    return f"lower_{text}" if text.isdigit() else text


def _tip(arguments: argparse.Namespace, limb: str) -> Frame:
    if arguments.frame is not None:
        return _FRAMES[arguments.frame]
    return Frame.FOOT if limb.startswith("lower") else Frame.SPHERE_CENTRE


def _shellbot() -> ShellbotModel:
    return ShellbotModel(description.expand("simulation"))


def _stand(model: ShellbotModel, limb: str, count: int) -> np.ndarray:
    """Return the last joints of a limb when the robot stands, rad."""
    return description.named_pose_array("stand", "simulation")[model.columns(limb)][-count:]


def _fan(arguments: argparse.Namespace, model: ShellbotModel) -> float:
    fan = math.radians(arguments.fan)
    low, high = model.lower[0], model.upper[0]
    if not low - 1e-9 <= fan <= high + 1e-9:
        ends = f"{math.degrees(low):.1f} to {math.degrees(high):.1f}"
        raise DefinitionError(f"--fan {arguments.fan:g} is outside the fan's range, {ends} degrees")
    return fan


def _height(value: Optional[float], default: float, what: str = "--height") -> float:
    height = default if value is None else value
    if not 0.02 <= height <= 1.0:
        raise DefinitionError(f"{what} is {height}; expected 0.02 to 1 m")
    return height


def _chain(arguments: argparse.Namespace) -> SerialChain:
    """Return the chain of --model."""
    path: Path = arguments.model
    if not path.suffix and path.name in model_names():
        path = model_path(path.name)
    if not path.is_file():
        known = ", ".join(model_names())
        raise DefinitionError(
            f"--model {path} cannot be read: no such file; give a YAML model, a URDF, or one of {known}"
        )
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError(f"--model {path} cannot be read: {error}") from None
    if path.suffix.lower() in (".urdf", ".xml"):
        if arguments.base is None or arguments.tip is None:
            raise DefinitionError(f"--model {path} is a URDF: say which chain of it with --base LINK --tip LINK")
        return SerialChain.from_urdf(text, arguments.base, arguments.tip)
    return SerialChain.from_yaml(text)


def _reach(arguments: argparse.Namespace) -> Tuple[Any, str]:
    from . import plot_chain, plot_workspace

    if arguments.model is not None:
        chain = _chain(arguments)
        cloud = reach_cloud(chain, arguments.samples, np.random.default_rng(arguments.seed))
        figure = new_figure((14.0, 5.0), arguments.show)
        figure.suptitle(f"Reach of {chain.name}, joints drawn evenly between their limits")
        plot_chain.draw_cloud(figure, cloud, 0.05 * float(np.ptp(cloud.bounds, axis=0).max()))
        return figure, f"reach_{chain.name}"
    model, limb = _shellbot(), _limb(arguments.leg)
    height = _height(arguments.height, description.pose("stand").body_height)
    fan = _fan(arguments, model)
    reach = limb_reach(model, limb, _tip(arguments, limb), arguments.step)
    lower = reach.plane.is_lower
    figure = new_figure((13.0 if lower else 7.0, 6.6), arguments.show)
    swept = f", {1e3 * reach.volume:.1f} dm³ with the coxa" if lower else ""
    figure.suptitle(f"Reach within the joint limits{swept}")
    panels = figure.subplots(1, 2 if lower else 1, squeeze=False)[0]
    stand = _stand(model, limb, 2) if reach.plane.frame == Frame.FOOT or not lower else None
    plot_workspace.draw_reach(panels[0], reach, stand, -height if lower else None)
    if lower:
        every = LegSet.from_model(model, reach.plane.frame)
        legs = every if arguments.leg is None else every.pick(limb)
        cut = reach_slice(legs, -height, fan, arguments.step)
        coxa = np.array(
            [model.chain(name, Frame.FOOT).frame(f"{name}_fan_link", [fan, 0, 0, 0]) for name in legs.names]
        )
        length = legs.geometry[:, 12:14]  # fan axis to coxa axis in the axes of the leg
        turned = np.einsum("kij,kj->ki", coxa[:, :2, :2], length)
        plot_workspace.draw_slice(panels[1], cut, legs, coxa[:, :2, 3] + turned)
    return figure, f"reach_{limb}"


def _walkspace(arguments: argparse.Namespace) -> Tuple[Any, str]:
    from . import plot_workspace

    config, model = load_config(), _shellbot()
    if arguments.gait not in config.gaits:
        raise DefinitionError(f"--gait {arguments.gait} does not exist; choose from {', '.join(config.gaits)}")
    gait = config.gaits[arguments.gait]
    height = _height(arguments.height, gait.stance_height)
    stance = _height(arguments.stance, gait.stance_radius, "--stance")
    lift = gait.lift_height if arguments.lift is None else arguments.lift
    margin = config.joint_margin if arguments.margin is None else math.radians(arguments.margin)
    legs = LegSet.from_model(model)
    if arguments.leg is not None:
        legs = legs.pick(_limb(arguments.leg))
    fan = _fan(arguments, model)
    direction = legs.geometry[:, :2] / np.linalg.norm(legs.geometry[:, :2], axis=1, keepdims=True)
    radii = np.linspace(0.0, 0.2, 81)
    stroke = stroke_reach(legs, stance * direction, height, lift, None, margin, fan=fan, bearings=120, radii=radii)
    heights, stances = np.linspace(0.06, 0.24, 37), np.linspace(0.16, 0.40, 49)
    space = walkspace(legs.pick(legs.names[0]), heights, stances, lift, margin, fan=fan, radii=radii)
    figure = new_figure((13.0, 6.8), arguments.show)
    figure.suptitle(
        f"Walkspace: lift {1e3 * lift:.0f} mm, {math.degrees(margin):.1f}° kept to joint limits, fan {arguments.fan:g}°"
    )
    left, right = figure.subplots(1, 2)
    least = 1e3 * float(stroke.circle.min())
    title = f"from above: body at {1e3 * height:.1f} mm, stance {1e3 * stance:.0f} mm, circle {least:.0f} mm"
    plot_workspace.draw_strokes(left, stroke, stance, title)
    plot_workspace.draw_walkspace(figure, right, space, height, stance)
    return figure, f"walkspace_{1e3 * height:.0f}mm"


def _singularity(arguments: argparse.Namespace) -> Tuple[Any, str]:
    from . import plot_chain, plot_workspace

    if arguments.model is not None:
        chain = _chain(arguments)
        names = arguments.joints if arguments.joints is not None else list(chain.joint_names[1:3])
        if len(names) != 2:
            raise DefinitionError(f"chain '{chain.name}' has {chain.n} joints; name two that differ with --joints")
        whole = chain.n >= 6  # an arm that can choose its orientation is judged by all six coordinates
        length = 0.5 * float(np.linalg.norm(reach_cloud(chain, 500, np.random.default_rng(0)).p, axis=1).max())
        q = np.clip(np.full(chain.n, 0.5), chain.lower, chain.upper)
        found = joint_map(chain, (names[0], names[1]), q, 121, "pose" if whole else "position", length)
        figure = new_figure((12.0, 5.4), arguments.show)
        judged = f"all six coordinates, 1 rad as {1e3 * length:.0f} mm" if whole else "the position"
        figure.suptitle(f"Singularities of {chain.name}: {judged}; the other joints at 0.5")
        plot_chain.draw_joint_map(figure, found, chain)
        return figure, f"singularity_{chain.name}"
    model, limb = _shellbot(), _limb(arguments.leg)
    frame = _tip(arguments, limb)
    found_map = singularity_map(model, limb, frame, arguments.step)
    with np.errstate(invalid="ignore"):
        volume = np.where(np.isnan(found_map.manipulability), -np.inf, found_map.manipulability).max(axis=0)
    volume = np.where(np.isinf(volume), np.nan, volume)
    stand = _stand(model, limb, 2) if frame == Frame.FOOT or limb.startswith("upper") else None
    figure = new_figure((13.0, 6.4), arguments.show)
    figure.suptitle(f"How well {limb} moves its {frame.name.lower().replace('_', ' ')}, the better knee branch")
    left, right = figure.subplots(1, 2)
    plot_workspace.draw_singularity(
        figure, left, found_map, 1e3 * found_map.best(), "smallest singular value / mm/rad", stand
    )
    power = 3 if found_map.plane.is_lower else 2
    label = f"manipulability / cm{'³' if power == 3 else '²'}/rad{'³' if power == 3 else '²'}"
    plot_workspace.draw_singularity(figure, right, found_map, 100.0**power * volume, label, stand)
    return figure, f"singularity_{limb}"


def _frames(arguments: argparse.Namespace) -> Tuple[Any, str]:
    from . import plot_chain

    if arguments.model is not None:
        chain = _chain(arguments)
        q = _joints(arguments, chain) if arguments.q else np.zeros(chain.n)
        figure = new_figure((7.5, 7.0), arguments.show)
        figure.suptitle(f"Frames of {chain.name}")
        axes = figure.add_subplot(projection="3d")
        span = float(np.ptp(chain.frames(q)[:, :3, 3], axis=0).max()) or 1.0
        points = plot_chain.draw_frames(axes, chain, q, 0.08 * span)
        plot_chain.equal_box(axes, points, 100.0 * span)
        plot_chain.frame_legend(axes)
        return figure, f"frames_{chain.name}"
    model = _shellbot()
    everything = arguments.leg == "all"
    limbs = model.limbs if everything else ("lower_1", "upper_1") if arguments.leg is None else (_limb(arguments.leg),)
    if arguments.q and len(limbs) != 1:
        raise DefinitionError("--q is for one limb; name it with --leg")
    pose = description.named_pose_array(arguments.pose, "simulation")
    width = 1 if everything else len(limbs)
    figure = new_figure((7.4 * width, 6.8), arguments.show)
    figure.suptitle(f"Denavit-Hartenberg frames, {'given joints' if arguments.q else 'pose ' + arguments.pose}")
    drawn: List[np.ndarray] = []
    axes = None
    for i, limb in enumerate(limbs):
        if axes is None or not everything:
            axes = figure.add_subplot(1, width, i + 1, projection="3d")
            drawn = []
        chain, labels = _dh_chain(limb, model)
        q = _joints(arguments, chain) if arguments.q else pose[model.columns(limb)]
        quiet = [""] * len(labels)
        quiet[-1] = limb.replace("lower_", "L").replace("upper_", "U")
        size = 0.025 if everything else 0.032
        marks = ["" if everything and i else chain.base, *(quiet if everything else labels)]
        drawn.append(plot_chain.draw_frames(axes, chain, q, size, marks))
        plot_chain.equal_box(axes, np.vstack(drawn))
        plot_chain.frame_legend(axes)
        axes.view_init(elev=22, azim=-62)
        if not everything:
            axes.set_title(limb, fontsize=10)
    return figure, f"frames_{arguments.leg or 'legs'}"


def _joints(arguments: argparse.Namespace, chain: SerialChain) -> np.ndarray:
    """Return --q in rad and m."""
    if len(arguments.q) != chain.n:
        raise DefinitionError(f"--q has {len(arguments.q)} values; {chain.name} has {chain.n}: {chain.joint_names}")
    moving = [joint for joint in chain.joints if joint.name in chain.joint_names]
    return np.array([1e-3 * v if j.kind == "prismatic" else math.radians(v) for v, j in zip(arguments.q, moving)])


def _dh_chain(limb: str, model: ShellbotModel) -> Tuple[SerialChain, List[str]]:
    """Return a limb from its Denavit-Hartenberg table with its sphere centre, and what to write at its frames."""
    model.columns(limb)
    variables, k = description.load_variables(), int(limb.rsplit("_", 1)[1])
    if limb.startswith("lower"):
        chain = SerialChain.from_dh(description.dh_table_lower(variables, k), name=limb)
        return chain, ["0: fan, q1", "1: coxa, q2", "2: femur, q3", "3: tibia, q4", "4: foot"]
    rows = description.dh_table_upper(variables, k)
    chain = SerialChain.from_dh(rows, name=limb)
    centre = SerialChain([*chain.joints, _sphere_centre(model, limb)], name=limb)
    return centre, ["0: shoulder, q5", "1 and 2: shell, q6", " ", "sphere centre"]


def _sphere_centre(model: ShellbotModel, limb: str) -> Any:
    """Return the fixed joint from a limb's last Denavit-Hartenberg frame to its sphere centre, measured at q = 0."""
    from shellbot_kinematics import Joint

    variables, k = description.load_variables(), int(limb.rsplit("_", 1)[1])
    last = SerialChain.from_dh(description.dh_table_upper(variables, k), name=limb).fk(np.zeros(2))
    offset = np.linalg.inv(last) @ model.chain(limb, Frame.SPHERE_CENTRE).fk(np.zeros(2))
    u, _, vt = np.linalg.svd(offset[:3, :3])  # the URDF prints ten digits: orthonormal again
    offset[:3, :3] = u @ vt
    return Joint(f"{limb}_sphere_centre", "fixed", origin=offset)


if __name__ == "__main__":
    sys.exit(main())
