# SPDX-License-Identifier: MIT
"""A required node that has done its work ends its launch without the red words of a death."""

from __future__ import annotations

import os
import signal

import psutil
import rospy


def end_launch(name: str) -> None:
    """End the launch that started this node as Ctrl-C does, if it does not end already.

    The node is required: roslaunch would end everything after it, too, but call its end a death, in red.
    """
    parent = psutil.Process(os.getppid())
    if not rospy.is_shutdown() and "roslaunch" in " ".join(parent.cmdline()):
        rospy.loginfo("%s: done; ending everything", name)
        parent.send_signal(signal.SIGINT)
        rospy.spin()
