#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Closing to a ball and opening, live: steps in words, turning round, cmd_vel, restart and reset in the ball."""

from __future__ import annotations

import math
import os
import signal
import time
import unittest
import xmlrpc.client

import numpy as np
import rosgraph
import rospy
import rostest
from geometry_msgs.msg import Twist
from mode_watch import ModeWatch
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Log
from sensor_msgs.msg import JointState
from std_srvs.srv import Empty

from shellbot_description import driven_joint_names, named_pose_array
from shellbot_msgs.msg import Mode
from shellbot_msgs.srv import RequestMode

JOINTS = driven_joint_names("simulation")


class BallTest(ModeWatch, unittest.TestCase):
    """Tests run in the order of their names; each begins standing."""

    @classmethod
    def setUpClass(cls):
        cls.last, cls.texts, cls.logged = {}, [], []
        cls.cmd_vel = rospy.Publisher("cmd_vel", Twist, queue_size=1)
        cls.request_service = rospy.ServiceProxy("request_mode", RequestMode)
        for name, kind in (("joint_states", JointState), ("odom", Odometry), ("ground_truth/odom", Odometry)):
            rospy.Subscriber(name, kind, lambda message, key=name: cls.last.__setitem__(key, message), queue_size=1)
        rospy.Subscriber("mode", Mode, cls.on_mode, queue_size=100)
        rospy.Subscriber("/rosout", Log, lambda message: cls.logged.append(message.msg), queue_size=100)

    @classmethod
    def on_mode(cls, message):
        cls.last["mode"] = message
        cls.texts.append(message.text)

    def setUp(self):
        self.until(lambda: self.mode() == ("hexapod", "hexapod", ""), "standing and ready")
        self.texts.clear()
        self.logged.clear()

    def go(self, mode):
        rospy.wait_for_service("request_mode", ModeWatch.wall_limit)
        answer = self.request_service(mode)
        self.assertTrue(answer.accepted, answer.reason)
        self.until(lambda: self.mode() == (mode, mode, ""), f"in mode {mode}")

    def joint_error(self):
        """Greatest error of a joint against the closed pose, deg."""
        message = self.last["joint_states"]
        q = np.array([message.position[message.name.index(name)] for name in JOINTS])
        return np.degrees(np.abs(q - named_pose_array("closed", "simulation")).max())

    def assert_closed(self):
        self.assertLess(self.joint_error(), 2.5)
        pose = self.last["ground_truth/odom"].pose.pose
        self.assertAlmostEqual(pose.position.z, 0.160, delta=0.006)
        self.assertLess(2.0 * math.asin(min(1.0, math.hypot(pose.orientation.x, pose.orientation.y))), 0.06)

    def test_1_closes_and_opens_in_words(self):
        self.go("shell")
        for topic in ("joint_states", "ground_truth/odom"):
            self.until_later(topic, 1.0)
        self.assert_closed()
        closing = [text for text in dict.fromkeys(self.texts) if text.startswith("closing, step")]
        self.assertEqual(len(closing), 16, closing)
        self.assertIn("fan inwards, 1 of 4", closing[10])
        self.go("hexapod")
        opening = [text for text in dict.fromkeys(self.texts) if text.startswith("opening, step")]
        self.assertEqual(len(opening), 16, opening)
        self.assertGreater(self.last["ground_truth/odom"].pose.pose.position.z, 0.150)

    def test_2_cmd_vel_is_ignored_on_the_way_and_a_request_turns_it_round(self):
        self.assertTrue(self.request_service("shell").accepted)
        self.until(lambda: any("gores of legs 2" in text for text in self.texts), "on the gores")
        twist = Twist()
        twist.linear.x = 0.2
        for _ in range(20):
            self.cmd_vel.publish(twist)
            rospy.sleep(0.02)
        self.until(lambda: any("cmd_vel does not count" in text for text in self.logged), "the word in the log")
        self.cmd_vel.publish(Twist())
        answer = self.request_service("shell")
        self.assertTrue(answer.accepted)
        self.assertIn("on the way there", answer.reason)
        self.go("hexapod")
        self.assertFalse(any("closed to a ball" in text for text in self.texts))

    @staticmethod
    def process(name):
        """Return the process of a node, None while it is dead; a new node may have the address of the dead one."""
        try:
            node = rosgraph.Master("/ball_rostest").lookupNode(name)
            return xmlrpc.client.ServerProxy(node).getPid("/ball_rostest")[2]
        except (OSError, rosgraph.MasterException):
            return None

    def kill(self, name):
        process = self.process(name)
        os.kill(process, signal.SIGKILL)
        return process

    def reborn(self, name, before):
        self.until(lambda: self.process(name) not in (before, None), f"{name} is back")

    def roll_until(self, condition, what):
        """Command the ball to roll for as long as a condition does not hold.

        Now and then the command is zero: a node that begins without an attitude obeys none that was not.
        """
        twist, begun = Twist(), time.time()

        def commanded():
            twist.linear.x = 0.4 if (time.time() - begun) % 6.0 > 0.6 else 0.0
            self.cmd_vel.publish(twist)
            return condition()

        self.until(commanded, what)

    def speed(self):
        velocity = self.last["ground_truth/odom"].twist.twist.linear
        return math.hypot(velocity.x, velocity.y)

    def test_3_a_node_that_dies_leaves_a_ball_that_rolls_on_and_a_reset_one_that_stands_up(self):
        self.go("shell")
        for names in (("/gazebo_connector", "/transform_and_roll"), ("/action_manager",), ("/kinematics", "/odometry")):
            self.roll_until(lambda: self.speed() > 0.15, "rolling")
            self.texts.clear()
            heading = self.last["odom"].pose.pose.orientation.z
            variance = self.last["odom"].pose.covariance[0]
            died = {name: self.kill(name) for name in names}
            for name, process in died.items():
                self.reborn(name, process)
            if "/action_manager" in names:  # what it said before it died may be that the ball is at rest
                self.until(lambda: any("found closed" in text for text in self.texts), "the ball is found closed")
                self.assertAlmostEqual(self.last["odom"].pose.pose.orientation.z, heading, delta=0.02)
            if "/odometry" in names:  # it goes on from where it was, less certain; a new one is certain of the origin
                self.until(lambda least=variance: self.last["odom"].pose.covariance[0] > least, "odom goes on")
            self.until(lambda: self.mode() == ("shell", "shell", ""), f"a ball at rest after {names} died")
            self.until(lambda: self.speed() < 0.1, f"braked after {names} died")
            self.roll_until(lambda: self.mode() == ("shell", "shell", "rolling"), f"rolls again after {names} died")
        self.roll_until(lambda: self.speed() > 0.15, "rolling on")
        rospy.wait_for_service("/gazebo/reset_simulation", ModeWatch.wall_limit)
        rospy.ServiceProxy("/gazebo/reset_simulation", Empty)()
        self.until(lambda: self.mode() == ("hexapod", "hexapod", ""), "standing again")


if __name__ == "__main__":
    rospy.init_node("ball_rostest")
    rostest.rosrun("shellbot_action_manager", "ball_live", BallTest)
