#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sim.launch demo:=true, headless, as fast as possible: ends by itself, its summary within the promised figures."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import unittest

import rostest

from shellbot_benchmarks.launching import free_port

NAME = "demo_rostest"


class DemoTest(unittest.TestCase):
    def test_demo_ends_with_a_summary(self):
        port = free_port()
        environment = dict(os.environ, ROS_MASTER_URI=f"http://localhost:{port}")
        environment.pop("DISPLAY", None)
        with tempfile.TemporaryDirectory() as results:
            process = subprocess.Popen(
                [
                    "roslaunch",
                    "-p",
                    str(port),
                    "shellbot_bringup",
                    "sim.launch",
                    "demo:=true",
                    "rtf:=0",
                    f"results:={results}",
                ],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                universal_newlines=True,
                start_new_session=True,
            )
            try:
                output, _ = process.communicate(timeout=600)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGINT)
                output, _ = process.communicate(timeout=40)
                self.fail("the demo did not end by itself:\n" + output[-4000:])
            print(output[-6000:])
            self.assertFalse("has died" in output, "roslaunch calls the good end a death")
            with open(os.path.join(results, "summary.json"), encoding="utf-8") as file:
                summary = json.load(file)
            pictures = [f for f in os.listdir(results) if f.endswith(".png")]
        for part in ("forward", "sideways"):
            commanded, walked = summary[part]["commanded_m"], summary[part]["walked_m"]
            # The demo ends a walk by the odometry that has come; on a busy machine the simulation runs on meanwhile.
            self.assertGreater(walked / commanded, 0.8, (part, summary[part]))
            self.assertLess(abs(walked - summary[part]["odometry_m"]), 0.05 * abs(commanded), (part, summary[part]))
            self.assertLess(abs(summary[part]["lateral_m"]), 0.03 * abs(commanded), (part, summary[part]))
        turn = summary["turn"]
        self.assertGreater(turn["turned_deg"] / turn["commanded_deg"], 0.8, turn)
        self.assertLess(abs(turn["turned_deg"] - turn["odometry_deg"]), 3.0, turn)
        self.assertGreater(summary["real_time_factor"], 0.0)
        self.assertGreater(summary["start_s"], 0.0)
        self.assertGreaterEqual(len(pictures), 3, "pictures of the run")


if __name__ == "__main__":
    rostest.rosrun("shellbot_bringup", NAME, DemoTest)
