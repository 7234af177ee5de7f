#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The actions page's client and model on the real robot: list, refusal, run, pause, resume, cancel."""

from __future__ import annotations

import sys
import time
import unittest

import rospy
import rostest

from shellbot_common.testing import wait_until
from shellbot_msgs.msg import Mode
from shellbot_teleop.action_client_node import ActionClient
from shellbot_teleop.action_model import ActionModel


class TeleopActionsTest(unittest.TestCase):
    def test_list_refusal_run_pause_resume_cancel(self):
        rospy.init_node("actions_page")
        model, notices, modes = ActionModel(), [], []

        def wait(condition, what):
            wait_until(condition, lambda: f"{what}; {state()}; {notices}")

        def state():
            return model.state(time.monotonic())

        rospy.Subscriber("mode", Mode, lambda m: modes.append(m.name))
        client = ActionClient(
            lambda news: model.observe(news, time.monotonic()),
            notices.append,
            timeout=60.0,
        )
        client.join()
        wait(lambda: model.entries, "the list")
        wave = next(entry for entry in model.entries if entry.name == "wave")
        leg = next(parameter for parameter in wave.parameters if parameter.name == "leg")
        self.assertEqual((leg.low, leg.high, leg.whole), (1.0, 6.0, True))
        wait(lambda: modes and modes[-1] == "hexapod", "standing")
        client.run("wave", {"leg": 9.0})
        wait(lambda: "leg of wave is 9" in state().text, "refused")
        self.assertFalse(state().busy)
        client.run("wave", {"leg": 4.0, "times": 3.0})
        wait(lambda: state().phase == "running" and state().name == "wave" and state().fraction > 0.1, "waving")
        client.pause(True)
        wait(lambda: state().phase == "paused", "paused")
        client.pause(False)
        wait(lambda: state().phase == "running", "going on")
        client.cancel()
        wait(lambda: not state().busy and "back at rest" in state().text, "cancelled")
        client.pause(True)
        wait(lambda: notices and "no action is being performed" in notices[-1].text, "nothing to pause")
        client.close()


if __name__ == "__main__":
    rostest.rosrun("shellbot_teleop", "teleop_actions_test", TeleopActionsTest, sys.argv)
