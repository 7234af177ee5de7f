# SPDX-License-Identifier: MIT
"""Messages to arrays and back: whatever comes, nothing but numbers or NaN goes on."""

from __future__ import annotations

import math

import numpy as np
import pytest
import rospy
from geometry_msgs.msg import Pose, Quaternion, Vector3
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import Imu, JointState

from shellbot_action_manager.estimation.odometry import OdometryState
from shellbot_action_manager.gait.walkspace import WalkspaceLimits
from shellbot_action_manager.interface import ContactEstimate
from shellbot_action_manager.modes.mode_machine import ModeStatus
from shellbot_action_manager.modes.mode_table import Mode
from shellbot_action_manager.node.action_manager_conversions import (
    MeasuredJoints,
    body_pose_to_array,
    contacts_to_message,
    imu_to_arrays,
    mode_to_message,
    walkspace_to_message,
)
from shellbot_action_manager.node.diagnostics_conversions import diagnostics_message
from shellbot_action_manager.node.odometry_conversions import (
    contacts_from_message,
    odometry_to_message,
    transforms_from_state,
)
from shellbot_msgs.msg import Mode as ModeMsg

STAMP = rospy.Time(3, 70000000)
LEANING = Rotation.from_euler("ZYX", [0.0, -0.1, 0.05])
STATE = OdometryState(3.07, 1.0, -2.0, 0.3, 0.16, LEANING.as_quat(), np.array([0.2, 0.0, 0.1]), 4e-4, 1e-4)


def test_joints_are_found_by_name_whatever_else_is_there():
    order = MeasuredJoints(["a", "b", "c"])
    mixed = JointState(name=["wheel", "c", "a", "b"], position=[9.0, 3.0, 1.0, 2.0])
    assert list(order.positions(mixed)) == [1.0, 2.0, 3.0]
    lacking = JointState(name=["c", "a"], position=[3.0, 1.0])
    assert order.positions(lacking) == pytest.approx([1.0, math.nan, 3.0], nan_ok=True)
    assert np.isnan(order.positions(JointState(name=["a", "b", "c"], position=[1.0]))).all()
    assert np.isnan(order.positions(JointState())).all()
    assert list(order.positions(mixed)) == [1.0, 2.0, 3.0]


def test_an_imu_says_what_it_does_not_have_by_its_covariance():
    message = Imu(
        orientation=Quaternion(0.0, 0.0, 0.6, 0.8),
        angular_velocity=Vector3(1.0, 2.0, 3.0),
        linear_acceleration=Vector3(4.0, 5.0, 6.0),
    )
    message.header.stamp = STAMP
    t, orientation, rate, force = imu_to_arrays(message)
    assert (t, *orientation, *rate, *force) == (3.07, 0.0, 0.0, 0.6, 0.8, *range(1, 7))
    absent = [-1.0] + [0.0] * 8  # REP 145
    message.orientation_covariance = absent
    assert imu_to_arrays(message)[1] is None
    message.angular_velocity_covariance = absent
    _, _, rate, force = imu_to_arrays(message)
    assert np.isnan(rate).all() and list(force) == [4.0, 5.0, 6.0]
    message.linear_acceleration_covariance = absent
    assert np.isnan(imu_to_arrays(message)[3]).all()


def test_body_pose_takes_roll_pitch_yaw_and_a_zero_quaternion():
    q = Rotation.from_euler("xyz", [0.1, -0.2, 0.3]).as_quat()
    pose = Pose(orientation=Quaternion(*q))
    pose.position.z = 0.02
    assert body_pose_to_array(pose) == pytest.approx([0.0, 0.0, 0.02, 0.1, -0.2, 0.3])
    assert list(body_pose_to_array(Pose())) == [0.0] * 6
    pose.orientation.w = math.nan
    assert np.isnan(body_pose_to_array(pose)[3:]).all()


def test_mode_numbers_are_those_of_the_message():
    for mode in Mode:
        assert getattr(ModeMsg, mode.name) == int(mode)
    message = mode_to_message(ModeStatus(Mode.SIT, Mode.HEXAPOD, "stand_up", 0.4, "going up"), STAMP)
    assert (message.mode, message.name, message.target, message.step) == (ModeMsg.SIT, "sit", "hexapod", "stand_up")
    assert (message.progress, message.text, message.header.stamp) == (0.4, "going up", STAMP)


def test_contacts_go_there_and_back():
    rng = np.random.default_rng(0)
    for count in (0, 1, 6, 12):
        names = tuple(f"tip_{k}" for k in range(count))
        points = rng.normal(size=(3, count, 3))
        down = rng.random(count) < 0.5
        contacts = ContactEstimate("rolling", names, down, rng.random(count), rng.random(count), *points, heading=0.7)
        message = contacts_to_message(contacts, STAMP)
        assert (message.header.stamp, message.header.frame_id) == (STAMP, "base_link")
        back = contacts_from_message(message)
        assert (back.model, back.names, back.heading) == ("rolling", names, 0.7)
        for name in ("in_contact", "phase", "load_share", "position", "centre_of_pressure", "previous_centre"):
            found, sent = getattr(back, name), getattr(contacts, name)
            assert found.shape == sent.shape and (found == sent).all(), name


def test_walkspace_keeps_its_axes():
    limits = WalkspaceLimits(*(np.arange(3.0) + 10.0 * i for i in range(5)), gait="wave")
    message = walkspace_to_message(limits, {"tripod": None, "wave": None}, STAMP)
    assert (message.max_velocity.linear.y, message.max_velocity.angular.z) == (1.0, 2.0)
    assert (message.max_acceleration.linear.x, message.min_shift.z, message.max_shift.x) == (10.0, 22.0, 30.0)
    assert (message.max_tilt.y, message.gait, message.gaits) == (41.0, "wave", ["tripod", "wave"])


def test_odometry_message_and_transforms_agree():
    message = odometry_to_message(STATE, STAMP)
    assert (message.header.frame_id, message.child_frame_id) == ("odom", "base_footprint")
    covariance = np.array(message.pose.covariance).reshape(6, 6)
    assert (np.diag(covariance) > 0.0).all()
    assert covariance[0, 0] == pytest.approx(STATE.position_variance, rel=0.01)
    footprint, base = transforms_from_state(STATE, STAMP)
    assert (footprint.header.frame_id, footprint.child_frame_id) == ("odom", "base_footprint")
    assert (base.header.frame_id, base.child_frame_id) == ("base_footprint", "base_link")

    def matrix(transform):
        t, r = transform.transform.translation, transform.transform.rotation
        result = np.eye(4)
        result[:3, :3] = Rotation.from_quat([r.x, r.y, r.z, r.w]).as_matrix()
        result[:3, 3] = t.x, t.y, t.z
        return result

    T_odom_base = matrix(footprint) @ matrix(base)  # noqa: N806
    expected = (Rotation.from_euler("Z", STATE.yaw) * LEANING).as_matrix()
    assert T_odom_base[:3, :3] == pytest.approx(expected, abs=1e-12)
    assert T_odom_base[:3, 3] == pytest.approx([1.0, -2.0, 0.16])


def test_unknown_height_is_zero_in_the_transform():
    state = OdometryState(0.0, 0.0, 0.0, 0.0, math.nan, np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), 0.0, 0.0)
    assert transforms_from_state(state, STAMP)[1].transform.translation.z == 0.0


def test_diagnostics_warn_when_nothing_comes_or_the_robot_is_stopped():
    walking = ModeStatus(Mode.HEXAPOD, Mode.HEXAPOD, "walking", 1.0, "ready")
    assert diagnostics_message("/node", 3.0, 100, 0.001, walking).status[0].level == 0
    assert diagnostics_message("/node", 3.0, 0, 0.0, walking).status[0].level == 1
    stopped = ModeStatus(Mode.STOPPED, Mode.STOPPED, "", 1.0, "emergency stop")
    status = diagnostics_message("/node", -math.inf, 100, 0.001, stopped).status[0]
    assert (status.level, status.name) == (1, "node")
