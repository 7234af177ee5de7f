#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The action transform_and_roll, live: closes, rolls to a point, opens; a cancel in mid-roll; refusals."""

from __future__ import annotations

import math
import unittest

import actionlib
import rospy
import rostest
from actionlib_msgs.msg import GoalStatus
from mode_watch import ModeWatch
from nav_msgs.msg import Odometry

from shellbot_msgs.msg import Mode, PerformActionAction, PerformActionGoal
from shellbot_msgs.srv import RequestMode

NAME = "transform_and_roll"
ENDS = (GoalStatus.SUCCEEDED, GoalStatus.ABORTED, GoalStatus.PREEMPTED, GoalStatus.REJECTED)


class TransformAndRollTest(ModeWatch, unittest.TestCase):
    """Tests run in the order of their names; each begins standing."""

    @classmethod
    def setUpClass(cls):
        cls.last, cls.feedback = {}, []
        cls.client = actionlib.SimpleActionClient(NAME, PerformActionAction)
        cls.request_service = rospy.ServiceProxy("request_mode", RequestMode)
        for name, kind in (("mode", Mode), ("odom", Odometry), ("ground_truth/odom", Odometry)):
            rospy.Subscriber(name, kind, lambda message, key=name: cls.last.__setitem__(key, message), queue_size=1)

    def setUp(self):
        self.until(lambda: self.mode() in [(mode, mode, "") for mode in ("hexapod", "shell")], "ready")
        if self.mode()[0] == "shell":  # where a test that failed left it
            self.assertTrue(self.request_service("hexapod").accepted)
        self.until(lambda: self.mode() == ("hexapod", "hexapod", ""), "standing and ready")
        self.until(lambda: len(self.last) == 3, "odometry")
        self.assertTrue(self.client.wait_for_server(rospy.Duration(self.wall_limit)), "the action server")
        self.feedback.clear()

    def place(self, topic="odom"):
        position = self.last[topic].pose.pose.position
        return position.x, position.y

    def send(self, dx, dy, **others):
        """Send a goal that lies dx, dy (m) in odom from here; returns its point."""
        x, y = self.place()
        return self.send_to((x + dx, y + dy), **others)

    def send_to(self, point, **others):
        goal = PerformActionGoal(**{"name": NAME, "parameters": list(point), **others})
        self.client.send_goal(goal, feedback_cb=self.feedback.append)
        return point

    def until_rolling(self, phase=0.0):
        def is_rolling():
            self.assertNotIn(self.client.get_state(), ENDS, self.client.get_goal_status_text())
            return any(f.sub_action == "rolling" and f.phase > phase for f in self.feedback)

        self.until(is_rolling, "rolling")

    def until_closing(self):
        def is_closing():
            self.assertNotIn(self.client.get_state(), ENDS, self.client.get_goal_status_text())
            return self.last["mode"].target == "shell"

        self.until(is_closing, "closing")

    def wait(self):
        ended = lambda: self.client.get_state() in ENDS and self.client.get_result() is not None  # noqa: E731
        self.until(ended, "the end of the action")  # the status comes on a topic of its own, often before the result
        return self.client.get_state(), self.client.get_result()

    def test_1_refusals_in_words(self):
        self.send(1.0, 0.0, name="dance")
        state, result = self.wait()
        self.assertEqual(state, GoalStatus.REJECTED)
        self.assertIn("its name is transform_and_roll", self.client.get_goal_status_text())
        self.send(1.0, 0.0)
        self.until_closing()
        other = actionlib.SimpleActionClient(NAME, PerformActionAction)
        self.assertTrue(other.wait_for_server(rospy.Duration(self.wall_limit)))
        other.send_goal(PerformActionGoal(name=NAME, parameters=[1.0, 0.0]))
        self.until(lambda: other.get_state() == GoalStatus.REJECTED, "the refusal of a second goal")
        self.assertIn("another goal is under way", other.get_goal_status_text())
        self.client.cancel_goal()
        state, result = self.wait()
        self.assertEqual(state, GoalStatus.PREEMPTED, result)
        self.assertIn("the robot rests in mode", result.text)  # the nearer one
        self.until(lambda: self.mode() in [(mode, mode, "") for mode in ("hexapod", "shell")], "at rest")
        if self.mode()[0] == "shell":
            self.assertTrue(self.request_service("hexapod").accepted)

    def test_2_closes_rolls_and_opens(self):
        begin, arrived = self.place("ground_truth/odom"), []
        point = self.send(0.6, -0.6)
        for _ in range(3):  # one of twenty balls comes to rest beside the point, and the answer is to try again
            self.until_rolling()
            self.until(lambda: self.last["mode"].target == "hexapod" or self.client.get_state() in ENDS, "opening")
            arrived.append(self.place())
            rolled = math.dist(self.place("ground_truth/odom"), begin)
            state, result = self.wait()
            if state == GoalStatus.SUCCEEDED:
                break
            self.assertIn("m from the point; the ball rests", result.text)
            self.until(lambda: self.mode() == ("shell", "shell", ""), "a ball")
            self.send_to(point)
        self.assertEqual(state, GoalStatus.SUCCEEDED, result)
        self.assertTrue(result.success)
        self.until(lambda: self.mode() == ("hexapod", "hexapod", ""), "standing")
        self.assertLess(math.dist(arrived[-1], point), 0.10)
        self.assertGreater(rolled, 0.7)
        progress = [f.progress for f in self.feedback]
        self.assertGreater(len({f.sub_action for f in self.feedback}), 10, "steps in words")
        self.assertLess(progress[0], 0.5, "a slow machine loses the first messages")
        self.assertGreater(max(progress), 0.9)

    def test_3_a_cancel_in_mid_roll_leaves_a_ball_at_rest(self):
        self.send(4.0, 0.0)
        self.until_rolling(0.2)
        self.client.cancel_goal()
        state, result = self.wait()
        self.assertEqual(state, GoalStatus.PREEMPTED, result)
        self.assertIn("the ball rests in mode shell", result.text)
        place = self.place("ground_truth/odom")
        self.until_later("ground_truth/odom", 2.0)
        self.assertLess(math.dist(self.place("ground_truth/odom"), place), 0.1)
        self.until(lambda: self.mode() == ("shell", "shell", ""), "a ball")


if __name__ == "__main__":
    rospy.init_node("transform_and_roll_rostest")
    rostest.rosrun("shellbot_action_manager", "transform_and_roll_live", TransformAndRollTest)
