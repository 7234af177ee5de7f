#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A robot that is not Shellbot, through the same nodes: simulated, commanded, tuned, recorded, seen in the window."""

from __future__ import annotations

import math
import os
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import rospy
import rostest
from dynamic_reconfigure.client import Client
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_evaluation.trace import Trace, TraceRecorder
from shellbot_common import RobotProfile, package_file
from shellbot_common.testing import PATIENCE, wait_until
from shellbot_msgs.msg import Contacts, ReferenceStatus
from shellbot_teleop.config import TeleopConfig
from shellbot_teleop.joint_table import joint_rows
from shellbot_teleop.robot_monitor import RobotMonitor
from shellbot_teleop.ros_link_node import RosLink

NAME = next(word for word in sys.argv[1:] if word in ("arm", "rover"))
WHEEL_RADIUS = 0.05  # m
WHEEL_SPEED = 4.0  # rad/s
BENT = (math.radians(45.0), math.radians(-60.0))


class RobotTest(unittest.TestCase):
    """The cases follow each other on one robot; targets are made from each joint_states, as kinematics does."""

    @classmethod
    def setUpClass(cls):
        cls.states, cls.odometry, cls.commands, cls.clocks, cls.statuses = [], [], [], [], []
        cls.targets = None  # callable: measured position (n,), s -> target (n,); None: no targets
        cls.monitor = RobotMonitor()
        rospy.init_node("robot_rostest")
        cls.profile = RobotProfile.from_text(rospy.get_param("robot_profile"))
        cls.publisher = rospy.Publisher("joint_targets", JointState, queue_size=10, tcp_nodelay=True)
        cls.subscribers = [
            rospy.Subscriber(name, kind, callback, queue_size=1000, tcp_nodelay=True)
            for name, kind, callback in (
                ("ground_truth/odom", Odometry, cls.odometry.append),
                (f"{cls.profile.controller}/command", Float64MultiArray, cls.commands.append),
                ("/clock", Clock, cls.clocks.append),
                ("reference_status", ReferenceStatus, cls.statuses.append),
                ("joint_states", JointState, cls.on_joint_states),
            )
        ]
        endpoints = (cls.publisher, *cls.subscribers)
        wait_until(lambda: all(e.get_num_connections() for e in endpoints), "all topics")
        # After them: rospy has one connection per topic, with the first one's queue, and the link has room for one.
        config = TeleopConfig.load(package_file("shellbot_teleop", "config/teleop.yaml"))
        cls.link = RosLink("robot_rostest", config, cls.monitor, lambda _event: None)  # of the operator's window
        cls.link.start()
        wait_until(lambda: cls.link.connected, "the operator's link")
        cls.gains = Client("gains", timeout=PATIENCE)

    @classmethod
    def tearDownClass(cls):
        cls.gains.close()
        cls.link.close()

    @classmethod
    def on_joint_states(cls, message):
        cls.states.append(message)
        targets = cls.targets
        if targets is not None:
            position = targets(np.array(message.position), message.header.stamp.to_sec())
            # the other way round: order is by name
            answer = JointState(name=list(message.name)[::-1], position=list(position)[::-1])
            answer.header.stamp = message.header.stamp
            cls.publisher.publish(answer)

    def position(self):
        return np.array(self.states[-1].position)

    def error(self):
        """Commanded minus measured joints, rad."""
        return np.array(self.commands[-1].data) - self.position() if self.commands else np.full(1, np.inf)

    @classmethod
    def follow(cls, targets):
        cls.targets = staticmethod(targets)

    def drive(self):
        """Turn every wheel on from where it is commanded."""
        start, angle = self.states[-1].header.stamp.to_sec(), float(self.position().mean())
        self.follow(lambda _q, t: np.full(4, angle + WHEEL_SPEED * max(t - start, 0.0)))
        return angle

    def test_1_simulated(self):
        """Clock, joint states in the profile's order, truth; the spawn pose is held until targets come."""
        wait_until(lambda: len(self.states) > 50 and self.clocks and self.odometry, "the simulator")
        first, spawn = self.states[0], list(self.profile.pose(self.profile.base.spawn_pose).values())
        self.assertEqual(tuple(first.name), self.profile.joint_names)
        np.testing.assert_allclose(self.position(), spawn, atol=0.02)
        stamps = [message.header.stamp.to_nsec() for message in self.states]
        self.assertEqual(set(np.diff(stamps).tolist()), {10_000_000})
        self.assertEqual(self.odometry[-1].child_frame_id, self.profile.base.link)
        contacts = rospy.wait_for_message("ground_truth/foot_contacts", Contacts, PATIENCE).contacts
        self.assertEqual([contact.name for contact in contacts], list(self.profile.contacts))
        self.assertTrue(all(contact.in_contact for contact in contacts))

    def test_2_commanded(self):
        """joint_targets through the connector: every command carries the stamp of its state, the joints go there."""
        if NAME == "arm":
            self.follow(lambda _q, _t: np.array(BENT))
            wait_until(lambda: self.states and np.abs(self.position() - BENT).max() < 0.05, "the commanded angles")
            wait_until(lambda: self.statuses and self.statuses[-1].reached, "reference_status says reached")
            place = self.odometry[-1].pose.pose.position
            self.assertEqual((place.x, place.y, place.z), (0.0, 0.0, 0.5))
        else:
            angle, start = self.drive(), self.odometry[-1].pose.pose.position.x
            wait_until(lambda: self.position().mean() > 4.0 * math.pi, "two turns of the wheels")
            driven = self.odometry[-1].pose.pose.position.x - start
            self.assertAlmostEqual(driven, (self.position().mean() - angle) * WHEEL_RADIUS, delta=0.05)
        labels = [command.layout.dim[0].label for command in self.commands]
        self.assertTrue(labels and all(label.startswith("stamp:") for label in labels))
        self.assertEqual(len(set(labels)), len(labels), "one command for each state")

    def test_3_tuned(self):
        """The page has the profile's classes, and its gains change the motion."""
        config = self.gains.get_configuration(timeout=PATIENCE)
        entries = {f"{kind}_{gain}" for kind in self.profile.classes for gain in "pid"} | {"stiffness", "preset"}
        self.assertEqual({key for key in config if key != "groups"}, entries)
        if NAME == "arm":
            wait_until(lambda: np.abs(self.states[-1].velocity).max() < 1e-3, "the arm at rest")
            before = abs(self.error()[0])
            self.gains.update_configuration({"large_p": self.profile.classes["large"].stiffness / 4.0})
            wait_until(lambda: abs(self.error()[0]) > 3.0 * before, "the softer shoulder sags")
            self.gains.update_configuration({"large_p": self.profile.classes["large"].stiffness})
            wait_until(lambda: abs(self.error()[0]) < 1.5 * before, "the stiffer one comes back")
        else:
            self.gains.update_configuration({"stiffness": 0.0})
            wait_until(lambda: np.abs(self.states[-1].velocity).max() < 0.1 < self.error().min(), "limp wheels stop")
            self.gains.update_configuration({"stiffness": 1.0})
            wait_until(lambda: np.abs(self.error()).max() < 2.0 and self.states[-1].velocity[0] > 0.5, "they go on")

    def test_4_recorded(self):
        """What the topics said is a trace: saved, loaded, looked at."""
        poses = {message.header.stamp.to_nsec(): message.pose.pose for message in self.odometry}
        commands = {int(m.layout.dim[0].label[len("stamp:") :]): m.data for m in self.commands}
        recorder = TraceRecorder(self.profile.joint_names)
        for state in self.states:
            stamp = state.header.stamp.to_nsec()
            if stamp not in poses or stamp not in commands:
                continue
            place, turn = poses[stamp].position, poses[stamp].orientation
            recorder.append(
                t=state.header.stamp.to_sec(), p_world_base=[place.x, place.y, place.z],
                q_world_base=[turn.x, turn.y, turn.z, turn.w], odom=[math.nan] * 3, joint_position=state.position,
                joint_velocity=state.velocity, joint_effort=state.effort, joint_target=commands[stamp],
                contact_truth=[], contact_estimated=[], lowest_foot_z=math.nan,
            )  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            recorder.trace().save(Path(folder) / "trace.npz")
            trace = Trace.load(Path(folder) / "trace.npz")
        self.assertEqual(trace.joint_names, self.profile.joint_names)
        self.assertGreater(trace.t.size, 50)
        self.assertGreater(np.ptp(trace.joint_position[:, 0]), 0.5)
        moved = np.linalg.norm(trace.truth_path.xy[-1] - trace.truth_path.xy[0])
        self.assertEqual(moved > 0.3, NAME == "rover", f"{moved:.3f} m")

    def test_5_seen_in_the_window(self):
        """The joint table of the operator's window shows its joints, with class and torque."""
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        from python_qt_binding.QtWidgets import QApplication

        from shellbot_teleop.qt.joints_panel import JointsPanel

        wait_until(lambda: self.monitor.joints and self.monitor.targets and self.monitor.profile, "the link")
        application = QApplication([])
        table = JointsPanel()
        table.show_joints(joint_rows(self.monitor.profile, self.monitor.joints, self.monitor.targets))
        cells = [[table.item(row, column).text() for column in range(4)] for row in range(table.rowCount())]
        self.assertEqual([row[0] for row in cells], list(self.profile.joints))
        hints = [table.item(row, 0).toolTip() for row in range(table.rowCount())]
        for hint, (joint, kind) in zip(hints, self.profile.joints.items()):
            self.assertTrue(hint.startswith(f"{joint} ({kind}): "), hint)
        self.assertTrue(all("–" not in row for row in cells), cells)
        del table, application


if __name__ == "__main__":
    rostest.rosrun("shellbot_bringup", f"robot_{NAME}", RobotTest)
