#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The running arm is recorded, its bag is plotted, and replayed on a master of its own, but on no other robot."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import numpy as np
import rospy
import rostest
from sensor_msgs.msg import JointState

from robot_evaluation.bags.analysis import latency, tracking
from robot_evaluation.bags.read_conversions import read_bag
from shellbot_common.testing import PATIENCE, wait_until

# prints the clock, the joints, and what the parameters say of the robot, as the window of a replay gets them
LISTENER = """
import rospy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
rospy.init_node("listener", anonymous=True, disable_rostime=True)
clock = rospy.wait_for_message("/clock", Clock, 60.0).clock.to_sec()
joints = rospy.wait_for_message("joint_states", JointState, 60.0)
print(clock, joints.header.stamp.to_sec(), rospy.get_param("/use_sim_time"), *joints.name)
print("arm_joint_2" in rospy.get_param("robot_description"), "class" in rospy.get_param("robot_profile"))
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]


class Bag(unittest.TestCase):
    def launch(self, *words):
        """Start roslaunch as a user does; its words come line by line."""
        process = subprocess.Popen(
            ["roslaunch", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.folder.name
        )
        self.addCleanup(process.kill)
        return process

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.environ["PWD"] = self.folder.name

    def test_recorded_plotted_and_replayed(self):
        self.seen = []
        subscriber = rospy.Subscriber("joint_states", JointState, self.seen.append)
        wait_until(lambda: self.seen and np.ptp([m.position for m in self.seen], axis=0).max() > 0.2, "the arm swings")
        subscriber.unregister()
        record = ("shellbot_bringup", "record.launch", "purpose:=joints")
        output, _ = self.launch(*record, "bag:=swing", "seconds:=4").communicate(timeout=PATIENCE)
        file = Path(self.folder.name) / "swing.bag"
        self.assertIn(f"next: scripts/plot bag {file}", output)
        self.assertNotIn("REQUIRED", output, "a good end is no death")

        data = read_bag(file)
        self.assertEqual(data.profile.name, "arm")
        span = data.end - data.begin  # of the messages: on a busy machine a recorder is slow to begin
        self.assertTrue(2.0 < span < 4.5, span)
        rows = {row["topic"]: row for row in latency(data)}
        self.assertGreater(rows["joint_states"]["messages"], 75 * span)
        self.assertGreater(rows["arm_controller/command"]["answered"], 90.0)
        tracks = tracking(data)
        self.assertEqual(sum(len(track.names) for track in tracks), 4)
        self.assertGreater(max(np.ptp(track.measured, axis=0).max() for track in tracks), 0.2)

        output, _ = self.launch(*record, "bag:=swing.bag", "seconds:=4").communicate(timeout=PATIENCE)
        self.assertIn("swing.bag exists; give another name", output)

        robot = rospy.get_param("robot_description"), rospy.get_param("robot_profile")
        for options in ((), ("robot:=shellbot",)):
            refused = self.launch("shellbot_bringup", "replay.launch", "bag:=swing.bag", "teleop:=none", *options)
            self.assertIn("a robot runs here", refused.communicate(timeout=PATIENCE)[0])
            now = rospy.get_param("robot_description"), rospy.get_param("robot_profile")
            self.assertEqual(now, robot, "a refused replay changes nothing of the robot that runs")

        port = free_port()
        replay = ("-p", str(port), "shellbot_bringup", "replay.launch", "bag:=swing.bag", "teleop:=none")
        playing = self.launch(*replay, "loop:=true")
        master = dict(os.environ, ROS_MASTER_URI=f"http://localhost:{port}")
        heard = ""
        end = time.monotonic() + PATIENCE
        while not heard and time.monotonic() < end:
            listener = subprocess.run([sys.executable, "-c", LISTENER], env=master, capture_output=True, text=True)
            heard = listener.stdout if listener.returncode == 0 else ""
        playing.send_signal(signal.SIGINT)
        playing.communicate(timeout=PATIENCE)
        (clock, stamp, simulated, *names), robot = heard.splitlines()[-2].split(), heard.splitlines()[-1]
        self.assertLess(abs(float(clock) - float(stamp)), 5.0, "the clock is the bag's")
        self.assertEqual((simulated, names, robot), ("True", list(self.seen[0].name), "True True"), heard)

        other = self.launch(*replay, "robot:=humanoid")
        output, _ = other.communicate(timeout=PATIENCE)
        self.assertIn("lacks 26 of 26 joints of humanoid: HeadYaw", output)
        broken = Path(self.folder.name) / "broken.bag"
        broken.write_bytes(b"nothing")
        output, _ = self.launch(*replay, "bag:=broken.bag").communicate(timeout=PATIENCE)
        self.assertIn("broken.bag is no bag, or is damaged", output)
        nameless = [word for word in replay if not word.startswith("bag:=")]
        output, _ = self.launch(*nameless).communicate(timeout=PATIENCE)
        self.assertIn(f"{self.folder.name} is a folder; give the file of a bag (replay.launch: bag:=FILE.bag)", output)


if __name__ == "__main__":
    rospy.init_node("bag_rostest", disable_rostime=True)
    rostest.rosrun("arm_bringup", "bag", Bag)
