# SPDX-License-Identifier: MIT
"""Messages of the snake's node to and from the arrays of its core."""

from __future__ import annotations

import math
from typing import List, Optional

import numpy as np
import rospy
from geometry_msgs.msg import TransformStamped, Twist
from nav_msgs.msg import Odometry
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import Imu

from shellbot_common.motion_conversions import ODOM
from shellbot_common.rotations import is_attitude
from shellbot_msgs.msg import Mode, Walkspace
from snake_motion.engine_io import EngineOutput
from snake_motion.odometry import SnakeState

_NUMBERS = {"waiting": Mode.WAITING, "relax": Mode.RELAX, "stopped": Mode.STOPPED}
OTHER_MODE = 255
"""Number of a mode that only its name says: those of the message are of another robot."""

_ACCELERATION = 2.0  # of the velocity a second: about a fade from flat to full


def orientation_of(message: Imu) -> Optional[np.ndarray]:
    """Return the quaternion x, y, z, w, or None of an IMU without one (REP 145) or with nonsense."""
    q = np.array([message.orientation.x, message.orientation.y, message.orientation.z, message.orientation.w])
    known = message.orientation_covariance[0] != -1.0 and is_attitude(q)
    return q if known else None


def rate_of(message: Imu) -> np.ndarray:
    """Return the angular velocity in the head's axes, rad/s; zero of an IMU without one (REP 145)."""
    rate = message.angular_velocity
    return np.zeros(3) if message.angular_velocity_covariance[0] == -1.0 else np.array([rate.x, rate.y, rate.z])


def twist_of(message: Twist) -> List[float]:
    """Return forward, left (m/s) and turning (rad/s)."""
    return [message.linear.x, message.linear.y, message.angular.z]


def mode_message(motion: EngineOutput, stamp: rospy.Time) -> Mode:
    """Return the latched topic mode; the gait and its direction are the step."""
    step = f"{motion.gait} {motion.direction:+d}" if motion.gait else ""
    message = Mode(
        mode=_NUMBERS.get(motion.mode, OTHER_MODE), name=motion.mode, target=motion.mode, step=step, progress=1.0,
        text=motion.text,
    )  # fmt: skip
    message.header.stamp = stamp
    return message


def walkspace_message(limits: np.ndarray) -> Walkspace:
    """Return the greatest velocities, so that an operator's keys use them in full; a snake has no body pose."""
    message = Walkspace()
    for twist, factor in ((message.max_velocity, 1.0), (message.max_acceleration, _ACCELERATION)):
        twist.linear.x, twist.linear.y, twist.angular.z = (factor * limits).tolist()
    return message


def odometry_message(state: SnakeState, stamp: rospy.Time) -> Odometry:
    """Return odom -> base_footprint, the virtual chassis on the ground, with its covariance and velocity."""
    message = Odometry(child_frame_id="base_footprint")
    message.header.stamp, message.header.frame_id = stamp, ODOM
    pose, twist = message.pose.pose, message.twist.twist
    pose.position.x, pose.position.y = state.p_odom_chassis.tolist()
    pose.orientation.z, pose.orientation.w = math.sin(0.5 * state.yaw), math.cos(0.5 * state.yaw)
    twist.linear.x, twist.linear.y, twist.angular.z = state.v_chassis.tolist()
    covariance = np.zeros((6, 6))
    covariance[np.ix_((0, 1, 5), (0, 1, 5))] = state.covariance
    message.pose.covariance = covariance.ravel().tolist()
    return message


def transforms(state: SnakeState, head: str, stamp: rospy.Time) -> List[TransformStamped]:
    """Return odom -> base_footprint -> head."""
    chassis, body = TransformStamped(), TransformStamped()
    for transform, parent, child in ((chassis, ODOM, "base_footprint"), (body, "base_footprint", head)):
        transform.header.stamp, transform.header.frame_id, transform.child_frame_id = stamp, parent, child
    place, turn = chassis.transform.translation, chassis.transform.rotation
    place.x, place.y = state.p_odom_chassis.tolist()
    turn.z, turn.w = math.sin(0.5 * state.yaw), math.cos(0.5 * state.yaw)
    place, turn = body.transform.translation, body.transform.rotation
    place.x, place.y, place.z = state.p_chassis_head.tolist()
    turn.x, turn.y, turn.z, turn.w = Rotation.from_matrix(state.rotation_chassis_head).as_quat().tolist()
    return [chassis, body]
