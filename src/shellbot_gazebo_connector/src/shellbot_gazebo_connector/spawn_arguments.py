# SPDX-License-Identifier: MIT
"""Arguments of gazebo_ros' spawn_model, from the profile: pose of the joints and height of the body."""

from __future__ import annotations

from typing import List

from shellbot_common import RobotProfile

# Above the height at which the feet touch: a model that starts in the ground is thrown out of it.
CLEARANCE_M = 0.002
SPAWNED = "/robot_is_spawned"  # parameter: the model is there, with its joints in the spawn pose


def spawn_arguments(profile: RobotProfile) -> List[str]:
    """Return the arguments of ``rosrun gazebo_ros spawn_model`` that set the robot on the ground in its spawn pose."""
    pose = profile.base.spawn_pose
    height = profile.poses[pose].get("body_height_m", profile.base.position[2]) + CLEARANCE_M
    arguments = ["-urdf", "-param", "robot_description", "-model", profile.name, "-z", f"{height:.4f}"]
    for joint, angle in profile.pose(pose).items():
        arguments += ["-J", joint, f"{angle:.6f}"]
    return arguments
