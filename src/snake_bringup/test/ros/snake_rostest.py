#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The snake's launch file: it moves by itself, obeys keys, cmd_vel and modes, and knows where it is."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import unittest
import xmlrpc.client

import rosgraph
import rospy
import rostest
import tf2_ros
from geometry_msgs.msg import Twist
from latest_topics import LatestTopics
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger

from shellbot_msgs.msg import Mode, Walkspace
from shellbot_msgs.srv import RequestMode


class SnakeTest(LatestTopics, unittest.TestCase):
    """The cases follow each other on one robot."""

    @classmethod
    def setUpClass(cls):
        cls.listen(
            ("ground_truth/odom", Odometry), ("odom", Odometry), ("mode", Mode), ("walkspace", Walkspace),
            ("joint_states", JointState), ("joint_targets", JointState), ("stopped", Bool),
        )  # fmt: skip
        cls.gait = rospy.Publisher("gait", String, queue_size=5)
        cls.cmd_vel = rospy.Publisher("cmd_vel", Twist, queue_size=5)
        cls.tf = tf2_ros.Buffer()
        cls.listener = tf2_ros.TransformListener(cls.tf)
        cls.wait(lambda: cls.gait.get_num_connections() and cls.cmd_vel.get_num_connections(), "the node")
        cls.wait(lambda: len(cls.latest) == 7, "all topics")

    def place(self, topic="ground_truth/odom"):
        pose = self.latest[topic].pose.pose
        return pose.position.x, pose.position.y

    def step(self):
        return self.latest["mode"].step

    def odometry_error(self, distance):
        begin, own = self.place(), self.place("odom")
        self.wait(lambda: self.place()[0] - begin[0] > distance, f"{distance} m ahead")
        return abs(self.place("odom")[0] - own[0] - self.place()[0] + begin[0])

    def test_1_moves_by_itself_and_knows_where_it_is(self):
        self.wait(lambda: self.step() == "straight +1", "the gait of the launch file")
        errors = []
        while len(errors) < 4 and min(errors, default=1.0) > 0.08:
            # again where a busy machine went on without the nodes: they cannot see what moved meanwhile
            errors.append(self.odometry_error(0.4))
        self.assertLess(min(errors), 0.08, errors)
        self.assertEqual(self.latest["odom"].child_frame_id, "base_footprint")
        self.assertGreater(self.latest["odom"].pose.covariance[0], 0.0)
        self.wait(
            lambda: self.tf.can_transform("odom", "tail", rospy.Time(0)), "odom -> base_footprint -> head -> tail"
        )
        height = self.tf.lookup_transform("odom", "head", rospy.Time(0)).transform.translation.z
        # it lifts its head, and the frame of its estimate lies in the middle of its body
        self.assertTrue(0.0 < height < 0.15, height)

    def test_2_the_same_key_reverses(self):
        self.gait.publish("straight toggle")
        self.wait(lambda: self.step() == "straight -1", "reversed")
        self.gait.publish("turn 1")
        self.wait(lambda: self.step() == "turn +1", "another gait")
        self.gait.publish("moonwalk")
        self.wait(lambda: self.step() == "", "nonsense stops it flat")

    def test_3_cmd_vel_drives_and_its_silence_stops(self):
        limits = self.latest["walkspace"].max_velocity
        self.assertGreater(limits.linear.x, 0.06)
        self.assertGreater(limits.linear.y, 0.3)
        self.assertGreater(limits.angular.z, 0.6)
        twist = Twist()
        twist.linear.x, twist.angular.z = 0.06, -0.05

        def driving():
            self.cmd_vel.publish(twist)
            return self.step() == "forward +1"

        self.wait(driving, "the forward family")
        self.wait(lambda: self.step() == "", "silence of cmd_vel stops it flat")
        self.wait(lambda: max(map(abs, self.latest["joint_targets"].position)) < 1e-6, "straight")
        twist.linear.x = math.nan
        self.cmd_vel.publish(twist)

    def test_4_modes_and_emergency_stop(self):
        request, rearm = (rospy.ServiceProxy(n, k) for n, k in (("request_mode", RequestMode), ("rearm", Trigger)))
        self.assertTrue(request("straighten").accepted)
        refused = request("fly")
        self.assertFalse(refused.accepted)
        self.assertIn("relax, straighten, go", refused.reason)
        self.assertTrue(request("go").accepted)
        self.gait.publish("inclined")
        self.wait(lambda: self.step() == "inclined +1", "a gait")
        self.assertTrue(rospy.ServiceProxy("emergency_stop", Trigger)().success)
        self.wait(lambda: self.latest["mode"].name == "stopped" and self.latest["stopped"].data, "stopped")
        self.assertFalse(request("go").accepted)
        self.assertTrue(rearm().success)
        self.wait(lambda: self.latest["mode"].name == "go", "armed again")
        self.wait(lambda: max(map(abs, self.latest["joint_states"].position)) < 0.1, "straight again")

    def test_5_after_a_crash_it_lies_still_until_it_is_commanded(self):
        self.gait.publish("inclined")
        self.wait(lambda: self.step() == "inclined +1", "a gait")
        uri = rosgraph.Master("/test").lookupNode("/snake_motion")
        os.kill(xmlrpc.client.ServerProxy(uri).getPid("/test")[2], signal.SIGKILL)
        self.wait(lambda: self.latest["mode"].text == "ready" and self.step() == "", "born again")
        stamp = self.latest["joint_targets"].header.stamp
        self.wait(lambda: self.latest["joint_targets"].header.stamp > stamp + rospy.Duration(3.0), "three seconds")
        self.assertEqual((self.step(), self.latest["mode"].text), ("", "ready"))
        self.assertLess(max(map(abs, self.latest["joint_targets"].position)), 1e-6)
        self.wait(lambda: self.gait.get_num_connections(), "the node")

    def test_6_a_gait_is_compared_with_the_one_in_a_process(self):
        """By the command of docs/results/gazebo.md; afterwards the robot lies still."""
        command = [sys.executable, "-m", "snake_evaluation.running_node", "--gait", "straight"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        running, embedded = (float(cell.split(",")[0]) for cell in done.stdout.splitlines()[2].split("|")[2:4])
        self.assertTrue(60.0 < embedded < 75.0, done.stdout)
        self.assertAlmostEqual(running, embedded, delta=5.0)
        self.wait(lambda: self.step() == "still +1", "the robot lies still")


if __name__ == "__main__":
    rospy.init_node("snake_rostest")
    rostest.rosrun("snake_bringup", "snake", SnakeTest)
