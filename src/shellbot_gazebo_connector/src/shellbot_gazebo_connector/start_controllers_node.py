# SPDX-License-Identifier: MIT
"""Node ``start_controllers``: loads controllers and starts all of them in one step of Gazebo.

ros_control's own ``spawner`` stops its controllers as it ends. By then Ctrl-C has ended Gazebo's steps, so they cannot
stop; Gazebo waits for this call, and roslaunch for Gazebo, for 15 s until it escalates.

It is required: without controllers the launch ends. With them, the program becomes one that sleeps, as its own end
would end the launch, too.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any, List

import rospy

from shellbot_common.init_node import init_node


def start(manager: Any, names: List[str]) -> None:
    """Load and start controllers.

    Parameters
    ----------
    manager : module
        controller_manager.controller_manager_interface; its calls wait for their services, which Gazebo has once the
        robot is spawned, and the start waits for Gazebo's next step.
    names : list of str
        Of the controllers, whose parameters are loaded.

    Raises
    ------
    SystemExit
        If one cannot be loaded, or they cannot be started.
    """
    for name in names:
        if not manager.load_controller(name):
            sys.exit(f"Gazebo cannot load the controller {name}; its reason is in Gazebo's output above")
    if not manager.start_controllers(names):
        sys.exit(f"Gazebo cannot start the controllers {', '.join(names)}; its reason is in Gazebo's output above")


def main() -> None:
    """Run the node: ``start_controllers CONTROLLER ...``."""
    from controller_manager import controller_manager_interface  # of ros_control, where Gazebo is

    init_node("start_controllers")
    try:
        start(controller_manager_interface, rospy.myargv()[1:])
    except (rospy.ServiceException, rospy.ROSException):  # Gazebo ended first
        if not rospy.is_shutdown():
            raise
        return
    with contextlib.suppress(AttributeError):  # Debian 11's rospy asks its threads for isAlive, at the very end
        rospy.signal_shutdown("the controllers run")
    os.execvp("sleep", ["sleep", "infinity"])
