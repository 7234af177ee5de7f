# SPDX-License-Identifier: MIT
"""Commands and status to ROS messages."""

from __future__ import annotations

from std_msgs.msg import Float64MultiArray, MultiArrayDimension, MultiArrayLayout

from shellbot_control import ArrivalStatus
from shellbot_gazebo_connector.connector_core import Command
from shellbot_msgs.msg import ReferenceStatus


def command_to_message(command: Command) -> Float64MultiArray:
    """Return the controllers' command; the first dimension's label carries the stamp, which ros_control ignores."""
    n = len(command.position)
    label = "" if command.stamp_ns is None else f"stamp:{command.stamp_ns}"
    layout = MultiArrayLayout(dim=[MultiArrayDimension(label=label, size=n, stride=n)])
    return Float64MultiArray(layout=layout, data=command.position.tolist())


def status_to_message(status: ArrivalStatus) -> ReferenceStatus:
    """Return the status without its header."""
    return ReferenceStatus(
        reached=status.reached,
        max_error=status.max_error,
        max_error_joint=status.max_error_joint,
        target_age=status.target_age,
        holding=status.holding,
        text=status.text,
    )
