#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The gains client against the real gains node: description, change, refusal-free round trip, restart."""

from __future__ import annotations

import sys
import unittest

import rosnode
import rospy
import rostest

from shellbot_common.testing import wait_until
from shellbot_teleop.gains_client_node import GainsClient


class TeleopGainsTest(unittest.TestCase):
    def test_page_change_and_restart(self):
        rospy.init_node("gains_page")
        groups, values, states = [], {}, []

        client = GainsClient(
            "gains",
            groups.append,
            values.update,
            lambda there, text: states.append((there, text)),
        )
        client.join()
        wait_until(lambda: groups and values and states and states[-1][0], lambda: f"{groups, values, states}")
        names = {parameter.name: parameter for group in groups[0] for parameter in group.parameters}
        titles = [group.title for group in groups[0]]
        self.assertEqual(titles[0], "Overall")
        self.assertTrue({"fan", "coxa", "femur", "tibia"} <= set(titles), titles)
        changed_name = next(name for name in names if name.startswith("coxa") and name.endswith("p"))
        wanted = 0.5 * (names[changed_name].low + names[changed_name].high)
        client.change({changed_name: wanted})
        wait_until(lambda: abs(values[changed_name] - wanted) < 1e-9, lambda: f"{values}")
        # The node dies and comes back: the page waits and then works again.
        rosnode.kill_nodes(["/gains"])
        wait_until(lambda: not states[-1][0], lambda: f"{states}")
        self.assertIn("Waiting", states[-1][1])
        wait_until(lambda: states[-1][0], lambda: f"{states}")
        client.change({changed_name: names[changed_name].low})
        wait_until(lambda: values[changed_name] == names[changed_name].low, lambda: f"{values}")
        client.close()


if __name__ == "__main__":
    rostest.rosrun("shellbot_teleop", "teleop_gains_test", TeleopGainsTest, sys.argv)
