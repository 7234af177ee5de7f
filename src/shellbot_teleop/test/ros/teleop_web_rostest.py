#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A newcomer's session on the page, and browsers that die while they drive."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import unittest

import rospy
import rostest
from roslib.packages import find_node

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from newcomer import RESTS, WAIT, Robot, play
from robot_double import settings

from shellbot_benchmarks.browser import PROGRAM, Browser
from shellbot_common.testing import wait_until

DESKTOP, PHONE = (1280, 800), (390, 844)
MOVES = 0.05  # m/s
BUTTONS = {"stand": "Stand up", "hexapod": "Walk", "shell": "Ball", "sit": "Sit down"}


def until_driven(robot):
    """Wait for a velocity, but not for ever: a browser that stuttered was dropped, and must push anew."""
    with contextlib.suppress(AssertionError):
        wait_until(lambda: robot.is_driven, seconds=5.0)


class PageOperator:
    def __init__(self, page, robot):
        self._page, self._robot = page, robot

    def take_control(self):
        self._page.take_control()

    def request(self, mode):
        self._page.click_text("modes", BUTTONS[mode])

    def drive(self):
        if not self._robot.is_driven:  # a browser that stuttered was dropped, and must push anew
            self.rest()
            self._page.hold("w")
            until_driven(self._robot)

    def rest(self):
        self._page.release("w")


@unittest.skipUnless(os.path.exists(PROGRAM), "chromium is not installed (scripts/setup --dev installs it on Debian)")
class TeleopWebTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rospy.init_node("web_test")
        cls.robot = Robot("teleop_web")
        # the longest silence that is allowed: a browser that draws on a busy machine's processor stutters
        command = [find_node("shellbot_teleop", "teleop_web")[0], "--port", "0", "--config", settings(page_silence=0.5)]
        cls.node = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        cls.address = cls.node.stdout.readline().split()[-1]

    @classmethod
    def tearDownClass(cls):
        cls.node.send_signal(signal.SIGTERM)
        assert cls.node.wait(timeout=WAIT) == 0

    def open(self, size, is_phone):
        browser = Browser(self.address, *size, is_phone)
        self.addCleanup(browser.close)
        browser.until(lambda: browser.text("mode") == self.robot.mode, "the page does not show the robot's mode")
        return browser

    def take_control(self, browser):
        browser.take_control()
        wait_until(lambda: self.robot.operator == "teleop_web", "the page is in control")

    def drive(self, push, release):
        """Push until the robot walks; a browser that stuttered was dropped, and must push anew."""

        def push_anew():
            if not self.robot.is_driven:
                release()
                push()
                until_driven(self.robot)

        wait_until(lambda: self.robot.speed >= MOVES, "the robot walks", meanwhile=push_anew)
        push_anew()
        wait_until(lambda: self.robot.is_driven, "the robot is driven")

    def check_layout(self, browser, tabs):
        """The emergency stop is seen, whatever is shown beside it, and nothing is wider than the page."""
        for tab in tabs:
            browser.click_text("tabs", tab)
            width, height, widest, stop = browser.driver.execute_script(
                "const r = document.getElementById('stop').getBoundingClientRect();"
                "const top = document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2);"
                "return [innerWidth, innerHeight, document.documentElement.scrollWidth,"
                " [r.left, r.top, r.right, r.bottom, top.id]]"
            )
            self.assertLessEqual(widest, width, tab)
            left, top, right, bottom, on_top = stop
            self.assertTrue(0 <= left < right <= width and 0 <= top < bottom <= height, f"{tab}: {stop}")
            self.assertEqual(on_top, "stop", tab)
        figures = "return import('/tabs.js').then((m) => [m.figure(-0.004, 2), m.figure(-0.006, 2), m.degrees(-1e-5)])"
        self.assertEqual(browser.driver.execute_script(figures), ["0.00", "-0.01", "0.0°"])

    def test_1_a_newcomers_session_on_a_desktop(self):
        robot, page = self.robot, self.open(DESKTOP, False)
        self.check_layout(page, ("Actions", "Joints", "Log", "Body"))
        page.hold("w")
        page.until(lambda: "Monitor mode" in page.text("notices"), "nobody said why W does nothing")
        page.until(lambda: "Monitor mode" in page.text("log-lines"), "the log lacks the notice")
        page.release("w")
        self.assertEqual(robot.twists, [])
        page.until(lambda: (page.pixels("canvas") @ [1, -1, 0] > 80).sum() > 300, "no orange shells are drawn")
        page.click("show-camera")
        width = "return document.getElementById('camera').naturalWidth"
        page.until(lambda: page.driver.execute_script(width) > 0, "no picture of the camera is shown")
        page.click("show-robot")
        page.hold("\ue033")  # F3
        focus = "return document.activeElement.id"
        page.until(lambda: page.driver.execute_script(focus) == "search", "F3 does not open the actions")
        page.release("\ue033")
        page.click_text("tabs", "Body")
        play(robot, PageOperator(page, robot))
        page.hold("\ue00c")  # Escape
        wait_until(lambda: robot.stopped, "the emergency stop")
        page.release("\ue00c")
        page.click("rearm")
        wait_until(lambda: not robot.stopped, "the robot is rearmed")
        page.click("control")
        wait_until(lambda: robot.operator == "", "control is given up")
        self.assertEqual(page.errors(), [])

    def test_2_a_phone_that_dies_while_a_thumb_pushes_the_stick(self):
        robot, page = self.robot, self.open(PHONE, True)
        self.check_layout(page, ("Body", "Actions", "Joints", "Log", "State"))
        self.take_control(page)
        page.click_text("modes", "Walk")
        wait_until(lambda: robot.mode == "hexapod", "the robot is ready to walk")
        self.drive(lambda: page.push("stick", 0, -40), page.lift)
        killed = time.monotonic()
        page.signal(signal.SIGKILL)
        wait_until(lambda: not robot.is_driven, "a dead browser drives no more")
        wait_until(lambda: "Stopped, because its page was closed or cut off." in robot.log, "the log says why")
        last = max(when for when, speed in robot.twists if speed)
        print(f"\nlast velocity {1000.0 * (last - killed):.0f} ms after the browser was killed")
        wait_until(lambda: abs(robot.speed) < RESTS and robot.operator == "", "the robot at rest, control free")

    def test_3_a_frozen_browser_stops_the_robot_and_does_not_start_it_again(self):
        robot, page = self.robot, self.open(DESKTOP, False)
        self.take_control(page)
        wait_until(lambda: robot.mode == "hexapod", "the robot is ready to walk")
        self.drive(lambda: page.hold("w"), lambda: page.release("w"))
        frozen = time.monotonic()
        page.signal(signal.SIGSTOP)  # closes no connection, as a network that is cut
        wait_until(lambda: not robot.is_driven, "a frozen browser drives no more")
        wait_until(
            lambda: "Stopped, because its page was silent for 0.5 s." in robot.log,
            lambda: f"the reason in the log: {robot.log}",
        )
        last = max(when for when, speed in robot.twists if speed)
        print(f"\nlast velocity {1000.0 * (last - frozen):.0f} ms after the browser was frozen")
        wait_until(lambda: abs(robot.speed) < RESTS and robot.operator == "", "the robot at rest, control free")


if __name__ == "__main__":
    rostest.rosrun("shellbot_teleop", "teleop_web_test", TeleopWebTest, sys.argv)
