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
from shellbot_msgs.msg import Contacts

ODOM_FRAME, FOOTPRINT_FRAME, BASE_FRAME = "odom", "base_footprint", "base_link"

_LEVEL_VARIANCE = 1e-4  # m^2, rad^2: of height, roll and pitch; estimate, 1 cm and 0.6 degrees
_TWIST_VARIANCE = 1e-3  # (m/s)^2, (rad/s)^2; estimate


def contacts_from_message(message: Contacts) -> ContactEstimate:
    """Return the contacts of a message of the topic `foot_contacts`."""
    contacts = message.contacts
    points = [(c.position, c.centre_of_pressure, c.previous_centre_of_pressure) for c in contacts]
    p = np.array([[(a.x, a.y, a.z) for a in of_contact] for of_contact in points]).reshape(-1, 3, 3)
    return ContactEstimate(
        message.model,
        tuple(c.name for c in contacts),
        np.array([c.in_contact for c in contacts], dtype=bool),
        np.array([c.phase for c in contacts]),
        np.array([c.load_share for c in contacts]),
        p[:, 0],
        p[:, 1],
        p[:, 2],
        message.heading if message.has_heading else None,
    )


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
    base.transform.rotation = Quaternion(*state.quat_footprint_base.tolist())
    return footprint, base
