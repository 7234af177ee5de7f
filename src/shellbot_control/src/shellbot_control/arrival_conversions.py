# SPDX-License-Identifier: MIT
"""The arrival status as a message, for connector and motor driver."""

from __future__ import annotations

import rospy

from shellbot_control.arrival import ArrivalStatus
from shellbot_msgs.msg import ReferenceStatus


def status_message(status: ArrivalStatus, stamp: rospy.Time) -> ReferenceStatus:
    """Return the arrival status."""
    message = ReferenceStatus(
        reached=status.reached,
        max_error=status.max_error,
        max_error_joint=status.max_error_joint,
        target_age=status.target_age,
        holding=status.holding,
        text=status.text,
    )
    message.header.stamp = stamp
    return message
