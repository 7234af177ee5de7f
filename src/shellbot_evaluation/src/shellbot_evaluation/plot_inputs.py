# SPDX-License-Identifier: MIT
"""What the command line of scripts/plot means: limbs, frames, angles, and chains of other robots."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Optional

import numpy as np

import shellbot_description as description
from robot_evaluation.errors import DefinitionError
from robot_mechanics import SerialChain, model_names, model_path
from shellbot_kinematics import Frame, ShellbotModel

from .plot_parser import FRAMES


def limb_name(given: Optional[str], default: str = "lower_1") -> str:
    """Return the name of the limb that --leg means."""
    text = default if given is None else given
    return f"lower_{text}" if text.isdigit() else text


def tip_frame(arguments: argparse.Namespace, limb: str) -> Frame:
    """Return --frame, or the limb's usual tip."""
    if arguments.frame is not None:
        return FRAMES[arguments.frame]
    return Frame.FOOT if limb.startswith("lower") else Frame.SPHERE_CENTRE


def shellbot() -> ShellbotModel:
    """Return the model of the whole robot."""
    return ShellbotModel(description.expand("simulation"))


def stand_joints(model: ShellbotModel, limb: str, count: int) -> np.ndarray:
    """Return the last joints of a limb when the robot stands, rad."""
    return description.named_pose_array("stand", "simulation")[model.columns(limb)][-count:]


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


def chain_of(arguments: argparse.Namespace) -> SerialChain:
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
    if arguments.base is not None or arguments.tip is not None:
        raise DefinitionError(f"--model {path} is no URDF, so it says itself where it ends; leave --base and --tip out")
    return SerialChain.from_yaml(text)


def given_joints(arguments: argparse.Namespace, chain: SerialChain) -> np.ndarray:
    """Return --q in rad and m."""
    if len(arguments.q) != chain.n:
        raise DefinitionError(f"--q has {len(arguments.q)} values; {chain.name} has {chain.n}: {chain.joint_names}")
    moving = [joint for joint in chain.joints if joint.name in chain.joint_names]
    return np.array([1e-3 * v if j.kind == "prismatic" else math.radians(v) for v, j in zip(arguments.q, moving)])
