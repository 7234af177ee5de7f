#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The sliders of a robot's display.launch publish all joints of its description."""

import sys
import unittest
from xml.etree import ElementTree

import rospy
import rostest
from sensor_msgs.msg import JointState

WAIT = 120.0  # s, wall clock


class JointSlidersTest(unittest.TestCase):
    def test_all_joints_are_published(self):
        robot = ElementTree.fromstring(rospy.get_param("robot_description"))
        joints = {joint.get("name") for joint in robot.iter("joint") if joint.get("type") in ("revolute", "continuous")}
        message = rospy.wait_for_message("joint_states", JointState, WAIT)
        self.assertGreater(len(joints), 3)
        self.assertEqual(set(message.name), joints)


if __name__ == "__main__":
    rospy.init_node("joint_sliders_rostest")
    rostest.rosrun("shellbot_common", "joint_sliders", JointSlidersTest, sys.argv)
