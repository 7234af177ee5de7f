#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keys drive the snake: bytes on a terminal, the real teleop, cmd_vel and gaits, rigid bodies; and waypoints."""

from __future__ import annotations

import math
import sys
import time
import unittest
from pathlib import Path

import rospy
import rostest
from geometry_msgs.msg import PoseStamped
from latest_topics import LatestTopics
from nav_msgs.msg import Odometry
from roslib.packages import find_node, get_pkg_dir
from std_msgs.msg import String

from shellbot_msgs.msg import Mode

sys.path.insert(0, str(Path(get_pkg_dir("shellbot_teleop")) / "test"))
from teleop_pty import TerminalProcess  # noqa: E402

KEYMAP = Path(get_pkg_dir("snake_bringup")) / "config" / "keymap.yaml"
GAITS = ("straight", "turning", "side_winding", "inclined", "flapping", "s_rotation", "u_rotation", "rolling")


class SnakeKeysTest(LatestTopics, unittest.TestCase):
    """The cases follow each other on one robot."""

    @classmethod
    def setUpClass(cls):
        cls.listen(
            ("ground_truth/odom", Odometry), ("odom", Odometry), ("mode", Mode), ("waypoint_state", String),
        )  # fmt: skip
        cls.goal = rospy.Publisher("move_base_simple/goal", PoseStamped, queue_size=1)
        cls.terminal = TerminalProcess(
            [
                find_node("shellbot_teleop", "teleop_terminal")[0],
                "--keymap",
                str(KEYMAP),
                "--layout",
                "drive",
                "--armed",
            ]
        )
        # a key pressed before is refused, and its repeats with it
        assert cls.terminal.wait_for("You are in control", cls.limit), cls.terminal.text[-2000:]
        cls.wait(lambda: len(cls.latest) == 4 and cls.goal.get_num_connections(), "all topics")

    @classmethod
    def tearDownClass(cls):
        cls.terminal.close()

    @classmethod
    def wait(cls, condition, what, key=None):
        """Wait for a condition; with a key, hold it down meanwhile, and press it anew every 10 s."""
        began = time.monotonic()

        def hold():
            # 1 s: the terminal sees a release where it refused the press
            if key is not None and (time.monotonic() - began) % 10.0 < 9.0:
                cls.terminal.type(key)

        super().wait(condition, what, hold, 0.01 if key is None else 0.04)

    def step(self):
        return self.latest["mode"].step

    def pose(self, topic="odom"):
        pose = self.latest[topic].pose.pose
        return pose.position.x, pose.position.y, 2.0 * math.atan2(pose.orientation.z, pose.orientation.w)

    def moved(self, since):
        """Forward, left (m) and turned (rad) since a pose, in its axes."""
        x, y, yaw = self.pose()
        cos, sin = math.cos(since[2]), math.sin(since[2])
        dx, dy = x - since[0], y - since[1]
        return cos * dx + sin * dy, -sin * dx + cos * dy, math.remainder(yaw - since[2], 2.0 * math.pi)

    def test_1_letters_drive_by_cmd_vel(self):
        for key, family, axis, least in (
            (b"w", "forward +1", 0, 0.05), (b"s", "forward -1", 0, -0.05), (b"a", "sideways +1", 1, 0.15),
            (b"d", "sideways", 1, -0.15), (b"q", "rotation", 2, 0.3), (b"e", "rotation", 2, -0.3),
        ):  # fmt: skip
            self.wait(lambda name=family: self.step().startswith(name), f"{key!r}: {family}", key)
            since = self.pose()

            def is_far(since=since, axis=axis, least=least):
                return self.moved(since)[axis] / least > 1.0

            self.wait(is_far, f"{key!r} moves it", key)
            self.terminal.type(b" ")
            self.wait(lambda: self.step() == "", "the space bar stops it flat")

    def test_2_digits_are_the_gaits_of_the_source(self):
        for digit, name in enumerate(GAITS, 1):
            self.terminal.type(str(digit).encode())
            self.wait(lambda gait=name: self.step() == f"{gait} +1", f"{digit}: {name}")
            if digit not in (1, len(GAITS)):
                continue
            time.sleep(1.0)  # the terminal takes the same byte within its repeat for a key held down
            self.terminal.type(str(digit).encode())
            self.wait(lambda gait=name: self.step() == f"{gait} -1", f"{digit} again: reversed")
        self.terminal.type(b"0")
        self.wait(lambda: not self.step() or self.step().startswith("still"), "still")
        self.terminal.type(b"4")
        self.wait(lambda: self.step() == "inclined +1", "a gait")
        self.terminal.type(b" ")
        self.wait(lambda: self.step() == "", "the space bar stops a gait, too")

    def test_3_a_waypoint_is_reached_with_the_robots_own_estimate(self):
        goal = PoseStamped()
        goal.header.frame_id = "world"
        self.goal.publish(goal)  # refused: another frame
        x, y, yaw = self.pose()
        cos, sin = math.cos(yaw), math.sin(yaw)
        goal.header.frame_id = "odom"
        goal.pose.position.x, goal.pose.position.y = x + 0.2 * cos - 0.3 * sin, y + 0.2 * sin + 0.3 * cos
        goal.pose.orientation.z, goal.pose.orientation.w = math.sin(0.5 * yaw), math.cos(0.5 * yaw)
        self.goal.publish(goal)
        self.wait(lambda: self.latest["waypoint_state"].data == "going", "going")
        self.wait(lambda: self.latest["waypoint_state"].data == "reached", "reached")
        ahead, left, turned = self.moved((x, y, yaw))
        self.assertAlmostEqual(ahead, 0.2, delta=0.04)
        self.assertAlmostEqual(left, 0.3, delta=0.04)
        self.assertAlmostEqual(turned, 0.0, delta=0.08)
        goal.pose.position.x += 1.0
        self.goal.publish(goal)
        self.wait(lambda: self.latest["waypoint_state"].data == "going", "going again")
        self.wait(lambda: self.latest["waypoint_state"].data == "cancelled", "a key takes over", b"w")

    def test_4_q_quits_in_the_layout_of_the_source(self):
        self.terminal.type(b"\t")
        self.assertTrue(self.terminal.wait_for("q quits", self.limit))
        self.terminal.type(b"1")
        self.wait(lambda: self.step() == "straight +1", "a gait")
        self.terminal.type(b"q")
        self.assertEqual(self.terminal.wait(self.limit), 0)
        self.wait(lambda: self.step() == "", "it ends with the operator that requested it")


if __name__ == "__main__":
    rospy.init_node("snake_keys_rostest")
    rostest.rosrun("snake_bringup", "snake_keys", SnakeKeysTest)
