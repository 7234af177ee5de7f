#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sim.launch on a display: the keys drive the robot whichever of its two windows has the focus."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
import unittest

import rospy
import rostest
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from Xlib import X, display
from Xlib.error import BadWindow

from shellbot_benchmarks.virtual_display import XKeyboard, virtual_display
from shellbot_common.testing import wait_until

VIEWER, OPERATOR = "MuJoCo", "Shellbot"  # how the windows' titles begin


class DisplayTest(unittest.TestCase):
    """Tests run in the order of their names: the first comes first after the start."""

    @classmethod
    def setUpClass(cls):
        cls.changed = threading.Condition()
        cls.forward, cls.x = 0.0, None
        rospy.init_node("display_rostest")
        rospy.Subscriber("cmd_vel", Twist, lambda m: cls.take(forward=m.linear.x))
        rospy.Subscriber("ground_truth/odom", Odometry, lambda m: cls.take(x=m.pose.pose.position.x))
        cls.scope = virtual_display("1600x900x24")
        name = cls.scope.__enter__()
        cls.launch = subprocess.Popen(
            ["roslaunch", "shellbot_bringup", "sim.launch", "gui:=true"],
            env=dict(os.environ, DISPLAY=name),
            start_new_session=True,
        )
        cls.keyboard, cls.display = XKeyboard(name), display.Display(name)

    @classmethod
    def tearDownClass(cls):
        os.killpg(cls.launch.pid, signal.SIGINT)
        cls.launch.wait(timeout=60)
        cls.keyboard.close()
        cls.display.close()
        cls.scope.__exit__(None, None, None)

    @classmethod
    def take(cls, **values):
        with cls.changed:
            for name, value in values.items():
                setattr(cls, name, value)
            cls.changed.notify_all()

    def window(self, title):
        """The window whose title begins so; None while it is not there."""
        for window in self.display.screen().root.query_tree().children:
            with contextlib.suppress(BadWindow):  # gone since the list was made
                if window.get_attributes().map_state == X.IsViewable and (window.get_wm_name() or "").startswith(title):
                    return window
        return None

    def wait_for_window(self, title):
        wait_until(lambda: self.window(title), f"the window {title!r}", 300)
        return self.window(title)

    def hold_w(self):
        """Press W until it drives: pressed before the window has control, it does nothing, however long it is held."""
        for _ in range(12):
            self.keyboard.press("w")
            with self.changed:
                if self.changed.wait_for(lambda: self.forward > 0.0, timeout=10.0):
                    return
            self.keyboard.release("w")
            time.sleep(0.5)  # longer than the window takes a release for one of the auto-repeat
        raise AssertionError("W commanded no velocity")

    def walks_while_w_is_down(self):
        start = self.x or 0.0
        self.hold_w()
        try:
            wait_until(lambda: self.x is not None and self.x > start + 0.05, "the robot walks")
        finally:
            self.keyboard.release("w")
        wait_until(lambda: self.forward == 0.0, "a zero after the release")

    def test_1_w_walks_without_a_click(self):
        self.wait_for_window(VIEWER)
        self.wait_for_window(OPERATOR)
        self.walks_while_w_is_down()

    def test_2_the_windows_stand_side_by_side(self):
        def are_apart():  # a window is seen before it has been put in its place
            viewer, operator = (self.wait_for_window(title).get_geometry() for title in (VIEWER, OPERATOR))
            return viewer.x + viewer.width < operator.x + 20 and viewer.width > 480

        wait_until(are_apart, "the operator's window beside the viewer")

    def test_3_w_walks_with_the_focus_in_the_viewer(self):
        self.wait_for_window(VIEWER).set_input_focus(X.RevertToParent, X.CurrentTime)
        self.display.sync()
        self.walks_while_w_is_down()

    def test_4_losing_the_focus_stops(self):
        viewer, operator = self.wait_for_window(VIEWER), self.wait_for_window(OPERATOR)
        viewer.set_input_focus(X.RevertToParent, X.CurrentTime)
        self.display.sync()
        self.hold_w()
        try:
            operator.set_input_focus(X.RevertToParent, X.CurrentTime)
            self.display.sync()
            wait_until(lambda: self.forward == 0.0, "no key drives after the focus left its window")
        finally:
            self.keyboard.release("w")


if __name__ == "__main__":
    rostest.rosrun("shellbot_bringup", "display", DisplayTest)
