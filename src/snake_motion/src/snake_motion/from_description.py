# SPDX-License-Identifier: MIT
"""What the engine must know of a robot, out of its URDF and profile."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Tuple

from shellbot_common import RobotProfile
from shellbot_control import JointLimits
from snake_motion.chassis import BodyGeometry
from snake_motion.config import EngineConfig
from snake_motion.errors import SnakeMotionError
from snake_motion.gait_table import ServoLimits


def read_description(
    urdf_text: str, profile: RobotProfile, config: EngineConfig
) -> Tuple[BodyGeometry, ServoLimits, JointLimits]:
    """Return sizes, the weakest servo's limits and the limits of all joints.

    Raises
    ------
    SnakeMotionError
        If the robot is no chain of pitch and yaw modules; names what is missing.
    """
    joints = JointLimits.from_urdf(urdf_text, profile.joints)
    robot = ElementTree.fromstring(urdf_text)
    first = next(j for j in robot.findall("joint") if j.get("name") == profile.joint_names[0])
    origin = first.find("origin")
    head = next((link for link in robot.findall("link") if link.get("name") == profile.base.link), None)
    box = head.find("collision/geometry/box") if head is not None else None
    kinds = tuple(profile.joints.values())
    if origin is None or box is None or any(k != ("yaw" if i % 2 else "pitch") for i, k in enumerate(kinds)):
        raise SnakeMotionError(
            f"{profile.name} is no chain of boxes with joints of the classes pitch, yaw, pitch, ...; "
            "load snake_description's description.launch"
        )
    # the head is half a module, so its joint is a quarter of a module behind its centre
    length = 4.0 * abs(float(origin.get("xyz", "0 0 0").split()[0]))
    _, width, height = (float(edge) for edge in box.get("size", "0 0 0").split())
    reach = min(float(min(-joints.lower.max(), joints.upper.min())), 3.14)
    limits = ServoLimits(reach, float(joints.velocity.min()), config.acceleration)
    return BodyGeometry(len(kinds), length, width, height), limits, joints
