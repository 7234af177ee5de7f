#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gazebo, which starts paused, goes when joints and controller are ready, and not before."""

from __future__ import annotations

import threading
import unittest

import rosgraph
import rospy
import rostest
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Empty, EmptyResponse

LIMIT_S = 60.0  # wall clock; only a hung node meets it


class PaceTest(unittest.TestCase):
    def test_physics_begins_when_the_joints_are_in_place_and_the_controller_is_loaded(self):
        rospy.init_node("pace_test")
        began, calls = threading.Event(), []

        def answer(name):
            def callback(_request):
                calls.append(name)
                began.set()
                return EmptyResponse()

            return callback

        services = [
            rospy.Service(f"/gazebo/{name}", Empty, answer(name)) for name in ("pause_physics", "unpause_physics")
        ]
        loaded = rospy.Subscriber("some_controller/command", Float64MultiArray)
        self.assertFalse(began.wait(2.0), "the joints are not in place")
        loaded.unregister()
        rospy.set_param("/robot_is_spawned", True)
        while not any(topic == "/some_controller/command" for topic, _ in rosgraph.Master("/t").getSystemState()[0]):
            rospy.rostime.wallsleep(0.02)  # until the node looks for the controller
        self.assertFalse(began.wait(0.3))
        loaded = rospy.Subscriber("some_controller/command", Float64MultiArray)
        self.assertTrue(began.wait(LIMIT_S))
        self.assertEqual(calls, ["unpause_physics"])
        del services, loaded


if __name__ == "__main__":
    rostest.rosrun("shellbot_gazebo_connector", "pace_rostest", PaceTest)
