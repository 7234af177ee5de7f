# SPDX-License-Identifier: MIT
"""Node ``spawn_in_gazebo``: becomes gazebo_ros' spawn_model with the arguments of the description."""

from __future__ import annotations

import os
import sys
from typing import List

import rospy

from shellbot_gazebo_connector.spawn_arguments import spawn_arguments


def command_line(arguments: List[str]) -> List[str]:
    """Return what to run: ``spawn_in_gazebo [VARIANT] [spawn_model's own arguments] [remappings]``."""
    own = rospy.myargv(arguments)[1:]
    remappings = [word for word in arguments[1:] if word not in own]
    variant = own[0] if own and not own[0].startswith("-") else "simulation"
    extra = own[1:] if own and not own[0].startswith("-") else own
    return ["rosrun", "gazebo_ros", "spawn_model", *spawn_arguments(variant), *extra, *remappings]


def main() -> None:
    """Run spawn_model in the place of this process, so that roslaunch sees it end."""
    line = command_line(sys.argv)
    os.execvp(line[0], line)
