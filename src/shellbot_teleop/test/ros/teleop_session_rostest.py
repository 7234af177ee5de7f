#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Newcomers on the window and on a terminal, with the real robot behind them; a link in another program's node."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import unittest

import psutil
import rospy
import rostest
from roslib.packages import find_node
from rospy.impl.registration import get_topic_manager

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from newcomer import WAIT, Robot, play
from robot_double import settings
from teleop_pty import TerminalProcess

from shellbot_benchmarks.virtual_display import XKeyboard, virtual_display
from shellbot_common.testing import wait_until
from shellbot_teleop.config import TeleopConfig
from shellbot_teleop.effects import PublishTwist, TakeControl
from shellbot_teleop.robot_monitor import RobotMonitor
from shellbot_teleop.ros_link_node import RosLink

MOST_MB = 200.0  # of the window, with the robot drawn by a process of its own
F3 = b"\x1bOR"
KEYS = {"stand": "F5", "sit": "F6", "hexapod": "1", "shell": "0"}
BYTES = {"F2": b"\x1bOQ", "F5": b"\x1b[15~", "F6": b"\x1b[17~"}  # as xterm sends them


class WindowOperator:
    def __init__(self, keyboard, robot):
        self._keyboard, self._robot, self._is_down = keyboard, robot, False

    def tap(self, key):
        self._keyboard.press(key)
        self._keyboard.release(key)

    def take_control(self):
        # again and again, until the window is there
        wait_until(lambda: self._robot.shows_control, "control", meanwhile=lambda: self.tap("F2"), period=1.0)

    def request(self, mode):
        self.tap(KEYS[mode])

    def drive(self):
        if not self._is_down:
            self._keyboard.press("w")
            self._is_down = True

    def rest(self):
        self._keyboard.release("w")
        self._is_down = False


class TerminalOperator:
    def __init__(self, terminal, robot):
        self._terminal, self._robot = terminal, robot

    def tap(self, key):
        self._terminal.type(BYTES.get(key, key.encode()))

    def take_control(self):
        self.tap("F2")
        wait_until(lambda: self._robot.shows_control, "the terminal says that it is in control")

    def request(self, mode):
        self.tap(KEYS[mode])

    def drive(self):
        self.tap("w")

    def rest(self):
        self._terminal.type(b" ")


class TeleopSessionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rospy.init_node("session_test")

    def robot_of(self, program):
        robot = Robot(program)
        self.addCleanup(robot.close)
        wait_until(lambda: robot.mode in ("hexapod", "sit"), "the robot comes up")
        return robot

    def test_0_an_action_by_keys_on_a_terminal(self):
        robot = self.robot_of("teleop_terminal")
        terminal = TerminalProcess([find_node("shellbot_teleop", "teleop_terminal")[0]], size=(24, 80))
        self.addCleanup(terminal.close)

        def see(words):
            wait_until(lambda: words in terminal.shown, lambda: f"{words!r} is seen:\n{terminal.shown}")

        def miss(words):
            wait_until(lambda: words not in terminal.shown, lambda: f"{words!r} goes:\n{terminal.shown}")

        see("ROS connected")
        terminal.type(F3)
        see("Actions, search:")
        see("waves")
        terminal.type(b"wave")
        see("Actions, search: wave")
        terminal.type(b"\r")
        see("leg=")
        terminal.type(b"\r")
        see("Monitor mode, nothing was sent")  # and the list stays
        terminal.type(b"\x1bOQ")  # F2, in the list, too
        see("You are in control")
        terminal.type(b"\r")
        see("wave running")
        miss("Actions, search:")
        terminal.type(b"p")
        see("wave paused")
        time.sleep(1.0)  # so that it is no auto-repeat
        terminal.type(b"p")
        see("wave running")
        terminal.type(b"x")
        see("back at rest")
        miss("wave running")
        terminal.type(F3)
        see("Actions, search:")
        terminal.type(b"wave\r")
        see("1 to 6")
        terminal.type(60 * b"\x7f" + b"leg=9\r")
        see("leg = 9: give a whole number, 1 to 6.")
        self.assertFalse(robot.stopped)
        terminal.type(b"\x1b")
        wait_until(lambda: robot.stopped, "Esc is the emergency stop in the list")
        see("EMERGENCY STOP")
        miss("Actions, search:")
        terminal.type(b"\x12")
        wait_until(lambda: not robot.stopped, "rearmed")
        terminal.type(b"\x11")
        self.assertEqual(terminal.wait(WAIT), 0)

    def test_1_a_newcomers_session_on_the_window(self):
        robot = self.robot_of("teleop_window")
        with virtual_display() as display:
            window = subprocess.Popen(
                [find_node("shellbot_teleop", "teleop_window")[0]], env=dict(os.environ, DISPLAY=display)
            )
            self.addCleanup(window.kill)
            play(robot, WindowOperator(XKeyboard(display), robot))
            self.assertLess(psutil.Process(window.pid).memory_info().rss / 1e6, MOST_MB)
            window.send_signal(signal.SIGINT)
            self.assertEqual(window.wait(timeout=WAIT), 0)
        wait_until(lambda: robot.operator == "", "the closed window gives up control")

    def test_2_a_newcomers_session_on_a_terminal(self):
        robot = self.robot_of("teleop_terminal")
        terminal = TerminalProcess(
            [find_node("shellbot_teleop", "teleop_terminal")[0], "--config", settings(first_hold=1.0, repeat_hold=0.5)],
            size=(24, 80),
        )
        self.addCleanup(terminal.close)
        self.assertTrue(terminal.wait_for("ROS connected", WAIT), terminal.shown)
        play(robot, TerminalOperator(terminal, robot), closes=False)
        terminal.type(b"\x11")  # Ctrl+Q
        self.assertEqual(terminal.wait(WAIT), 0)
        self.assertTrue(terminal.restored(), "the terminal was left raw")

    def test_3_a_link_in_the_node_of_another_program(self):
        robot = self.robot_of(rospy.get_name().lstrip("/"))
        monitor, events = RobotMonitor(), []
        link = RosLink("teleop_window", TeleopConfig.load(settings()), monitor, events.append)
        link.start()
        wait_until(lambda: link.connected and monitor.odom is not None, lambda: f"news over the link: {events}")
        link.execute(TakeControl())
        wait_until(lambda: robot.operator == robot.program, lambda: f"the link gets control: {events}")
        # again and again, as a held key does: the first may be sent before the subscriber is connected
        wait_until(lambda: link.execute(PublishTwist(0.0, 0.0, 0.0)) or robot.twists, "cmd_vel")
        link.close()
        wait_until(lambda: robot.operator == "", "control is given up")
        self.assertFalse(rospy.is_shutdown(), "the link ended the node of the program")
        self.assertNotIn("/cmd_vel", [topic for topic, _ in get_topic_manager().get_publications()])


if __name__ == "__main__":
    rostest.rosrun("shellbot_teleop", "teleop_session_test", TeleopSessionTest, sys.argv)
