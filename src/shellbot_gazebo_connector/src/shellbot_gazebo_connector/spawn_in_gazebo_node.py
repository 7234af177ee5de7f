# SPDX-License-Identifier: MIT
"""Node ``spawn_in_gazebo``: runs gazebo_ros' spawn_model with the profile's arguments, and says when it is done.

It is required: without the robot the launch ends. With it, the program becomes one that sleeps, as its own end would
end the launch, too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import List

import rospy

from shellbot_common import ProfileError, RobotProfile
from shellbot_common.robot_profile import PARAMETER
from shellbot_gazebo_connector.spawn_arguments import SPAWNED, spawn_arguments


def command_line(profile: RobotProfile, arguments: List[str]) -> List[str]:
    """Return what to run: ``spawn_in_gazebo [spawn_model's own arguments] [remappings]``."""
    return ["rosrun", "gazebo_ros", "spawn_model", *spawn_arguments(profile), *arguments[1:]]


def main() -> None:
    """Run spawn_model; its last step, a second after the model is there, is to turn the joints to the spawn pose."""
    try:
        line = command_line(RobotProfile.from_text(rospy.get_param(PARAMETER, "")), sys.argv)
    except ProfileError as error:
        sys.exit(str(error))
    status = subprocess.call(line)
    if status:
        sys.exit(
            f"the robot was not spawned: rosrun gazebo_ros spawn_model ended with {status}; its words are above, and "
            "docs/install.md names what it needs (python3-tf)"
        )
    rospy.set_param(SPAWNED, True)
    os.execvp("sleep", ["sleep", "infinity"])
