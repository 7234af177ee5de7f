#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The joystick's program from Joy messages to the robot's topics."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import rospy
import rostest
from rosgraph_msgs.msg import Log
from roslib.packages import find_node
from sensor_msgs.msg import Joy
from std_msgs.msg import String

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from robot_double import RobotDouble, settings

from shellbot_common import package_file
from shellbot_common.testing import PATIENCE, wait_until

REPEAT = 0.02  # s, as joy_node with autorepeat_rate 50
SILENCE = 1.0  # s: on a busy machine this process pauses for longer than the shipped limit
LB, A, B, GUIDE, Y = 4, 0, 1, 8, 3  # of the shipped mapping
TRIGGERS = (2, 5)  # axes that rest at 1


class Controller:
    """Repeats the state of a gamepad, as joy_node does, until it is unplugged."""

    def __init__(self):
        self._publisher = rospy.Publisher("joy", Joy, queue_size=100, tcp_nodelay=True)
        self._lock = threading.Lock()
        self.is_plugged = True
        self.center()
        threading.Thread(target=self._repeat, daemon=True).start()

    def center(self):
        self.axes = [1.0 if axis in TRIGGERS else 0.0 for axis in range(8)]
        self.buttons = [0] * 11
        self.send()

    def send(self):
        with self._lock:
            self._publisher.publish(Joy(axes=self.axes, buttons=self.buttons))

    def press(self, *pressed, **axes):
        """Press buttons, release the others, push axes (a1=1.0), and send it at once as a driver does."""
        self.buttons = [int(number in pressed) for number in range(11)]
        for name, deflection in axes.items():
            self.axes[int(name[1:])] = deflection
        self.send()

    def _repeat(self):
        while not rospy.is_shutdown():
            if self.is_plugged:
                self.send()
            time.sleep(REPEAT)


def patient_mapping():
    """Return the shipped mapping's copy, as a file, that lets a longer silence pass."""
    text = package_file("shellbot_teleop", "config/joystick.yaml").read_text(encoding="utf-8")
    file = Path(tempfile.mkdtemp()) / "joystick.yaml"
    file.write_text(re.sub(r"(?m)^silence: \S+", f"silence: {SILENCE}", text), encoding="utf-8")
    return str(file)


class TeleopJoystickTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rospy.init_node("robot_double")
        cls.robot = RobotDouble()
        cls.robot.publish_walkspace(0.4, 0.3, 1.0)
        cls.said, cls.operator = [], None
        rospy.Subscriber("operator", String, lambda message: setattr(cls, "operator", message.data))
        rospy.Subscriber("/rosout", Log, cls._on_log)
        cls.controller = Controller()
        program = find_node("shellbot_teleop", "teleop_joystick")[0]
        options = ["--no-joy-node", "--armed", "--config", settings(speed_scale=1.0), "--mapping", patient_mapping()]
        cls.node = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)

    @classmethod
    def _on_log(cls, message):
        if message.name == "/teleop_joystick":
            cls.said.append(message.msg)

    @classmethod
    def tearDownClass(cls):
        cls.node.send_signal(signal.SIGTERM)
        assert cls.node.wait(timeout=PATIENCE) == 0

    def setUp(self):
        self.controller.is_plugged = True
        self.controller.center()
        self.until(lambda: self.operator == "teleop_joystick", "the first message takes control")
        self.robot.clear()
        self.said.clear()

    def until(self, condition, words):
        wait_until(condition, lambda: f"{words}; the log is {self.said}")

    def drive(self):
        """Push the left stick with the dead-man button held, until the robot is driven."""
        self.controller.press(LB)
        self.controller.press(LB, a1=1.0)
        self.until(lambda: self.robot.twists and self.robot.twists[-1][1][0] > 0.0, "the stick drives")

    def check_at_rest(self):
        """The last velocity was one zero, and none comes after it."""
        self.until(lambda: self.robot.zeros, "a zero")
        time.sleep(0.3)  # wall time of its timer: nothing follows the zero
        self.assertEqual([twist for _, twist in self.robot.twists].count((0.0, 0.0, 0.0)), 1)
        self.assertEqual(self.robot.twists[-1][1], (0.0, 0.0, 0.0))

    def test_1_a_stick_drives_with_the_dead_man_held_and_stops_without(self):
        self.controller.press(a1=1.0)
        self.until(lambda: any("Hold the dead-man switch (LB)" in text for text in self.said), "words for the operator")
        self.assertEqual(self.robot.twists, [])
        self.controller.press(LB, a1=0.0)
        self.drive()
        self.assertAlmostEqual(self.robot.twists[-1][1][0], 0.4)
        self.controller.press(a1=1.0)
        self.check_at_rest()

    def test_2_a_controller_that_is_unplugged_stops_the_robot(self):
        self.drive()
        unplugged = time.monotonic()
        self.controller.is_plugged = False
        self.check_at_rest()
        print(f"\nzero {1000.0 * (self.robot.zeros[-1] - unplugged):.0f} ms after the controller was unplugged")
        self.until(lambda: any(f"silent for {SILENCE:g} s" in text for text in self.said), "the log says why")
        self.until(lambda: self.operator == "", "control is free")
        self.controller.is_plugged = True  # its stick is still pushed
        time.sleep(0.3)  # wall time of its timer: it drives nothing, and nothing shows that it has read these messages
        self.controller.press(LB, 7)
        self.until(lambda: self.operator == "teleop_joystick", "Start takes control")
        self.assertEqual(self.robot.twists[-1][1], (0.0, 0.0, 0.0))

    def test_3_emergency_stop_modes_and_a_wrong_message(self):
        self.controller.press(LB)
        self.controller.press(LB, Y)
        self.until(lambda: [mode for _, mode in self.robot.of("request_mode")] == ["hexapod"], "a mode is requested")
        self.drive()
        self.controller.axes = [float("nan")] * 8
        self.check_at_rest()
        self.until(lambda: any("drives nothing" in text and "nan" in text for text in self.said), "the log says why")
        self.controller.press(B)
        self.until(lambda: self.robot.of("latched"), "the emergency stop while the axes are not finite")
        self.controller.center()
        self.controller.press(LB)
        self.controller.press(LB, GUIDE)
        self.until(lambda: [stopped for _, stopped in self.robot.of("latched")] == [True, False], "rearmed")


if __name__ == "__main__":
    rostest.rosrun("shellbot_teleop", "teleop_joystick_test", TeleopJoystickTest, sys.argv)
