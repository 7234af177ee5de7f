#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The node `emulated_robot`: its topics at 100 Hz in wall time, its diagnostics, and faults through its service."""

from __future__ import annotations

import sys
import time
import unittest

import rospy
import rostest
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Image, Imu, JointState
from std_srvs.srv import Trigger

from ax_bus import Bus, Timeouts, direction
from ax_bus.errors import NoReplyError
from ax_bus.serial_port import SerialPort
from shellbot_common.testing import wait_until
from shellbot_description import driven_joint_names
from shellbot_msgs.msg import Contacts

WAIT = 240.0  # s; only what hangs takes so long
PATIENT = Timeouts(link_latency=0.08)


class EmulatedRobotTest(unittest.TestCase):
    """One robot for all tests."""

    def diagnostics(self):
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            for status in rospy.wait_for_message("/diagnostics", DiagnosticArray, WAIT).status:
                if status.name.startswith("emulated_robot"):
                    return status
        raise AssertionError("no diagnostics of the emulated robot")

    def ping(self, bus, servo_id):
        """Ping until there is an answer: a busy machine only delays it."""
        end = time.monotonic() + WAIT
        while True:
            try:
                return bus.ping(servo_id, retries=3)
            except NoReplyError:
                self.assertLess(time.monotonic(), end, f"servo {servo_id} does not answer")

    def test_topics(self):
        joints = rospy.wait_for_message("ground_truth/joint_states", JointState, WAIT)
        self.assertEqual(tuple(joints.name), driven_joint_names("walker"))
        self.assertLess(abs(joints.header.stamp.to_sec() - time.time()), WAIT)
        imu = rospy.wait_for_message("imu/data", Imu, WAIT)
        self.assertAlmostEqual(imu.linear_acceleration.z, 9.8, delta=1.0)
        odometry = rospy.wait_for_message("ground_truth/odom", Odometry, WAIT)
        self.assertEqual((odometry.header.frame_id, odometry.child_frame_id), ("world", "base_link"))
        self.assertEqual(len(rospy.wait_for_message("ground_truth/foot_contacts", Contacts, WAIT).contacts), 6)
        picture = rospy.wait_for_message("camera/image_raw", Image, WAIT)
        self.assertEqual((picture.width, picture.height), (64, 48))
        self.assertGreater(len(set(picture.data)), 10)
        stamps = []
        listener = rospy.Subscriber("ground_truth/joint_states", JointState, lambda m: stamps.append(m.header.stamp))
        wait_until(lambda: len(stamps) > 100, lambda: f"100 messages; {len(stamps)} came")
        listener.unregister()

    def test_faults(self):
        status = self.diagnostics()
        rospy.wait_for_service("emulated_robot/apply", WAIT)
        apply = rospy.ServiceProxy("emulated_robot/apply", Trigger)
        rospy.set_param("/emulated_robot/fault", {"kind": "dad"})
        refused = apply()
        self.assertFalse(refused.success)
        self.assertIn("choose from lost_reply", refused.message)
        with SerialPort(status.hardware_id, 1_000_000, direction("auto")) as port:
            bus = Bus(port, PATIENT)
            self.ping(bus, 5)
            rospy.set_param("/emulated_robot/fault", [{"kind": "dead", "servo": 5, "stop": 3.0}])
            rospy.set_param("/emulated_robot/charge", 0.3)
            answer = apply()
            self.assertTrue(answer.success, answer.message)
            with self.assertRaises(NoReplyError):
                while True:  # until the robot's process has taken the fault
                    bus.ping(5, retries=0)
            self.ping(bus, 6)
            self.ping(bus, 5)
        values = {pair.key: pair.value for pair in self.diagnostics().values}
        self.assertEqual(values["fault dead"], "1")
        self.assertLess(float(values["voltage [V]"]), 11.5)


if __name__ == "__main__":
    rospy.init_node("emulated_robot_rostest")
    rostest.rosrun("shellbot_chain", "emulated_robot_rostest", EmulatedRobotTest, sys.argv)
