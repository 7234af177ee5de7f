# SPDX-License-Identifier: MIT
"""Recorded runs of robots that need no simulator: tracking, latency, contacts, velocity, purposes."""

from __future__ import annotations

from dataclasses import replace

import genpy
import numpy as np
import pytest
import rosbag
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from robot_evaluation.bags.analysis import (
    commanded_velocity,
    contact_rows,
    latency,
    measured_velocity,
    tracking,
    velocity_rows,
)
from robot_evaluation.bags.data import BagData, ContactTrack, JointTrack, Stamps, TwistTrack
from robot_evaluation.bags.purpose import bag_file, load
from robot_evaluation.bags.read_conversions import pose_track, read_bag
from robot_evaluation.errors import DefinitionError, EvaluationError
from robot_evaluation.planar import PlanarPath
from shellbot_common import RobotProfile, package_file

HUMANOID = RobotProfile.load(package_file("humanoid_description", "config/profile.yaml"))


def joints(names, position, t):
    message = JointState(name=list(names), position=list(position))
    message.header.stamp = genpy.Time.from_sec(t)
    return message


def test_a_known_delay_is_found(tmp_path):
    t = np.arange(0.0, 3.0, 0.01)
    file = tmp_path / "late.bag"
    with rosbag.Bag(str(file), "w") as bag:
        for now in t:
            bag.write("/joint_targets", joints(["arm_1"], [0.4 * np.sin(3.0 * now)], now), genpy.Time.from_sec(now + 1))
            measured = 0.1 + 0.4 * np.sin(3.0 * (now - 0.08))  # late, and beside it
            bag.write("/joint_states", joints(["arm_1"], [measured], now), genpy.Time.from_sec(now + 1))
    (of,) = tracking(read_bag(file))
    assert (of.kind, of.delay()) == ("1", pytest.approx(0.08, abs=0.006)), "without a profile: the last word"


def test_a_velocity_is_that_of_the_body_whatever_its_heading_and_a_command_counts_for_half_a_second():
    t = np.arange(0.0, 2.0, 0.01)
    yaw = 2.0 + 0.5 * t
    velocity_body = np.array([0.3, -0.1])  # m/s ahead, to the left
    c, s = np.cos(yaw), np.sin(yaw)
    velocity = np.stack((c * 0.3 + s * 0.1, s * 0.3 - c * 0.1), axis=1)
    times, found = measured_velocity(PlanarPath(t, 0.01 * np.cumsum(velocity, axis=0), yaw))
    np.testing.assert_allclose(found, np.tile([*velocity_body, 0.5], (len(times), 1)), atol=2e-3)
    command = TwistTrack(np.array([1.0]), np.array([[0.2, 0.1, -0.3]]))
    in_force = commanded_velocity(command, np.array([0.99, 1.0, 1.49, 1.51])).any(axis=1)
    assert in_force.tolist() == [False, True, True, False]


@pytest.mark.parametrize("poses", [2, 3, 4])
def test_a_recording_with_hardly_a_pose_has_no_row_of_velocity(poses):
    t = 0.1 * np.arange(poses)
    path = PlanarPath(t, np.column_stack((t, t)), np.zeros(poses))
    command = TwistTrack(np.zeros(1), np.array([[0.2, 0.0, 0.0]]))
    assert len(velocity_rows(BagData("x", 0.0, 1.0, {}, poses={"odom": path}, cmd_vel=command))) == (poses == 4)


def test_latency_is_the_median_of_what_came_and_a_tick_is_answered_once():
    t = np.arange(100) / 100
    after = np.where(np.arange(101) < 90, 0.001, 0.011)
    twice = np.append(t, t[-1])
    data = BagData(
        "x", 0.0, 1.0, {}, stamps={"joint_states": Stamps(t, t), "joint_targets": Stamps(twice + after, twice)}
    )
    row = latency(data)[1]
    assert (row["after"], row["after99"]) == (pytest.approx(1.0), pytest.approx(11.0))
    assert row["answered"] == pytest.approx(100.0)


def test_tracking_takes_targets_within_the_measurement_and_joints_while_they_were_measured():
    t = np.arange(0.0, 1.0, 0.01)
    wide = np.arange(-0.5, 1.5, 0.01)
    measured = np.stack((t, np.where(t < 0.5, np.nan, t)), axis=1)
    data = BagData(
        "x",
        0.0,
        1.0,
        {},
        joints={
            "joint_states": JointTrack(t, ("l_arm", "r_arm"), measured),
            "joint_targets": JointTrack(wide, ("l_arm", "r_arm"), np.stack((wide, wide), axis=1)),
        },
    )
    (of,) = tracking(data)
    assert of.names == ("l_arm", "r_arm") and np.nanmax(np.abs(of.error)) < 1e-9
    assert np.isfinite(of.measured[:, 0]).all() and (np.isnan(of.measured[:, 1]) == (of.t < 0.5 - 1e-9)).all()
    with_hole = np.where((t > 0.2) & (t < 0.3), np.nan, np.where((t > 0.4) & (t < 0.8), np.nan, t))
    states = JointTrack(t, ("l_arm", "r_arm"), np.stack((t, with_hole), axis=1))
    (of,) = tracking(replace(data, joints={**data.joints, "joint_states": states}))
    missing_s = of.t[np.isnan(of.measured[:, 1])]
    assert missing_s.min() > 0.4 and missing_s.max() < 0.8, "a line bridges the shorter one"


def test_contacts_last_as_long_as_they_do_in_the_mean():
    t = np.arange(0.0, 2.0, 0.01)
    touching = ((t > 0.095) & (t < 0.295)) | ((t > 0.995) & (t < 1.595))
    (row,) = contact_rows("soles", ContactTrack(t, ("l_sole",), touching[:, None]))
    assert row["mean"] == pytest.approx(0.4, abs=0.01) and row["touchdowns"] == 2


def test_a_heading_has_no_jump_where_it_passes_half_a_turn():
    messages = []
    for k, yaw in enumerate(np.linspace(2.9, 3.5, 20)):
        message = Odometry()
        message.header.stamp = genpy.Time.from_sec(1.0 + 0.01 * k)
        message.pose.pose.orientation.z, message.pose.pose.orientation.w = np.sin(yaw / 2), np.cos(yaw / 2)
        messages.append((0.0, message))
    assert pose_track(messages).yaw == pytest.approx(np.linspace(2.9, 3.5, 20))


def test_soles_touch_by_their_force(tmp_path):
    file = tmp_path / "soles.bag"
    with rosbag.Bag(str(file), "w") as bag:
        for k in range(20):
            message = WrenchStamped()
            message.header.stamp = genpy.Time.from_sec(1.0 + 0.01 * k)
            message.wrench.force.z = 2.0 if k < 10 else 0.5
            bag.write("/contact_wrenches/l_sole", message, message.header.stamp)
    (row,) = contact_rows("soles", read_bag(file).contacts["contact_wrenches"])
    assert (row["contact"], row["touching"]) == ("l_sole", pytest.approx(100.0 * 10 / 19, abs=0.1))


def test_a_topic_of_another_type_is_refused(tmp_path):
    file = tmp_path / "other.bag"
    with rosbag.Bag(str(file), "w") as bag:
        bag.write("/joint_states", joints(["a"], [0.0], 1.0), genpy.Time.from_sec(1.0))
        bag.write("/cmd_vel", WrenchStamped(), genpy.Time.from_sec(1.0))
    with pytest.raises(EvaluationError, match="/cmd_vel is of geometry_msgs/WrenchStamped, not of geometry_msgs/Twist"):
        read_bag(file)


def test_runs_over_each_other_are_refused(tmp_path):
    file = tmp_path / "reset.bag"
    with rosbag.Bag(str(file), "w") as bag:
        for k, t in enumerate([*np.arange(1.0, 3.0, 0.01), *np.arange(0.5, 2.5, 0.01)]):
            message = joints(["a"], [t], t)
            message.header.seq = k
            bag.write("/joint_states", message, genpy.Time.from_sec(t))
    with pytest.raises(EvaluationError, match="simulation was reset"):
        read_bag(file)
    with rosbag.Bag(str(file), "w") as bag:  # the recorder's clock went on
        for k, t in enumerate([1.0, 1.01, 0.5, 0.51]):
            bag.write("/joint_states", joints(["a"], [t], t), genpy.Time.from_sec(10.0 + k))
    with pytest.raises(EvaluationError, match="simulation was reset"):
        read_bag(file)


def test_purposes_and_files_that_cannot_be_used_are_named(tmp_path):
    with pytest.raises(DefinitionError, match="purpose 'jog' does not exist; choose one of all, joi"):
        load("jog")
    own = tmp_path / "own.yaml"
    own.write_text("text: mine\ntopic: [odom]\n", encoding="utf-8")
    with pytest.raises(DefinitionError, match="topic"):
        load(str(own))
    own.write_text("text: mine\ntopics: [odom, odom]\n", encoding="utf-8")
    assert load(str(own)).for_robot(HUMANOID) == ("odom",)
    assert bag_file("", tmp_path, "humanoid_walk") == tmp_path / "humanoid_walk.bag"
    (tmp_path / "run.bag.active").touch()
    with pytest.raises(DefinitionError, match="run.bag.active exists; give another name"):
        bag_file("run", tmp_path, "")
    with pytest.raises(DefinitionError, match="nowhere does not exist; create it"):
        bag_file("nowhere/run.bag", tmp_path, "")
