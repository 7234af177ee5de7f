# SPDX-License-Identifier: MIT
"""Geometry, masses, limits, named poses, meshes and xacro of the Shellbot spherical hexapod."""

from shellbot_description.dh import (
    DhRow,
    dh_table_lower,
    dh_table_upper,
    dh_transform,
    foot_to_lower_sphere_centre,
    shell_to_upper_sphere_centre,
    sphere_centre_in_foot,
    sphere_centre_in_shell,
)
from shellbot_description.errors import DescriptionError
from shellbot_description.exclusions import colliding_links, collision_exclusions
from shellbot_description.expansion import SIMULATORS, expand
from shellbot_description.files import package_path
from shellbot_description.loading import load_variables
from shellbot_description.names import (
    JOINT_CLASSES,
    VARIANTS,
    driven_joint_names,
    joint_class,
    motor_joint_names,
)
from shellbot_description.poses import POSES, Pose, named_pose, named_pose_array, pose
from shellbot_description.profile import complete_profile, robot_profile
from shellbot_description.variables import Variables

__all__ = [
    "DescriptionError",
    "DhRow",
    "JOINT_CLASSES",
    "POSES",
    "Pose",
    "SIMULATORS",
    "VARIANTS",
    "Variables",
    "colliding_links",
    "collision_exclusions",
    "complete_profile",
    "dh_table_lower",
    "dh_table_upper",
    "dh_transform",
    "driven_joint_names",
    "expand",
    "foot_to_lower_sphere_centre",
    "joint_class",
    "load_variables",
    "motor_joint_names",
    "named_pose",
    "named_pose_array",
    "package_path",
    "pose",
    "robot_profile",
    "shell_to_upper_sphere_centre",
    "sphere_centre_in_foot",
    "sphere_centre_in_shell",
]
