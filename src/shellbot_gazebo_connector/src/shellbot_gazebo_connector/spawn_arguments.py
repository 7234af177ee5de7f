# SPDX-License-Identifier: MIT
"""Arguments of gazebo_ros' spawn_model, from the profile: pose of the joints and place of the base."""

from __future__ import annotations

import math
from typing import List

from shellbot_common import RobotProfile

# Above the height at which the feet touch: a model that starts in the ground is thrown out of it.
CLEARANCE_M = 0.002
SPAWNED = "/robot_is_spawned"  # parameter: the model is there, with its joints in the spawn pose


def spawn_arguments(profile: RobotProfile) -> List[str]:
    """Return the arguments of ``rosrun gazebo_ros spawn_model`` that set the robot on the ground in its spawn pose."""
    pose = profile.base.spawn_pose
    x, y, z = profile.base.position
    z += profile.poses[pose].get("body_height_m", 0.0) + CLEARANCE_M
    place = dict(zip("xyzRPY", (x, y, z, *map(math.radians, profile.base.rpy_deg))))
    arguments = ["-urdf", "-param", "robot_description", "-model", profile.name]
    for name, number in place.items():
        arguments += [f"-{name}", f"{number:.6f}"]
    for joint, angle in profile.pose(pose).items():
        arguments += ["-J", joint, f"{angle:.6f}"]
    return arguments
