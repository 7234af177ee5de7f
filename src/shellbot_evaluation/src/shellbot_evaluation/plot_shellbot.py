# SPDX-License-Identifier: MIT
"""Pictures of Shellbot's limbs. Each function returns a figure and a name for its file."""

from __future__ import annotations

import argparse
import math
from typing import Any, Tuple

import numpy as np

import shellbot_description as description
from robot_evaluation.errors import DefinitionError
from robot_evaluation.plot_canvas import new_figure
from shellbot_action_manager.config import load_config
from shellbot_kinematics import (
    Frame,
    LegSet,
    Walkspace,
    limb_reach,
    reach_slice,
    singularity_map,
    stroke_reach,
    walkspace,
)

from .plot_inputs import checked_height, fan_angle, limb_name, shellbot, stand_joints, tip_frame


def reach(arguments: argparse.Namespace) -> Tuple[Any, str]:
    """Draw what a limb reaches in its plane, and the legs at one height."""
    from . import plot_workspace

    model, limb = shellbot(), limb_name(arguments.leg)
    height = checked_height(arguments.height, description.pose("stand").body_height)
    fan = fan_angle(arguments, model)
    found = limb_reach(model, limb, tip_frame(arguments, limb), arguments.step)
    lower = found.plane.is_lower
    figure = new_figure((13.0 if lower else 7.0, 6.6), arguments.show)
    swept = f", {1e3 * found.volume:.1f} dm³ with the coxa" if lower else ""
    figure.suptitle(f"Reach within the joint limits{swept}")
    panels = figure.subplots(1, 2 if lower else 1, squeeze=False)[0]
    stand = stand_joints(model, limb) if found.plane.frame == Frame.FOOT or not lower else None
    plot_workspace.draw_reach(panels[0], found, stand, -height if lower else None)
    if lower:
        every = LegSet.from_model(model, found.plane.frame)
        legs = every if arguments.leg is None else every.pick(limb)
        cut = reach_slice(legs, -height, fan, arguments.step)
        if not cut.reached.any():
            deepest = -float(found.z[found.branches.any(axis=1)].min())
            raise DefinitionError(
                f"--height {height:g}: no leg reaches so far below the body; give {deepest:.3f} or less"
            )
        coxa = np.array(
            [model.chain(name, Frame.FOOT).frame(f"{name}_fan_link", [fan, 0, 0, 0]) for name in legs.names]
        )
        length = legs.geometry[:, 12:14]  # fan axis to coxa axis in the axes of the leg
        turned = np.einsum("kij,kj->ki", coxa[:, :2, :2], length)
        plot_workspace.draw_slice(panels[1], cut, legs, coxa[:, :2, 3] + turned)
    return figure, f"reach_{limb}"


def walkspace_of(arguments: argparse.Namespace) -> Tuple[Any, str]:
    """Draw how far the feet may go over the ground, and that over stance and height."""
    from . import plot_workspace

    config, model = load_config(), shellbot()
    if arguments.gait not in config.gaits:
        raise DefinitionError(f"--gait {arguments.gait} does not exist; choose from {', '.join(config.gaits)}")
    gait = config.gaits[arguments.gait]
    height = checked_height(arguments.height, gait.stance_height)
    stance = checked_height(arguments.stance, gait.stance_radius, "--stance")
    lift = gait.lift(1.0) if arguments.lift is None else arguments.lift
    margin = config.joint_margin if arguments.margin is None else math.radians(arguments.margin)
    legs = LegSet.from_model(model)
    if arguments.leg is not None:
        legs = legs.pick(limb_name(arguments.leg))
    fan = fan_angle(arguments, model)
    direction = legs.geometry[:, :2] / np.linalg.norm(legs.geometry[:, :2], axis=1, keepdims=True)
    radii = np.linspace(0.0, 0.2, 81)
    stroke = stroke_reach(legs, stance * direction, height, lift, None, margin, fan=fan, bearings=120, radii=radii)
    heights, stances = np.linspace(0.06, 0.24, 37), np.linspace(0.16, 0.40, 49)
    space = walkspace(legs.pick(legs.names[0]), heights, stances, lift, margin, fan=fan, radii=radii)
    if not stroke.circle.any():
        raise DefinitionError(_no_stroke(space, height, stance, margin))
    figure = new_figure((13.0, 6.8), arguments.show)
    figure.suptitle(
        f"Walkspace: lift {1e3 * lift:.0f} mm, joint limits' margin {math.degrees(margin):.1f}°, fan {arguments.fan:g}°"
    )
    left, right = figure.subplots(1, 2)
    least = 1e3 * float(stroke.circle.min())
    title = f"from above: body at {1e3 * height:.1f} mm, stance {1e3 * stance:.0f} mm, circle {least:.0f} mm"
    plot_workspace.draw_strokes(left, stroke, stance, title, [int(name[-1]) for name in legs.names])
    plot_workspace.draw_walkspace(figure, right, space, height, stance)
    return figure, f"walkspace_{1e3 * height:.0f}mm"


def _no_stroke(space: Walkspace, height: float, stance: float, margin: float) -> str:
    allowed = space.common > 0.0
    if not allowed.any():
        return f"no leg has a stroke with {math.degrees(margin):.1f} degrees margin to joint limits; give less --margin"
    low, high = space.height[allowed.any(axis=1)][[0, -1]]
    near, far = space.stance[allowed.any(axis=0)][[0, -1]]
    return (
        f"no leg has a stroke with --height {height:g} and --stance {stance:g}; "
        f"there is one within heights of {low:.3f} to {high:.3f} m and stances of {near:.3f} to {far:.3f} m"
    )


def singularity(arguments: argparse.Namespace) -> Tuple[Any, str]:
    """Draw how well a limb moves its tip, over its plane."""
    from . import plot_workspace

    model, limb = shellbot(), limb_name(arguments.leg)
    frame = tip_frame(arguments, limb)
    found_map = singularity_map(model, limb, frame, arguments.step)
    with np.errstate(invalid="ignore"):
        volume = np.where(np.isnan(found_map.manipulability), -np.inf, found_map.manipulability).max(axis=0)
    volume = np.where(np.isinf(volume), np.nan, volume)
    stand = stand_joints(model, limb) if frame == Frame.FOOT or limb.startswith("upper") else None
    figure = new_figure((13.0, 5.6 if found_map.plane.is_lower else 6.2), arguments.show)
    figure.suptitle(f"How well {limb} moves its {frame.name.lower().replace('_', ' ')}, the better knee branch")
    left, right = figure.subplots(1, 2)
    plot_workspace.draw_singularity(
        figure, left, found_map, 1e3 * found_map.best(), "smallest singular value / mm/rad", stand
    )
    power = 3 if found_map.plane.is_lower else 2
    label = f"manipulability / cm{'³' if power == 3 else '²'}/rad{'³' if power == 3 else '²'}"
    plot_workspace.draw_singularity(figure, right, found_map, 100.0**power * volume, label, stand)
    return figure, f"singularity_{limb}"
