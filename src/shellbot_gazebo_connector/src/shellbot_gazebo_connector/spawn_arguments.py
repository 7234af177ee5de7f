# SPDX-License-Identifier: MIT
"""Arguments of gazebo_ros' spawn_model, from the description: pose of the joints and height of the body."""

from __future__ import annotations

from typing import List

# Above the height at which the feet touch: a model that starts in the ground is thrown out of it.
CLEARANCE_M = 0.002
MODEL_NAME = "shellbot"


def spawn_arguments(variant: str, pose_name: str = "spawn") -> List[str]:
    """Return the arguments that put the robot on the ground in a named pose.

    Parameters
    ----------
    variant : str
        One of ``shellbot_description.VARIANTS``.
    pose_name : str
        A named pose of the description.

    Returns
    -------
    list of str
        Arguments for ``rosrun gazebo_ros spawn_model``.
    """
    from shellbot_description import named_pose, pose

    height = pose(pose_name).body_height + CLEARANCE_M
    arguments = ["-urdf", "-param", "robot_description", "-model", MODEL_NAME, "-z", f"{height:.4f}"]
    for joint, angle in named_pose(pose_name, variant).items():
        arguments += ["-J", joint, f"{angle:.6f}"]
    return arguments
