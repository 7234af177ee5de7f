# SPDX-License-Identifier: MIT
"""Messages of the node `walk`: goals, an IMU without orientation, odometry and transforms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import humanoid_description
from humanoid_motion.base_state import BaseState
from humanoid_motion.foot_wrenches import FootWrenches
from humanoid_motion.interface import Status
from humanoid_motion.parameters import WalkError
from shellbot_common.rotations import rotation_from_quaternion

convert = pytest.importorskip("humanoid_motion.walk_conversions")
from geometry_msgs.msg import Quaternion, WrenchStamped  # noqa: E402 - only where ROS is
from sensor_msgs.msg import Imu, JointState  # noqa: E402
from std_msgs.msg import Header  # noqa: E402

from shellbot_msgs.msg import Mode  # noqa: E402


def test_an_imu_without_orientation_is_refused_with_the_setting():
    imu = Imu(orientation=Quaternion(0.0, 0.0, 0.0, 1.0))
    imu.orientation_covariance[0] = -1.0
    with pytest.raises(WalkError, match="imu_orientation: true"):
        convert.feedback_from_messages(JointState(name=["a"], position=[0.0]), imu, {}, ["a"], None)


def test_a_wrench_that_is_not_finite_is_named():
    feet = {sole: WrenchStamped(header=Header(frame_id=sole)) for sole in ("l_sole", "r_sole")}
    feet["r_sole"].wrench.force.z = math.nan
    with pytest.raises(WalkError, match="^the wrench of r_sole is not finite"):
        wrenches = FootWrenches(humanoid_description.urdf_text(), tuple(feet))
        convert.feedback_from_messages(JointState(name=["a"], position=[0.0]), Imu(), feet, ["a"], wrenches)


def matrix(message):
    T, place, q = np.eye(4), message.transform.translation, message.transform.rotation
    T[:3, :3] = rotation_from_quaternion(np.array([q.x, q.y, q.z, q.w]))
    T[:3, 3] = place.x, place.y, place.z
    return T


def test_the_transforms_lead_over_the_floor_to_the_pose_of_the_odometry():
    pose, std = np.array([1.0, -2.0, 0.3, 0.1, -0.4, 2.5]), np.arange(1.0, 7.0)
    state, stamp = BaseState(pose, np.arange(6.0), std, 2.0 * std), convert.rospy.Time(3)
    message = convert.odometry_message(state, stamp, "torso")
    assert (message.header.frame_id, message.child_frame_id) == ("odom", "torso")
    assert np.diag(np.reshape(message.pose.covariance, (6, 6))) == pytest.approx(std**2)
    assert np.diag(np.reshape(message.twist.covariance, (6, 6))) == pytest.approx(4.0 * std**2)
    assert (message.twist.twist.linear.y, message.twist.twist.angular.z) == (1.0, 5.0)
    footprint, torso = convert.transforms(state, stamp, "torso")
    assert (footprint.header.frame_id, footprint.child_frame_id) == ("odom", "base_footprint")
    assert (torso.header.frame_id, torso.child_frame_id) == ("base_footprint", "torso")
    assert matrix(footprint)[2] == pytest.approx([0.0, 0.0, 1.0, 0.0]), "level, on the floor"
    place, q = message.pose.pose.position, message.pose.pose.orientation
    T = matrix(footprint) @ matrix(torso)
    assert T[:3, 3] == pytest.approx([place.x, place.y, place.z]) and (place.x, place.z) == (1.0, 0.3)
    assert T[:3, :3] == pytest.approx(rotation_from_quaternion(np.array([q.x, q.y, q.z, q.w])))
    assert math.atan2(T[1, 0], T[0, 0]) == pytest.approx(2.5)


def test_a_stop_has_the_number_of_the_message_and_other_modes_none():
    stamp = convert.rospy.Time(3)
    assert convert.mode_message(Status("stopped", "stopped", "."), stamp).mode == Mode.STOPPED
    assert convert.mode_message(Status("walk", "walk", "."), stamp).mode == 255
