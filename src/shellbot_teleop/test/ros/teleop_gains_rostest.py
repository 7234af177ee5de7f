#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The gains client against the real gains node: description, change, refusal-free round trip, restart."""

from __future__ import annotations

import sys
import threading
import unittest

import rosnode
import rospy
import rostest

from shellbot_teleop.gains_client_node import GainsClient


class TeleopGainsTest(unittest.TestCase):
    def test_page_change_and_restart(self):
        rospy.init_node("gains_page")
        changed = threading.Condition()
        groups, values, states = [], {}, []

        def note(action):
            with changed:
                action()
                changed.notify_all()

        def wait(condition, timeout=60.0):
            with changed:
                return bool(changed.wait_for(condition, timeout=timeout))

        client = GainsClient(
            "gains",
            lambda found: note(lambda: groups.append(found)),
            lambda found: note(lambda: values.update(found)),
            lambda there, text: note(lambda: states.append((there, text))),
        )
        client.start()
        self.assertTrue(wait(lambda: groups and values and states and states[-1][0]), (groups, values, states))
        names = {parameter.name: parameter for group in groups[0] for parameter in group.parameters}
        titles = [group.title for group in groups[0]]
        self.assertEqual(titles[0], "Overall")
        self.assertTrue({"fan", "coxa", "femur", "tibia"} <= set(titles), titles)
        changed_name = next(name for name in names if name.startswith("coxa") and name.endswith("p"))
        wanted = 0.5 * (names[changed_name].low + names[changed_name].high)
        client.change({changed_name: wanted})
        self.assertTrue(wait(lambda: abs(values[changed_name] - wanted) < 1e-9), values)
        # The node dies and comes back: the page waits and then works again.
        rosnode.kill_nodes(["/gains"])
        self.assertTrue(wait(lambda: not states[-1][0]), states)
        self.assertIn("Waiting", states[-1][1])
        self.assertTrue(wait(lambda: states[-1][0]), states)
        client.change({changed_name: names[changed_name].low})
        self.assertTrue(wait(lambda: values[changed_name] == names[changed_name].low), values)
        client.close()


if __name__ == "__main__":
    rostest.rosrun("shellbot_teleop", "teleop_gains_test", TeleopGainsTest, sys.argv)
