# SPDX-License-Identifier: MIT
"""The controllers' parameter files, generated from the description.

``scripts/generate_controllers`` of this package writes them; ``--check`` compares.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, Tuple

import yaml

from shellbot_common import package_file
from shellbot_control.gains import CONTROLLER

JOINT_STATE_RATE_HZ = 100
# The integral may take half the servo's torque: enough against the sag of the loaded joints, too little to saturate one
# alone (estimate; I is 0 by default).
I_CLAMP_SHARE = 0.5

_HEADER = """\
# Controllers of the variant {variant}, as ros_control reads them; for every simulator.
# Generated from shellbot_description by scripts/generate_controllers of this package; do not edit, a test compares.
#   joints           the driven joints in the project's order, which is the order of the command
#   p [N·m/rad]      full torque over the servo's compliance slope (16 steps of 0.29 degrees); fan: times gear² / 6
#   i, d             0: the servos have neither; passive damping is in the URDF
#   i_clamp [N·m]    half the joint's torque: the most that the integral may add
"""


def config_folder() -> Path:
    """Return the folder ``config`` of this package."""
    return package_file("shellbot_control", "config")


def file_name(variant: str) -> str:
    """Return the name of a variant's file."""
    return f"controllers_{variant}.yaml"


def controllers_parameters(variant: str) -> Dict[str, Any]:
    """Derive the controllers' parameters of a variant.

    Parameters
    ----------
    variant : str
        One of ``shellbot_description.VARIANTS``.

    Returns
    -------
    dict
        What the file says: ``joint_state_controller`` and ``shellbot_legs_controller``.
    """
    from shellbot_description import driven_joint_names, joint_class, load_variables  # not needed to read the files

    variables = load_variables()
    joints = driven_joint_names(variant)
    legs: Dict[str, Any] = {"type": "effort_controllers/JointGroupPositionController", "joints": list(joints)}
    for joint in joints:
        name = joint_class(joint)
        clamp = round(I_CLAMP_SHARE * variables.effort(name), 4)
        legs[joint] = {
            "pid": {
                "p": round(variables.servo_stiffness(name), 2),
                "i": 0.0,
                "d": 0.0,
                "i_clamp_min": -clamp,
                "i_clamp_max": clamp,
                "antiwindup": True,
            }
        }
    states = {"type": "joint_state_controller/JointStateController", "publish_rate": JOINT_STATE_RATE_HZ}
    return {"joint_state_controller": states, CONTROLLER: legs}


def controllers_text(variant: str) -> str:
    """Return the file of a variant.

    Parameters
    ----------
    variant : str
        One of ``shellbot_description.VARIANTS``.

    Returns
    -------
    str
        YAML, one line per joint.
    """
    parameters = controllers_parameters(variant)
    legs = parameters[CONTROLLER]
    lines = [_HEADER.format(variant=variant), "joint_state_controller:"]
    lines += [f"  {key}: {value}" for key, value in parameters["joint_state_controller"].items()]
    lines += ["", f"{CONTROLLER}:", f"  type: {legs['type']}", "  joints:"]
    lines += [f"    - {joint}" for joint in legs["joints"]]
    for joint in legs["joints"]:
        pid = yaml.safe_dump(legs[joint]["pid"], default_flow_style=True, sort_keys=False, width=1000).strip()
        lines.append(f"  {joint}: {{pid: {pid}}}")
    return "\n".join(lines) + "\n"


def variants() -> Tuple[str, ...]:
    """Return the variants that have a file."""
    from shellbot_description import VARIANTS

    return tuple(VARIANTS)


def load_controllers(path: Path) -> Dict[str, Any]:
    """Read one of the files.

    Parameters
    ----------
    path : pathlib.Path
        The YAML file.

    Returns
    -------
    dict
        Its content.
    """
    with open(path, encoding="utf-8") as file:
        return dict(yaml.safe_load(file))
