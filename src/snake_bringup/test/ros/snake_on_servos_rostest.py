#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The snake's onboard.launch: it crawls through the bytes of the bus, and an emergency stop takes its torque."""

from __future__ import annotations

import unittest

import rospy
import rostest
from latest_topics import LatestTopics
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger

from shellbot_msgs.msg import Mode
from shellbot_msgs.srv import RequestMode


class SnakeOnServosTest(LatestTopics, unittest.TestCase):
    """The cases follow each other on one robot."""

    limit = 400.0  # s; servos and driver run in real time: on a busy machine the snake holds now and then

    @classmethod
    def setUpClass(cls):
        topics = (
            ("ground_truth/odom", Odometry), ("odom", Odometry), ("joint_states", JointState),
            ("joint_targets", JointState), ("stopped", Bool), ("mode", Mode),
        )  # fmt: skip
        cls.listen(*topics)
        cls.gait = rospy.Publisher("gait", String, queue_size=5)
        cls.wait(lambda: len(cls.latest) == len(topics) and cls.gait.get_num_connections(), "all topics")

    def x(self):
        return self.latest["ground_truth/odom"].pose.pose.position.x

    def go_on_after_a_stop(self, gait="straight 1"):
        """Do as the operator does: on a busy machine a joint may be late long enough for the snake to stop flat, and a
        servo may miss so many replies that the driver stops all until it is rearmed.
        """
        mode = self.latest["mode"]
        if mode.name == "stopped":
            rospy.ServiceProxy("rearm", Trigger)()
        elif mode.name == "straighten":
            rospy.ServiceProxy("request_mode", RequestMode)("go")
        if mode.name == "straighten" or (mode.name, mode.text) == ("go", "ready"):
            self.gait.publish(gait)

    def test_1_it_crawls_on_the_bus(self):
        names = tuple(f"module_{k:02d}_{'pitch' if k % 2 else 'yaw'}" for k in range(1, 17))
        self.assertEqual(tuple(self.latest["joint_states"].name), names)
        begin = self.x()
        self.wait(lambda: self.x() - begin > 0.2, "three steps", self.go_on_after_a_stop)

    def test_2_emergency_stop_and_rearm(self):
        stop, rearm = (rospy.ServiceProxy(name, Trigger) for name in ("emergency_stop", "rearm"))
        self.wait(lambda: stop().success, "torque off is confirmed")  # on a busy machine too late for one call
        self.wait(lambda: self.latest["stopped"].data and self.latest["mode"].name == "stopped", "stopped")
        self.wait(lambda: rearm().success, "rearmed")
        # before, gaits are refused
        self.wait(
            lambda: self.latest["mode"].name == "go", "ready again", lambda: self.go_on_after_a_stop("straight -1")
        )
        self.gait.publish("straight -1")
        begin = self.x()
        self.wait(lambda: begin - self.x() > 0.1, "steps backwards", lambda: self.go_on_after_a_stop("straight -1"))


if __name__ == "__main__":
    rospy.init_node("snake_on_servos_rostest")
    rostest.rosrun("snake_bringup", "snake_on_servos", SnakeOnServosTest)
