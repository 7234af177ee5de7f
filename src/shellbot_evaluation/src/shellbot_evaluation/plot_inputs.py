# SPDX-License-Identifier: MIT
"""What the command line of scripts/plot means: limbs, frames, angles."""

from __future__ import annotations

import argparse
import math
from typing import Optional

import numpy as np

import shellbot_description as description
from robot_evaluation.errors import DefinitionError
from shellbot_kinematics import Frame, ShellbotModel

from .plot_parser import FRAMES


def limb_name(given: Optional[str]) -> str:
    """Return the name of the limb that --leg means."""
    text = "lower_1" if given is None else given
    return f"lower_{text}" if text.isdigit() else text


def tip_frame(arguments: argparse.Namespace, limb: str) -> Frame:
    """Return --frame, or the limb's usual tip."""
    if arguments.frame is not None:
        return FRAMES[arguments.frame]
    return Frame.FOOT if limb.startswith("lower") else Frame.SPHERE_CENTRE


def shellbot() -> ShellbotModel:
    """Return the model of the whole robot."""
    return ShellbotModel(description.expand("simulation"))


def stand_joints(model: ShellbotModel, limb: str) -> np.ndarray:
    """Return the last two joints of a limb when the robot stands, (2,) rad."""
    return description.named_pose_array("stand", "simulation")[model.columns(limb)][-2:]


def fan_angle(arguments: argparse.Namespace, model: ShellbotModel) -> float:
    """Return --fan in rad, within the fan's range."""
    fan = math.radians(arguments.fan)
    low, high = model.lower[0], model.upper[0]
    if not low - 1e-9 <= fan <= high + 1e-9:
        ends = f"{math.degrees(low):.1f} to {math.degrees(high):.1f}"
        raise DefinitionError(f"--fan {arguments.fan:g} is outside the fan's range, {ends} degrees")
    return fan


def checked_height(value: Optional[float], default: float, what: str = "--height") -> float:
    """Return a length in m that a leg may have to do with."""
    height = default if value is None else value
    if not 0.02 <= height <= 1.0:
        raise DefinitionError(f"{what} is {height}; expected 0.02 to 1 m")
    return height
