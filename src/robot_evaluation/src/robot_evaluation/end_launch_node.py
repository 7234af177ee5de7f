# SPDX-License-Identifier: MIT
"""A required node that has done its work ends its launch without the red words of a death."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import rospy


def end_launch(name: str) -> None:
    """End the launch that started this node as Ctrl-C does, if it does not end already.

    The node is required: roslaunch would end everything after it, too, but call its end a death, in red.
    """
    parent = os.getppid()
    if not rospy.is_shutdown() and b"roslaunch" in Path(f"/proc/{parent}/cmdline").read_bytes():
        rospy.loginfo("%s: done; ending everything", name)
        os.kill(parent, signal.SIGINT)
        rospy.spin()
