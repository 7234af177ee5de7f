# SPDX-License-Identifier: MIT
"""Odometry estimate to nav_msgs/Odometry and to the transforms odom -> base_footprint -> base_link."""

from __future__ import annotations

import math
from typing import Tuple

import numpy as np
import rospy
from geometry_msgs.msg import Point, Quaternion, TransformStamped, Twist, Vector3
from nav_msgs.msg import Odometry

from shellbot_action_manager.estimation.odometry import OdometryState
from shellbot_action_manager.interface import ContactEstimate
from shellbot_common.rotations import quaternion_from_rpy
from shellbot_msgs.msg import FootContacts

ODOM_FRAME, FOOTPRINT_FRAME, BASE_FRAME = "odom", "base_footprint", "base_link"

_LEVEL_VARIANCE = 1e-4  # m^2, rad^2: of height, roll and pitch; estimate, 1 cm and 0.6 degrees
_TWIST_VARIANCE = 1e-3  # (m/s)^2, (rad/s)^2; estimate


def contacts_from_message(message: FootContacts) -> ContactEstimate:
    """Return the contacts of a message; where no foot stands, the model "feet" keeps the place as "none" does."""
    feet = np.array([[p.x, p.y, p.z] for p in message.position])
    return ContactEstimate(np.array(message.contact, dtype=bool), np.array(message.phase), feet)


def odometry_to_message(state: OdometryState, stamp: rospy.Time) -> Odometry:
    """Return the pose of base_footprint in odom and its twist, with covariances."""
    message = Odometry(child_frame_id=FOOTPRINT_FRAME)
    message.header.stamp, message.header.frame_id = stamp, ODOM_FRAME
    message.pose.pose.position = Point(state.x, state.y, 0.0)
    message.pose.pose.orientation = Quaternion(*quaternion_from_rpy(0.0, 0.0, state.yaw))
    floor = 1e-6  # m^2: a covariance of exactly zero upsets filters
    diagonal = [state.position_variance + floor] * 2 + [_LEVEL_VARIANCE] * 3 + [state.yaw_variance]
    message.pose.covariance = np.diag(diagonal).ravel().tolist()
    vx, vy, w = state.twist.tolist()
    message.twist.twist = Twist(linear=Vector3(vx, vy, 0.0), angular=Vector3(0.0, 0.0, w))
    message.twist.covariance = np.diag([_TWIST_VARIANCE] * 6).ravel().tolist()
    return message


def transforms_from_state(state: OdometryState, stamp: rospy.Time) -> Tuple[TransformStamped, TransformStamped]:
    """Return odom -> base_footprint and base_footprint -> base_link."""
    footprint, base = TransformStamped(), TransformStamped()
    for transform, parent, child in ((footprint, ODOM_FRAME, FOOTPRINT_FRAME), (base, FOOTPRINT_FRAME, BASE_FRAME)):
        transform.header.stamp, transform.header.frame_id, transform.child_frame_id = stamp, parent, child
    footprint.transform.translation = Vector3(state.x, state.y, 0.0)
    footprint.transform.rotation = Quaternion(*quaternion_from_rpy(0.0, 0.0, state.yaw))
    base.transform.translation = Vector3(0.0, 0.0, 0.0 if math.isnan(state.height) else state.height)
    base.transform.rotation = Quaternion(*quaternion_from_rpy(state.roll, state.pitch, 0.0))
    return footprint, base
