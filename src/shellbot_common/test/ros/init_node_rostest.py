#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A signal ends a node, also while it talks to the master."""

from __future__ import annotations

import signal
import subprocess
import sys
import unittest

import rostest

PATIENCE = 60.0  # s of wall clock; only a node that hangs meets it
PROGRAM = """
import rospy
from shellbot_common.init_node import init_node
init_node("busy", disable_rostime=True)
print("ready", flush=True)
while not rospy.is_shutdown():
    rospy.get_param_names()
print("ended", flush=True)
"""


class InitNodeTest(unittest.TestCase):
    def end_by(self, number):
        with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, universal_newlines=True) as node:
            try:
                self.assertEqual(node.stdout.readline(), "ready\n")
                node.send_signal(number)
                self.assertEqual(node.communicate(timeout=PATIENCE)[0], "ended\n")
                self.assertEqual(node.returncode, 0)
            finally:
                node.kill()

    def test_ctrl_c_ends_it(self):
        self.end_by(signal.SIGINT)

    def test_sigterm_ends_it(self):
        self.end_by(signal.SIGTERM)


if __name__ == "__main__":
    rostest.rosrun("shellbot_common", "init_node_test", InitNodeTest)
