# SPDX-License-Identifier: MIT
"""Node ``spawn_in_gazebo``: becomes gazebo_ros' spawn_model with the arguments of the profile."""

from __future__ import annotations

import os
import sys
from typing import List

import rospy

from shellbot_common import ProfileError, RobotProfile
from shellbot_common.robot_profile import PARAMETER
from shellbot_gazebo_connector.spawn_arguments import spawn_arguments


def command_line(profile: RobotProfile, arguments: List[str]) -> List[str]:
    """Return what to run: ``spawn_in_gazebo [spawn_model's own arguments] [remappings]``."""
    return ["rosrun", "gazebo_ros", "spawn_model", *spawn_arguments(profile), *arguments[1:]]


def main() -> None:
    """Run spawn_model in the place of this process, so that roslaunch sees it end."""
    try:
        line = command_line(RobotProfile.from_text(rospy.get_param(PARAMETER, "")), sys.argv)
    except ProfileError as error:
        sys.exit(str(error))
    os.execvp(line[0], line)
