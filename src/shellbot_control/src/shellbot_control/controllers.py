# SPDX-License-Identifier: MIT
"""The controllers' parameter files, generated from profile and URDF of a robot.

``scripts/generate_controllers`` of this package prints them.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any, Dict

import yaml

from shellbot_common import RobotProfile
from shellbot_control.joint_limits import JointLimits

JOINT_STATE_RATE_HZ = 100
# The integral may take half the servo's torque: enough against the sag of the loaded joints, too little to saturate one
# alone (estimate; I is 0 by default).
I_CLAMP_FRACTION = 0.5

_HEADER = """\
# Controllers of {robot}, as ros_control reads them; for every simulator.
# Generated from its profile and URDF by generate_controllers of shellbot_control; do not edit.
#   joints           the driven joints in the profile's order, which is the order of the command
#   p [N·m/rad]      stiffness of the joint's class in the profile
#   i, d             0: the servos have neither; passive damping is in the URDF
#   i_clamp [N·m]    half the joint's torque: the most that the integral may add
"""


def controllers_parameters(profile: RobotProfile, urdf_text: str) -> Dict[str, Any]:
    """Derive the controllers' parameters of a robot.

    Parameters
    ----------
    profile : RobotProfile
        Of the variant.
    urdf_text : str
        Its robot description.

    Returns
    -------
    dict
        What the file says: ``joint_state_controller`` and the profile's controller.

    Raises
    ------
    ConfigurationError, ProfileError
        If the URDF lacks a joint, a limit or a link that the profile names.
    """
    limits = JointLimits.from_urdf(urdf_text, profile.joints)
    profile.check_links(str(link.get("name")) for link in ElementTree.fromstring(urdf_text).findall("link"))
    controller: Dict[str, Any] = {
        "type": "effort_controllers/JointGroupPositionController",
        "joints": list(profile.joints),
    }
    for (joint, name), effort in zip(profile.joints.items(), limits.effort):
        clamp = round(I_CLAMP_FRACTION * float(effort), 4)
        controller[joint] = {
            "pid": {
                "p": round(profile.classes[name].stiffness, 2),
                "i": 0.0,
                "d": 0.0,
                "i_clamp_min": -clamp,
                "i_clamp_max": clamp,
                "antiwindup": True,
            }
        }
    states = {"type": "joint_state_controller/JointStateController", "publish_rate": JOINT_STATE_RATE_HZ}
    return {"joint_state_controller": states, profile.controller: controller}


def controllers_text(profile: RobotProfile, urdf_text: str) -> str:
    """Return the file of a robot: YAML, one line per joint; parameters as `controllers_parameters`."""
    parameters = controllers_parameters(profile, urdf_text)
    controller = parameters[profile.controller]
    robot = profile.name + (f", variant {profile.variant}" if profile.variant else "")
    lines = [_HEADER.format(robot=robot), "joint_state_controller:"]
    lines += [f"  {key}: {value}" for key, value in parameters["joint_state_controller"].items()]
    lines += ["", f"{profile.controller}:", f"  type: {controller['type']}", "  joints:"]
    lines += [f"    - {joint}" for joint in controller["joints"]]
    for joint in controller["joints"]:
        pid = yaml.safe_dump(controller[joint]["pid"], default_flow_style=True, sort_keys=False, width=1000).strip()
        lines.append(f"  {joint}: {{pid: {pid}}}")
    return "\n".join(lines) + "\n"
