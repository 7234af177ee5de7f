#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The arm swings, moves to a target, refuses one, and holds a pose without sagging when the page says so."""

from __future__ import annotations

import unittest

import numpy as np
import rospy
import rostest
from dynamic_reconfigure.client import Client
from rosgraph_msgs.msg import Log
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from shellbot_common.testing import wait_until

NAMES = [f"arm_joint_{k}" for k in range(1, 5)]


class Arm(unittest.TestCase):
    def setUp(self):
        self.joints, self.log, self.since = None, [], 0.0
        self.target = rospy.Publisher("arm_target", JointState, queue_size=1)
        self.subscribers = [
            rospy.Subscriber("joint_states", JointState, lambda m: setattr(self, "joints", m)),
            rospy.Subscriber("/rosout", Log, lambda m: self.log.append(m.msg)),
        ]

    def positions(self):
        return np.array(self.joints.position)[[self.joints.name.index(name) for name in NAMES]]

    def test_swings_moves_and_holds(self):
        wait_until(lambda: self.joints is not None, "joint states")
        seen = []
        wait_until(lambda: seen.append(self.positions()) or np.ptp(seen, axis=0).max() > 0.2, "the arm swings")
        page = Client("arm_motion", timeout=60.0)
        page.update_configuration({"amplitude": 0.0})
        wait_until(lambda: self.target.get_num_connections() > 0, "arm_motion listens")
        goal = [0.4, 0.7, 0.5, 0.3]
        self.target.publish(JointState(name=NAMES, position=goal))
        wait_until(
            lambda: np.abs(self.positions() - goal).max() < 1e-3, "the arm is where it was sent, and does not sag"
        )
        gains = Client("gains", timeout=60.0)
        gains.update_configuration({"stiffness": 0.5})
        self.since = self.joints.header.stamp.to_sec()
        wait_until(lambda: self.stays(goal, 2.0), "torques are fed forward through the stiffness in force")
        gains.update_configuration({"stiffness": 1.0})
        self.target.publish(JointState(name=["arm_joint_2"], position=[9.0]))
        wait_until(
            lambda: any("target refused: target 9.0 rad of arm_joint_2" in text for text in self.log), "a refusal"
        )
        page.update_configuration({"feed_forward": 0.0})
        wait_until(lambda: np.abs(self.positions() - goal).max() > 0.02, "without feed-forward it sags")
        for law in ("computed_torque", "pd_outside", "gravity_pd"):
            page.update_configuration({"law": law})
            wait_until(lambda: self.stays(goal, 1.0), f"law {law} holds the arm")
            page.update_configuration({"law": "servo"})
            wait_until(lambda: np.abs(self.positions() - goal).max() > 0.02, "on its servos alone it sags again")

        page.update_configuration({"law": "computed_torque", "interface": "effort"})
        wait_until(lambda: self.stays(goal, 1.0), "torques in place of the servos hold the arm")
        refused = page.update_configuration({"law": "servo"})
        self.assertEqual((refused["law"], refused["interface"]), ("computed_torque", "effort"))
        wait_until(lambda: any("law servo needs the servos" in text for text in self.log), "a refusal of the page")
        page.update_configuration({"law": "open_loop"})  # it may drift
        self.assertTrue(rospy.ServiceProxy("emergency_stop", Trigger)().success)
        wait_until(lambda: max(map(abs, self.joints.velocity)) < 1e-3, "an emergency stop ends the torques")
        here = self.positions()
        wait_until(lambda: self.stays(here, 1.0), "the arm is held")
        page.update_configuration({"law": "computed_torque"})
        self.assertTrue(rospy.ServiceProxy("rearm", Trigger)().success)
        wait_until(lambda: self.stays(goal, 1.0), "torques bring it back")
        page.update_configuration({"law": "pd_outside", "kd_outside": 1.0})
        warning = "law pd_outside with kp_outside 10 and kd_outside 1 lets errors grow"
        wait_until(lambda: any(warning in text for text in self.log), "a warning of gains")

    def stays(self, goal, seconds):
        """Whether the arm has been where it is to be for so long, in its own time."""
        now = self.joints.header.stamp.to_sec()
        if self.joints.header.stamp.to_sec() < self.since or np.abs(self.positions() - goal).max() > 5e-3:
            self.since = now
        return now > self.since + seconds


if __name__ == "__main__":
    rospy.init_node("arm_rostest", disable_rostime=True)
    rostest.rosrun("arm_bringup", "arm", Arm)
