#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""display.launch on a real master: description, sliders, transforms."""

import sys
import unittest
from xml.etree import ElementTree

import rospy
import rostest
import tf2_ros
from sensor_msgs.msg import JointState

from shellbot_description import driven_joint_names, named_pose, pose

WAIT = 120.0  # s, wall clock


class DisplayTest(unittest.TestCase):
    """What RViz needs to show the robot."""

    def test_description_is_the_variant_asked_for(self):
        robot = ElementTree.fromstring(rospy.get_param("robot_description"))
        self.assertEqual(len(robot.findall("joint/mimic")), 5)

    def test_sliders_publish_all_joints_in_the_pose(self):
        message = rospy.wait_for_message("joint_states", JointState, WAIT)
        self.assertEqual(set(message.name), set(driven_joint_names("full")))
        expected = named_pose("sit", "full")
        for name, position in zip(message.name, message.position):
            self.assertAlmostEqual(position, expected[name], delta=1e-3, msg=name)  # sliders have 10000 steps

    def test_feet_stand_at_the_height_of_the_pose(self):
        buffer = tf2_ros.Buffer()
        tf2_ros.TransformListener(buffer)
        for k in range(1, 7):
            found = buffer.lookup_transform("base_link", f"lower_{k}_foot", rospy.Time(0), rospy.Duration(WAIT))
            self.assertAlmostEqual(found.transform.translation.z, -pose("sit").body_height, delta=1e-3)


if __name__ == "__main__":
    rospy.init_node("description_display_rostest")
    rostest.rosrun("shellbot_description", "description_display", DisplayTest, sys.argv)
