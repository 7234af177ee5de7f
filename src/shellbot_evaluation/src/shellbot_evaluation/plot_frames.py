# SPDX-License-Identifier: MIT
"""Pictures of the Denavit-Hartenberg frames of Shellbot's limbs."""

from __future__ import annotations

import argparse
from typing import Any, List, Tuple

import numpy as np

import shellbot_description as description
from robot_evaluation.errors import DefinitionError
from robot_evaluation.plot_canvas import new_figure
from robot_evaluation.plot_model import given_joints
from robot_mechanics import Joint, SerialChain
from shellbot_kinematics import Frame, ShellbotModel

from .plot_inputs import limb_name, shellbot


def frames(arguments: argparse.Namespace) -> Tuple[Any, str]:
    """Draw the Denavit-Hartenberg frames of limbs."""
    from robot_evaluation import plot_chain

    model = shellbot()
    everything = arguments.leg == "all"
    limbs = (
        model.limbs if everything else ("lower_1", "upper_1") if arguments.leg is None else (limb_name(arguments.leg),)
    )
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
        chain, labels = dh_chain(limb, model)
        q = given_joints(arguments, chain) if arguments.q else pose[model.columns(limb)]
        quiet = [*[""] * (len(labels) - 1), " "]  # a triad at the end alone
        size = 0.025 if everything else 0.032
        marks = ["" if everything and i else chain.base, *(quiet if everything else labels)]
        points = plot_chain.draw_frames(axes, chain, q, size, marks)
        drawn.append(points)
        if everything:  # its name where it is not among the others: feet and sphere centres may all meet in the middle
            far = points[np.argmax(np.linalg.norm(points, axis=1))]
            axes.text(*(1.06 * far), limb.replace("lower_", "L").replace("upper_", "U"), fontsize=8)
        plot_chain.equal_box(axes, np.vstack(drawn))
        plot_chain.frame_legend(axes)
        axes.view_init(elev=22, azim=-62)
        if not everything:
            axes.set_title(limb, fontsize=10)
    return figure, f"frames_{arguments.leg or 'legs'}"


def dh_chain(limb: str, model: ShellbotModel) -> Tuple[SerialChain, List[str]]:
    """Return a limb from its Denavit-Hartenberg table with its sphere centre, and what to write at its frames."""
    model.columns(limb)
    variables, k = description.load_variables(), int(limb.rsplit("_", 1)[1])
    if limb.startswith("lower"):
        chain = SerialChain.from_dh(description.dh_table_lower(variables, k), name=limb)
        return chain, ["0: fan, q1", "1: coxa, q2", "2: femur, q3", "3: tibia, q4", "4: foot"]
    chain = SerialChain.from_dh(description.dh_table_upper(variables, k), name=limb)
    # a fixed joint from the last frame to the sphere centre, measured at q = 0
    offset = np.linalg.inv(chain.fk(np.zeros(2))) @ model.chain(limb, Frame.SPHERE_CENTRE).fk(np.zeros(2))
    u, _, vt = np.linalg.svd(offset[:3, :3])  # the URDF prints ten digits: orthonormal again
    offset[:3, :3] = u @ vt
    centre = SerialChain([*chain.joints, Joint(f"{limb}_sphere_centre", "fixed", origin=offset)], name=limb)
    return centre, ["0: shoulder, q5", "1 and 2: shell, q6", " ", "sphere centre"]
