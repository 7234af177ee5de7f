# SPDX-License-Identifier: MIT
"""Messages that the motion engine of every robot takes and gives."""

from __future__ import annotations

from typing import Sequence, Tuple, Type

import numpy as np
import rospy
from geometry_msgs.msg import Pose, PoseStamped, Twist
from sensor_msgs.msg import JointState

from shellbot_common.errors import SettingsError
from shellbot_common.rotations import quaternion_from_rpy, rpy_from_quaternion

ODOM = "odom"
_LENGTH_ERROR = 0.1  # of a quaternion: one typed with two digits passes, and is normalised


def pose_in_odom(
    message: PoseStamped, what: str, error: Type[SettingsError] = SettingsError
) -> Tuple[float, float, float]:
    """Return where a robot is to go: x, y (m) and yaw (rad) in odom.

    Parameters
    ----------
    message : PoseStamped
        In `odom`, or without a frame.
    what : str
        Name of the command, which begins the sentences of errors.
    error : type
        What is raised.

    Raises
    ------
    SettingsError
        If it is in another frame, its place is not finite, or its quaternion has not the length 1 (within 0.1).
    """
    frame, place, turn = message.header.frame_id.lstrip("/"), message.pose.position, message.pose.orientation
    if frame not in ("", ODOM):
        raise error(f"{what} is in the frame {frame!r}; give it in {ODOM}")
    if not np.isfinite([place.x, place.y]).all():
        raise error(f"{what} has the place ({place.x:g}, {place.y:g}); give two finite numbers, m")
    quaternion = (turn.x, turn.y, turn.z, turn.w)
    if not abs(np.linalg.norm(quaternion) - 1.0) <= _LENGTH_ERROR:
        raise error(f"{what} has the orientation {list(quaternion)}; give a quaternion of length 1")
    return place.x, place.y, rpy_from_quaternion(*quaternion)[2]


def twist_message(twist: Sequence[float]) -> Twist:
    """Return a message of forward m/s, leftward m/s, turning rad/s."""
    message = Twist()
    message.linear.x, message.linear.y, message.angular.z = twist
    return message


def pose_message(body_pose: Sequence[float]) -> Pose:
    """Return a message of x, y, z in m, roll, pitch, yaw in rad (about fixed axes, in this order)."""
    message = Pose()
    message.position.x, message.position.y, message.position.z = body_pose[:3]
    q = message.orientation
    q.x, q.y, q.z, q.w = quaternion_from_rpy(*body_pose[3:])
    return message


def targets_message(names: Sequence[str], position: np.ndarray, stamp: rospy.Time) -> JointState:
    """Return joint_targets.

    Parameters
    ----------
    names : sequence of str
        Joints, n of them.
    position : (n,) array
        Their angles, rad.
    stamp : rospy.Time
        Of the tick.
    """
    message = JointState(name=list(names), position=position.tolist())
    message.header.stamp = stamp
    return message
