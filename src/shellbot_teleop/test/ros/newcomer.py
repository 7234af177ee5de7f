# SPDX-License-Identifier: MIT
"""A newcomer's session, the same with window, terminal and page: take control, stand, walk, close, roll, open, sit."""

from __future__ import annotations

import math
import time

import rospy
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Log
from std_msgs.msg import Bool, String

from shellbot_common.testing import wait_until
from shellbot_msgs.msg import Mode

WAIT = 60.0  # s
LONG = 120.0  # s: a transformation on a busy machine
AGAIN = 20.0  # s until an operator requests once more what was not accepted
RESTS = 0.01  # m/s


class Robot:
    """What the robot reports and what it is commanded.

    Parameters
    ----------
    program : str
        Name of the operator's node, whose log is collected.
    """

    def __init__(self, program):
        self.program = program
        self.mode = self.target = ""
        self.speed, self.place, self.stopped, self.operator = 0.0, (0.0, 0.0), None, None
        self.twists = []  # (time, m/s forward)
        self.log = []  # of the program
        self._subscribers = [
            rospy.Subscriber("/rosout", Log, self._on_log),
            rospy.Subscriber("mode", Mode, self._on_mode),
            rospy.Subscriber("odom", Odometry, self._on_odometry),
            rospy.Subscriber("stopped", Bool, lambda message: setattr(self, "stopped", message.data)),
            rospy.Subscriber("operator", String, lambda message: setattr(self, "operator", message.data)),
            rospy.Subscriber("cmd_vel", Twist, self._on_twist, tcp_nodelay=True),
        ]

    def close(self):
        for subscriber in self._subscribers:
            subscriber.unregister()

    def _on_log(self, message):
        if message.name == f"/{self.program}":
            self.log.append(message.msg)

    def _on_mode(self, message):
        self.mode, self.target = message.name, message.target

    def _on_odometry(self, message):
        position = message.pose.pose.position
        self.place, self.speed = (position.x, position.y), message.twist.twist.linear.x

    def _on_twist(self, message):
        self.twists.append((time.monotonic(), message.linear.x))

    @property
    def shows_control(self):
        """Whether the program shows that it is in control: a moment after the robot has given it."""
        return any(text.startswith("You are in control") for text in self.log)

    @property
    def is_driven(self):
        return bool(self.twists) and self.twists[-1][1] != 0.0


def change(robot, operator, mode):
    """Let the operator request a mode until the robot is in it; a ball may need a second try to get upright."""
    deadline = time.monotonic() + 3.0 * LONG
    while robot.mode != mode:
        operator.request(mode)
        accepted = time.monotonic() + AGAIN
        while robot.target != mode and time.monotonic() < accepted:
            time.sleep(0.02)
        if robot.target == mode:  # else refused: on a busy machine a tick may lack its attitude
            wait_until(lambda: robot.mode == robot.target, lambda: f"mode {mode}, not {robot.mode}; {robot.log}")
        if time.monotonic() > deadline:
            raise AssertionError(f"no mode {mode}: {robot.mode}; {robot.program}: {robot.log}")


def drive(robot, operator, distance):
    """Let the operator drive forward until the robot has moved so far (m), and stop."""
    start = robot.place
    wait_until(
        lambda: math.dist(robot.place, start) >= distance,
        lambda: f"{robot.mode}: driven by {distance} m, not by {math.dist(robot.place, start):.3f}",
        meanwhile=operator.drive,
        period=0.1,
    )
    operator.rest()
    wait_until(lambda: not robot.is_driven and abs(robot.speed) < RESTS, "the robot stops")


def play(robot, operator, closes=True):
    """Play the session with a program that was opened in monitor mode.

    The operator has the methods `take_control` (until the program shows it), `request` (a mode), `drive` (called
    again and again) and `rest`.
    """
    operator.take_control()
    wait_until(lambda: robot.operator == robot.program, "the operator gets control")
    change(robot, operator, "stand")
    change(robot, operator, "hexapod")
    drive(robot, operator, 0.05)
    if closes:
        change(robot, operator, "shell")
        drive(robot, operator, 0.10)
        change(robot, operator, "hexapod")
    change(robot, operator, "sit")
