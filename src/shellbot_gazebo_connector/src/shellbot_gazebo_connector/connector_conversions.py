# SPDX-License-Identifier: MIT
"""Commands to ROS messages."""

from __future__ import annotations

from std_msgs.msg import Float64MultiArray, MultiArrayDimension, MultiArrayLayout

from shellbot_common import stamp_label
from shellbot_gazebo_connector.connector_core import Command


def command_to_message(command: Command) -> Float64MultiArray:
    """Return the controllers' command; the first dimension's label carries the stamp, which ros_control ignores.

    Its data are torques, N m, where the command has some, else positions, rad.
    """
    values = command.position if command.torque is None else command.torque
    n = len(values)
    label = "" if command.stamp_ns is None else stamp_label(command.stamp_ns)
    layout = MultiArrayLayout(dim=[MultiArrayDimension(label=label, size=n, stride=n)])
    return Float64MultiArray(layout=layout, data=values.tolist())
