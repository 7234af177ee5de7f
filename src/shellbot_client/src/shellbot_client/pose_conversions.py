# SPDX-License-Identifier: MIT
"""Messages to the plain numbers of the mission."""

from __future__ import annotations

import math
from typing import Tuple

import numpy as np
from nav_msgs.msg import Odometry

from shellbot_common.rotations import yaw_from_quaternion
from shellbot_msgs.msg import Walkspace


def position_and_quaternion(message: Odometry) -> Tuple[Tuple[float, float, float], Tuple[float, float, float, float]]:
    """Return position (m) and orientation (x, y, z, w) of an odometry message."""
    p, q = message.pose.pose.position, message.pose.pose.orientation
    return (p.x, p.y, p.z), (q.x, q.y, q.z, q.w)


def planar_pose(message: Odometry) -> Tuple[float, float, float]:
    """Return x, y in m and yaw in rad of an odometry message."""
    (x, y, _), q = position_and_quaternion(message)
    return x, y, float(yaw_from_quaternion(np.array(q)))


def greatest_acceleration(message: Walkspace) -> Tuple[float, float, float]:
    """Return the greatest acceleration of the gait, m/s^2, m/s^2, rad/s^2; infinite before the first message.

    Zero, where the posed body leaves the legs no room, stays zero.
    """
    if not message.gait:
        return math.inf, math.inf, math.inf
    most = message.max_acceleration
    return most.linear.x, most.linear.y, most.angular.z
