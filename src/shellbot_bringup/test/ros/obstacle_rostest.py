#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A box before the walking robot stops it; deleted, it lets it walk on."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest

import rospy
import rostest
from geometry_msgs.msg import Point, Pose, Quaternion
from std_srvs.srv import Empty
from visualization_msgs.msg import MarkerArray

from shellbot_msgs.msg import Obstacle
from shellbot_msgs.srv import DeleteObstacle, ListObstacles, SpawnObstacle

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from live_robot import LiveRobot  # noqa: E402

GAP_M = 0.45  # from the robot's middle to the front of the wall: its feet are about 0.25 ahead


def box(name: str, x: float, height: float = 1.0, **changes: object) -> Obstacle:
    pose = Pose(Point(x, 0.0, 0.5 * height), Quaternion())
    fields = {"name": name, "shape": Obstacle.BOX, "size": [0.2, 4.0, height], "pose": pose, **changes}
    return Obstacle(**fields)


class ObstacleTest(unittest.TestCase):
    """One robot, in the order of the tests' names."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.markers = []
        cls.subscriber = rospy.Subscriber("obstacles", MarkerArray, lambda m: cls.markers.append(m.markers))
        cls.robot = LiveRobot()
        cls.spawn = staticmethod(rospy.ServiceProxy("simulator/spawn_obstacle", SpawnObstacle))
        cls.delete = staticmethod(rospy.ServiceProxy("simulator/delete_obstacle", DeleteObstacle))
        cls.list = staticmethod(rospy.ServiceProxy("simulator/list_obstacles", ListObstacles))
        cls.robot.wait_until_standing(30)

    def names(self) -> list:
        return [entry.name for entry in self.list().obstacles]

    def test_1_stops_and_lets_walk_on(self) -> None:
        robot = self.robot
        robot.drive(2.0, 0.2)
        start, front = robot.pose()[0], robot.pose()[0] + GAP_M
        self.assertGreater(start, 0.1, "it walks")
        answer = self.spawn(box("wall", front + 0.1))
        self.assertTrue(answer.success, answer.reason)
        robot.wait_for(lambda: any(len(m) == 2 and m[1].text == "wall" for m in self.markers), 30, "a marker")
        robot.drive(5.0, 0.2)  # 1 m
        held = robot.pose()[0]
        self.assertLess(held, front - 0.05, "the wall stops it")
        self.assertGreater(held, start + 0.05, "at the wall, not at its appearance")
        self.assertEqual(self.names(), ["wall"])
        self.assertTrue(self.delete("wall").success)
        robot.drive(5.0, 0.2)
        self.assertGreater(robot.pose()[0], front + 0.2, "it walks on, through where the wall was")
        robot.wait_for(lambda: len(self.markers[-1]) == 1, 30, "no marker")

    def test_2_bad_requests_are_refused_in_words(self) -> None:
        x = self.robot.pose()[0]
        far = x + 3.0
        cases = (
            (box("here", x), "here overlaps "),
            (box("nan", float("nan")), "position x"),
            (box("thin", far, height=0.0), "height"),
            (box("cone", far, shape="cone"), "box, cylinder, sphere"),
            (box("", far), "1 to 64"),
        )
        for obstacle, words in cases:
            answer = self.spawn(obstacle)
            self.assertFalse(answer.success, obstacle.name)
            self.assertIn(words, answer.reason)
        self.assertTrue(self.spawn(box("twice", far)).success)
        self.assertIn("already", self.spawn(box("twice", far)).reason)
        answer = self.delete("nothing")
        self.assertFalse(answer.success)
        self.assertIn("there are: twice", answer.reason)
        self.assertTrue(self.delete("twice").success)

    def test_3_the_command_line_and_a_reset(self) -> None:
        def tool(*words: str) -> subprocess.CompletedProcess:
            command = ["rosrun", "shellbot_simulator", "obstacle", *words]
            return subprocess.run(command, capture_output=True, text=True, timeout=120)

        done = tool("add", "sphere", "ball", "--size", "0.1", "--at", "2", "1", "0.5", "--mass", "0.3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.robot.wait_for(lambda: self.list().obstacles[0].pose.position.z < 0.11, 30, "the ball falls")
        rospy.ServiceProxy("/gazebo/reset_simulation", Empty)()
        self.assertEqual(self.names(), ["ball"], "a reset leaves it there")
        self.assertIn("ball: sphere 100 mm at 2.0", tool("list").stdout)
        self.assertEqual(tool("delete", "bal").returncode, 1)
        self.assertEqual(tool("delete", "ball").stdout, "ball is gone\n")
        self.assertEqual(self.names(), [])


if __name__ == "__main__":
    rospy.init_node("obstacle_rostest")
    rostest.rosrun("shellbot_bringup", "obstacle", ObstacleTest)
