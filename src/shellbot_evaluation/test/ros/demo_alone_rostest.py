#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The node `demo` without a robot, and with senseless parameters: a sentence, a summary, a status, no hanging."""

from __future__ import annotations

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import rostest
from roslib.packages import find_node


def run_demo(*arguments):
    """Run the node to its end; returns its status and everything that it printed."""
    done = subprocess.run(
        [find_node("shellbot_evaluation", "demo")[0], *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=200,
        check=False,
    )
    return done.returncode, done.stdout


class DemoAloneTest(unittest.TestCase):
    def test_without_a_robot_it_gives_up_in_time_and_leaves_a_summary(self):
        with tempfile.TemporaryDirectory() as folder:
            status, output = run_demo(f"_results:={folder}/new", "_wall_limit_s:=10")
            self.assertEqual(status, 1, output)
            summary = json.loads((Path(folder) / "new" / "summary.json").read_text(encoding="utf-8"))
        self.assertIn("not done within 10 s of wall time, in phase 'stand'", output)
        self.assertIn("is the simulator running?", output)
        self.assertFalse(summary["success"])
        self.assertIsNone(summary["forward"])
        self.assertIsNone(summary["start_s"])

    def test_parameter_out_of_range_is_refused_by_name(self):
        status, output = run_demo("__name:=senseless_demo", "_speed_m_s:=-1.0")  # parameters stay with a name
        self.assertEqual(status, 2, output)
        self.assertIn("~speed_m_s is -1.0; give a number from 0.01 to 0.6", output)


if __name__ == "__main__":
    rostest.rosrun("shellbot_evaluation", "demo_alone_rostest", DemoAloneTest)
