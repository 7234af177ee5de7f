#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sim.launch demo:=true and demo:=mission, headless, as fast as possible: each ends with a summary and pictures."""

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
    def run_demo(self, demo):
        """Run a demo to its end as a user starts it; return its summary, and the sizes of its files by name."""
        port = free_port()
        environment = dict(os.environ, ROS_MASTER_URI=f"http://localhost:{port}")
        environment.pop("DISPLAY", None)
        words = ("roslaunch", "-p", str(port), "shellbot_bringup", "sim.launch", f"demo:={demo}", "rtf:=0")
        with tempfile.TemporaryDirectory() as results:
            process = subprocess.Popen(
                [*words, f"results:={results}"],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                universal_newlines=True,
                start_new_session=True,
            )
            try:
                output, _ = process.communicate(timeout=900)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGINT)
                output, _ = process.communicate(timeout=40)
                self.fail("the demo did not end by itself:\n" + output[-4000:])
            print(output[-6000:])
            self.assertFalse("has died" in output, "roslaunch calls the good end a death")
            with open(os.path.join(results, "summary.json"), encoding="utf-8") as file:
                summary = json.load(file)
            files = {entry.name: entry.stat().st_size for entry in os.scandir(results)}
        self.assertGreater(summary["real_time_factor"], 0.0)
        self.assertGreater(summary["start_s"], 0.0)
        return summary, files

    def test_demo_ends_with_a_summary(self):
        summary, files = self.run_demo("true")
        for part in ("forward", "sideways"):
            commanded, walked = summary[part]["commanded_m"], summary[part]["walked_m"]
            # The demo ends a walk by the odometry that has come; on a busy machine the simulation runs on meanwhile.
            self.assertGreater(walked / commanded, 0.8, (part, summary[part]))
            self.assertLess(abs(walked - summary[part]["odometry_m"]), 0.05 * abs(commanded), (part, summary[part]))
            self.assertLess(abs(summary[part]["lateral_m"]), 0.03 * abs(commanded), (part, summary[part]))
        turn = summary["turn"]
        self.assertGreater(turn["turned_deg"] / turn["commanded_deg"], 0.8, turn)
        self.assertLess(abs(turn["turned_deg"] - turn["odometry_deg"]), 3.0, turn)
        self.assertGreaterEqual(sum(name.endswith(".png") for name in files), 3, "pictures of the run")

    def test_mission_walks_closes_rolls_opens_and_is_filmed(self):
        summary, files = self.run_demo("mission")
        self.assertTrue(summary["success"], summary["message"])
        for part in ("walk out", "close", "roll", "open", "walk on"):
            self.assertGreater(summary[part]["duration_s"], 1.0, part)
        self.assertLess(
            summary["roll"]["true_error_m"], 0.3, "one in twenty balls rests more than 10 cm beside its point"
        )
        self.assertTrue(1e4 < files["film.gif"] < 3e6, files)
        self.assertGreaterEqual(sum(name.endswith(".png") for name in files), 8, "pictures of the run")


if __name__ == "__main__":
    rostest.rosrun("shellbot_bringup", NAME, DemoTest)
