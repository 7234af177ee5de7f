#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The humanoid through its nodes: it stands, feels, hears, walks while cmd_vel comes, stops, refuses nonsense."""

from __future__ import annotations

import math
import unittest

import actionlib
import rospy
import rostest
from actionlib_msgs.msg import GoalStatus
from geometry_msgs.msg import PoseStamped, Twist
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Log
from sensor_msgs.msg import PointCloud, Range
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from humanoid_motion.move_joint_node import main as move_joint
from shellbot_common.testing import PATIENCE, wait_until
from shellbot_msgs.msg import ActionDescriptions, Mode, PerformActionAction, PerformActionGoal, Walkspace
from shellbot_msgs.srv import MoveJoints, RequestMode

COMPILED_S = 300.0  # wall clock; a node that starts for the first time compiles its kernels
END = (GoalStatus.SUCCEEDED, GoalStatus.PREEMPTED, GoalStatus.ABORTED, GoalStatus.REJECTED)
TWIST_PERIOD_S = 0.02  # wall clock; many a simulated cmd_vel time-out even at ten times real time


class WalkTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rospy.init_node("walk_test")
        cls.truth, cls.odometry, cls.modes, cls.twist = [], [], [], None
        cls.log, cls.walkspace, cls.frames = [], [], {}
        cls.bumpers = {side: [] for side in "lr"}
        cls.soles, cls.sonars = {"l": [], "r": []}, {"left": [], "right": []}
        cls.subscribers = [
            rospy.Subscriber(name, kind, messages.append, queue_size=1000)
            for name, kind, messages in (
                ("ground_truth/odom", Odometry, cls.truth),
                ("odom", Odometry, cls.odometry),
                ("mode", Mode, cls.modes),
                ("walkspace", Walkspace, cls.walkspace),
                ("/rosout", Log, cls.log),
                *((f"load_cells/{side}_sole", PointCloud, messages) for side, messages in cls.soles.items()),
                *((f"bumpers/{side}_bumper", Bool, messages) for side, messages in cls.bumpers.items()),
                *((f"range/sonar_{side}", Range, messages) for side, messages in cls.sonars.items()),
            )
        ]
        cls.subscribers.append(rospy.Subscriber("/tf", TFMessage, cls.keep_parents, queue_size=100))
        cls.cmd_vel = rospy.Publisher("cmd_vel", Twist, queue_size=1)
        cls.goal = rospy.Publisher("walk_to", PoseStamped, queue_size=1)
        cls.wait(lambda: cls.truth and cls.odometry and cls.modes, "truth, odometry and mode", COMPILED_S)

    @classmethod
    def keep_parents(cls, message):
        cls.frames.update({each.child_frame_id: each.header.frame_id for each in message.transforms})

    def logged(self, words):
        self.wait(lambda: any(m.name == "/walk" and words in m.msg for m in self.log), f"'{words}' in the log")

    @classmethod
    def wait(cls, condition, what, limit=PATIENCE):
        """Wait until a condition holds, and command the twist of the moment meanwhile."""
        wait_until(condition, what, limit, lambda: cls.twist and cls.cmd_vel.publish(cls.twist), TWIST_PERIOD_S)

    @property
    def place(self):
        return self.truth[-1].pose.pose.position

    def test_0_standing_it_feels_its_weight_and_hears_the_wall(self):
        # a slow machine may have simulated many seconds before the first command came, so time counts from here; a
        # subscription that comes later than the others would have nothing of it
        self.wait(lambda: all(self.soles.values()), "load cells")
        start = self.truth[-1].header.stamp + rospy.Duration(1.0)
        end = start + rospy.Duration(1.0)
        news = [*self.soles.values(), *self.sonars.values()]
        self.wait(lambda: all(m and m[-1].header.stamp >= end for m in news), "load cells and ranges")
        # the mean of a second: at any moment it sways, and the load is its weight and what accelerates it
        weight = 0.0
        for messages in self.soles.values():
            loads = [sum(m.channels[0].values) for m in list(messages) if start <= m.header.stamp < end]
            weight += sum(loads) / len(loads)
        self.assertAlmostEqual(weight, 5.195 * 9.81, delta=1.0)
        self.wait(lambda: all(self.bumpers.values()), "bumpers")
        self.assertFalse(any(message.data for messages in self.bumpers.values() for message in messages))
        for side, messages in self.sonars.items():
            self.assertEqual(messages[-1].header.frame_id, f"sonar_{side}")
            self.assertAlmostEqual(messages[-1].range, 1.5 - self.place.x - 0.03, delta=0.04)
            stamps = {message.header.stamp.to_nsec() for message in messages}
            self.assertEqual({stamp % 100_000_000 for stamp in stamps}, {0}, "10 Hz")

    def test_1_it_walks_while_it_is_told_to_and_then_stands_where_odometry_says(self):
        start, from_odometry = self.place, self.odometry[-1].pose.pose.position
        type(self).twist = Twist()
        self.twist.linear.x = 0.15
        self.wait(lambda: self.place.x - start.x > 0.2, "0.2 m ahead")
        count = len(self.odometry)
        self.wait(lambda: self.place.x - start.x > 0.3, "0.3 m ahead")
        speeds = [message.twist.twist.linear.x for message in self.odometry[count:]]
        self.assertAlmostEqual(sum(speeds) / len(speeds), 0.15, delta=0.03)
        type(self).twist = None
        self.wait(lambda: self.modes[-1].name == "stand", "standing after cmd_vel ended")
        seen = self.odometry[-1].pose.pose.position.x - from_odometry.x
        self.assertAlmostEqual(seen, self.place.x - start.x, delta=0.05)
        self.assertGreater(self.place.z, 0.30)
        self.assertAlmostEqual(self.odometry[-1].pose.pose.position.z, self.place.z, delta=0.01)
        self.assertEqual((self.frames["base_footprint"], self.frames["base_link"]), ("odom", "base_footprint"))

    def test_2_nonsense_moves_nothing(self):
        count = len(self.truth)
        self.wait(lambda: len(self.truth) > count + 100, "a second in which it settles after the walk")
        before, count = self.place, len(self.truth)
        bad = Twist()
        bad.linear.x = math.nan
        self.cmd_vel.publish(bad)
        self.logged("the robot stops; give finite numbers")
        goal = PoseStamped()
        goal.header.frame_id = "map"
        goal.pose.orientation.w = 1.0
        self.goal.publish(goal)
        self.logged("give it in odom")
        goal.header.frame_id = "odom"
        goal.pose.position.x = math.inf
        self.goal.publish(goal)
        self.logged("the place (inf")
        goal.pose.position.x = 1e15
        self.goal.publish(goal)
        self.logged("goal [1000000000000000.0")
        self.wait(lambda: len(self.truth) > count + 100, "a second of standing")
        self.assertEqual(self.modes[-1].name, "stand")
        self.assertAlmostEqual(self.place.x, before.x, delta=0.005)

    def test_3_it_walks_to_a_pose(self):
        goal = PoseStamped()
        here = self.odometry[-1].pose.pose
        goal.pose.position.x, goal.pose.position.y = here.position.x + 0.15, here.position.y + 0.08
        goal.pose.orientation.z, goal.pose.orientation.w = math.sin(0.25), math.cos(0.25)
        count = len(self.modes)
        self.goal.publish(goal)
        self.wait(lambda: [m.name for m in self.modes[count:]] == ["walk", "stand"], "walking and arriving")
        self.assertIn("It arrived", self.modes[-1].text)
        yaw = 2.0 * math.atan2(*(getattr(self.truth[-1].pose.pose.orientation, axis) for axis in "zw"))
        self.assertAlmostEqual(yaw - 0.5, 0.0, delta=0.06)

    def test_4_joints_and_poses_are_commanded_by_services_and_refused_in_words(self):
        move, request = rospy.ServiceProxy("move_joints", MoveJoints), rospy.ServiceProxy("request_mode", RequestMode)
        refused = move(["HeadYaw"], [math.nan], 0.2)
        self.assertFalse(refused.accepted)
        self.assertIn("-2.0857 .. 2.0857", refused.reason)
        self.assertIn("one motor", move(["LHipYawPitch", "RHipYawPitch"], [0.0, -0.1], 0.2).reason)
        self.assertIn("2 names, 1 positions", move(["HeadYaw", "HeadPitch"], [0.0], 0.2).reason)
        self.assertEqual(move_joint(["--pose", "crouch", "--speed", "0.3"]), 0)
        self.wait(lambda: "holds the pose crouch" in self.modes[-1].text, "the pose crouch")
        self.wait(lambda: self.place.z < 0.28, "a low torso")
        self.assertEqual(move_joint(["HeadYaw=9"]), 1)
        self.assertTrue(request("stand").accepted)
        self.wait(lambda: self.modes[-1].name == "stand", "standing")
        self.assertIn("no mode or pose", request("sit").reason)

    def test_4b_motions_are_performed_by_name_and_end_by_themselves_or_when_cancelled(self):
        announced, feedback = [], []
        actions = rospy.Subscriber("actions", ActionDescriptions, announced.append, queue_size=1)
        self.wait(lambda: announced, "the list of actions")
        actions.unregister()
        names = [action.name for action in announced[-1].actions]
        self.assertTrue({"bow", "get_up", "wave", "crouch", "stand"} <= set(names), names)
        client = actionlib.SimpleActionClient("perform_action", PerformActionAction)
        self.wait(lambda: client.wait_for_server(rospy.Duration(0.1)), "the server")

        def result_of(cancel=False, **goal):
            client.send_goal(PerformActionGoal(**goal), feedback_cb=feedback.append)
            if cancel:
                self.wait(lambda: self.modes[-1].target == goal["name"], "its begin")
                client.cancel_goal()
            # the result comes on a topic of its own, often after the state
            self.wait(lambda: client.get_state() in END and client.get_result(), f"the end of {goal['name']}")
            return client.get_state(), client.get_result().text

        self.assertEqual(result_of(name="wave"), (GoalStatus.SUCCEEDED, "wave is performed"))
        self.assertTrue(any(each.sub_action == "frame 3 of 7" and 0.2 < each.progress < 0.6 for each in feedback))
        self.wait(lambda: self.modes[-1].name == "stand", "standing")
        state, text = result_of(name="bow", speed=0.1, cancel=True)
        self.assertEqual((state, text), (GoalStatus.PREEMPTED, "bow is cancelled: it was requested"))
        self.assertIn("has no parameters", result_of(name="wave", parameters=[3.0])[1])
        self.assertEqual(result_of(name="dance")[0], GoalStatus.REJECTED)
        self.assertIn("scripts/action run wave", rospy.ServiceProxy("request_mode", RequestMode)("wave").reason)
        self.wait(lambda: self.modes[-1].name == "stand", "standing")

    def test_5_when_it_topples_it_lies_limp_and_gets_up_when_asked_to(self):
        request = rospy.ServiceProxy("request_mode", RequestMode)
        self.assertIn("has not fallen", request("recover").reason)
        self.assertEqual(move_joint(["LAnklePitch=0.9", "RAnklePitch=0.9", "--speed", "0.9"]), 0)  # onto its heels
        self.wait(lambda: self.modes[-1].name == "fallen", "lying")
        self.assertIn("request recover", self.modes[-1].text)
        self.assertLess(self.place.z, 0.15)
        self.assertFalse(request("stand").accepted)
        self.assertTrue(request("recover").accepted)
        self.wait(lambda: self.modes[-1].name == "get_up", "getting up")
        self.wait(lambda: self.modes[-1].name != "get_up", "the end of getting up")
        self.assertEqual(self.modes[-1].name, "stand")
        count = len(self.truth)
        self.wait(lambda: len(self.truth) > count + 100, "a second of standing")
        self.assertGreater(self.place.z, 0.29)

    def test_6_an_emergency_stop_ends_the_walk_and_after_rearm_it_stands_until_it_is_commanded(self):
        self.wait(lambda: self.walkspace, "the limits of cmd_vel")
        type(self).twist = Twist()
        self.twist.linear.x = 2.0 * self.walkspace[-1].max_velocity.linear.x  # a program that goes on
        self.wait(lambda: self.modes[-1].name == "walk", "walking")
        self.logged("ahead 0.50 m/s (limits -0.15 .. 0.25)")
        self.assertTrue(rospy.ServiceProxy("emergency_stop", Trigger)().success)
        self.wait(lambda: self.modes[-1].name == "stopped", "the walk's end")
        self.assertEqual(self.modes[-1].mode, Mode.STOPPED)
        self.assertIn("rearm", self.modes[-1].text)
        count, goal = len(self.truth), PoseStamped()
        goal.pose.orientation.w = 1.0
        self.goal.publish(goal)
        self.logged("Emergency stop")
        self.wait(lambda: len(self.truth) > count + 100, "a second in which cmd_vel goes on")
        self.assertEqual(self.modes[-1].name, "stopped")
        type(self).twist = None
        self.assertTrue(rospy.ServiceProxy("rearm", Trigger)().success)
        # a cmd_vel that a slow machine delivers after the rearm walks until its time-out; it may fall from a held step
        self.wait(lambda: self.modes[-1].name in ("stand", "falling", "fallen"), "an end of the stop without a walk")


if __name__ == "__main__":
    rostest.rosrun("humanoid_bringup", "walk_test", WalkTest)
