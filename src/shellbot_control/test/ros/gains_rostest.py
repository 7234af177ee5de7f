#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The gains page reaches every joint's pid server, quickly, again after restarts, and never blocks."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import dynamic_reconfigure.client
import rosgraph
import rospy
import rostest
from diagnostic_msgs.msg import DiagnosticArray
from dynamic_reconfigure.msg import Config, DoubleParameter, StrParameter
from dynamic_reconfigure.srv import Reconfigure
from rosgraph_msgs.msg import Log
from std_msgs.msg import Float64

from shellbot_common.testing import wait_until

LEGS = "shellbot_legs_controller"
SERVERS = Path(__file__).resolve().with_name("pid_servers.py")


class GainsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rospy.init_node("gains_rostest")
        cls.joints = rospy.get_param(f"{LEGS}/joints")
        cls.diagnostic = ""
        cls.servers = None
        cls.subscriber = rospy.Subscriber("/diagnostics", DiagnosticArray, cls.on_diagnostics)
        cls.log = []
        cls.words = rospy.Subscriber("/rosout", Log, lambda message: cls.log.append(message.msg))
        cls.page = dynamic_reconfigure.client.Client("gains", timeout=60)

    @classmethod
    def tearDownClass(cls):
        cls.stop_servers()

    @classmethod
    def on_diagnostics(cls, message):
        for status in message.status:
            if status.name.startswith("gains"):
                cls.diagnostic = status.message

    @classmethod
    def start_servers(cls):
        cls.servers = subprocess.Popen([sys.executable, str(SERVERS)])
        master = rosgraph.Master("/gains_rostest")

        def all_up():
            names = {name for name, _ in master.getSystemState()[2]}
            return all(f"/{LEGS}/{joint}/pid/set_parameters" in names for joint in cls.joints)

        wait_until(all_up, "pid servers up")

    @classmethod
    def stop_servers(cls):
        if cls.servers is not None:
            cls.servers.kill()  # as a crash: nothing is unregistered
            cls.servers.wait()
            cls.servers = None

    def values(self, gain="p"):
        legs = rospy.get_param(LEGS)
        return {joint: legs[joint]["pid"][gain] for joint in self.joints}

    def tool(self, *words):
        """What scripts/gains runs: its status and what it prints."""
        done = subprocess.run(["rosrun", "shellbot_control", "gains_tool", *words], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def of_class(self, name, gain="p"):
        return {value for joint, value in self.values(gain).items() if joint.endswith(name)}

    def set_page(self, **changes):
        start = time.monotonic()
        self.page.update_configuration(changes)
        return time.monotonic() - start

    def test_1_waits_for_controllers_and_names_them(self):
        self.assertEqual(len(self.joints), 36)
        wait_until(
            lambda: "waiting for the controllers of 36 of 36" in self.diagnostic, "diagnostics say who is missing"
        )
        self.assertLess(self.set_page(tibia_p=25.0), 5.0)
        self.start_servers()
        wait_until(lambda: self.of_class("tibia") == {25.0}, "controllers that appear later get the page")
        self.assertEqual(self.of_class("coxa"), {18.52})
        wait_until(lambda: "36 of 36 joints have" in self.diagnostic, "diagnostics say that all is well")

    def test_2_one_class_changes_alone_and_all_change_quickly(self):
        before = self.values()
        self.set_page(femur_p=30.0, femur_d=0.2)
        wait_until(lambda: self.of_class("femur") == {30.0} and self.of_class("femur", "d") == {0.2}, "femurs follow")
        after = self.values()
        self.assertEqual({j for j in self.joints if before[j] != after[j]}, {j for j in self.joints if "femur" in j})
        took = self.set_page(stiffness=0.5)
        self.assertLess(took, 5.0, "the page's callback must not wait for the controllers")
        seconds = wait_until(lambda: self.of_class("femur") == {15.0} and self.of_class("fan") == {6.175}, "all follow")
        print(f"page answered in {took * 1e3:.0f} ms, 36 joints had their gains after {(took + seconds) * 1e3:.0f} ms")
        self.assertEqual(self.of_class("femur", "d"), {0.2})
        self.assertEqual(self.of_class("coxa", "i_clamp_max"), {0.75}, "clamps are left alone")
        self.set_page(stiffness=1.0)
        wait_until(lambda: self.of_class("femur") == {30.0}, "and back")

    def test_3_values_beyond_the_range_are_clamped_by_the_page(self):
        config = self.page.update_configuration({"shell_p": 1e9, "stiffness": -1.0})
        self.assertEqual((config["shell_p"], config["stiffness"]), (120.0, 0.0))
        wait_until(lambda: set(self.values().values()) == {0.0}, "limp")
        self.set_page(shell_p=18.52, stiffness=1.0)
        wait_until(lambda: self.of_class("shell") == {18.52}, "stiff again")

    def test_3_presets_and_files_reach_every_joint(self):
        page = self.page.update_configuration({"preset": "soft"})
        self.assertEqual((page["preset"], page["stiffness"]), ("soft", 0.5))
        wait_until(lambda: self.of_class("coxa") == {9.26} and self.of_class("fan") == {6.175}, "all are soft")
        page = self.page.update_configuration({"coxa_p": 20.0})
        self.assertEqual((page["preset"], page["stiffness"]), ("custom", 0.5), "a gain changed by hand")
        self.assertEqual(self.page.update_configuration({"preset": "sof"})["preset"], "custom", "no such preset")
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "mine.yaml")
            status, words = self.tool("save", file)
            self.assertEqual((status, file in words), (0, True), words)
            self.assertIn("exists; give another name", self.tool("save", file)[1])
            self.assertEqual(self.tool("preset", "reset")[0], 0)
            wait_until(
                lambda: self.of_class("coxa") == {18.52} and self.of_class("femur") == {22.23}, "as at the start"
            )
            status, words = self.tool("load", file)
            self.assertIn("preset custom, stiffness 0.5", words)
            wait_until(lambda: self.of_class("coxa") == {10.0}, "the file's gains")
            Path(file).write_text("robot: shellbot\nclasses: {coxa: {p: -5, d: 99}}\n", encoding="utf-8")
            status, words = self.tool("load", file)
            self.assertIn("note: coxa_p is -5; the range is 0 to 120, so it became 0", words)
            wait_until(lambda: self.of_class("coxa") == {0.0} and self.of_class("coxa", "d") == {2.5}, "clamped")
        self.set_page(preset="walk", femur_p=30.0, femur_d=0.2, tibia_p=25.0)
        wait_until(lambda: self.of_class("coxa") == {18.52} and self.of_class("femur") == {30.0}, "and back")

    def test_3_what_is_no_number_is_refused_whole(self):
        for bad in (float("nan"), float("inf"), float("-inf")):
            config = self.page.update_configuration({"shell_p": 30.0, "stiffness": bad})
            self.assertEqual((config["shell_p"], config["stiffness"]), (18.52, 1.0))
        raw = rospy.ServiceProxy("gains/set_parameters", Reconfigure)  # a client of ours would not send a text
        raw(Config(strs=[StrParameter("shell_p", "much")], doubles=[DoubleParameter("stiffness", 0.5)]))
        for words in ("stiffness is nan", "stiffness is inf", "stiffness is -inf", "shell_p is 'much'"):
            wait_until(lambda words=words: self.has_refused("page", f"{words}; give a number from 0 to"), words)
        self.assertEqual(rospy.get_param("/gains/stiffness"), 1.0)
        self.set_page(shell_p=19.0)
        wait_until(lambda: self.of_class("shell") == {19.0}, "the page goes on")
        self.set_page(shell_p=18.52)
        wait_until(lambda: self.of_class("shell") == {18.52}, "and back")

    def has_refused(self, topic, words):
        lines = [line for line in self.log if line.startswith(f"gains: {topic} refused, nothing changed")]
        return any(words in line for line in lines)

    def test_3_a_topic_sets_one_gain_of_all_joints_on_the_same_page(self):
        topic = rospy.Publisher("dgain", Float64, queue_size=5, latch=True)
        topic.publish(0.3)
        wait_until(lambda: set(self.values("d").values()) == {0.3}, "all are damped")
        page = self.page.get_configuration()
        self.assertEqual((page["coxa_d"], page["coxa_p"], page["preset"]), (0.3, 18.52, "custom"))
        topic.publish(float("nan"))
        topic.publish(1e6)
        topic.publish(0.4)  # in their order: those before it have been refused when it arrives
        wait_until(lambda: set(self.values("d").values()) == {0.4}, "the next good one")
        for value in ("is nan", "is 1e+06"):  # the log comes by another connection, perhaps later
            wait_until(lambda value=value: self.has_refused("dgain", value), f"{value} is refused")
        topic.unregister()
        self.set_page(preset="walk", femur_p=30.0, femur_d=0.2, tibia_p=25.0)
        wait_until(lambda: self.of_class("coxa", "d") == {0.0} and self.of_class("femur", "d") == {0.2}, "and back")

    def test_4_a_joint_tuned_directly_is_respected(self):
        joint = dynamic_reconfigure.client.Client(f"{LEGS}/lower_2_coxa/pid", timeout=60)
        joint.update_configuration({"p": 40.0})
        wait_until(lambda: "tuned directly: lower_2_coxa" in self.diagnostic, "diagnostics name the joint")
        self.assertEqual(self.values()["lower_2_coxa"], 40.0)
        self.set_page(coxa_p=20.0)
        wait_until(lambda: self.of_class("coxa") == {20.0}, "the page wins when its class changes")

    def test_5_a_restarted_controller_gets_the_values_again(self):
        self.stop_servers()
        for joint in self.joints:
            rospy.set_param(f"{LEGS}/{joint}/pid/p", 1.0)
        self.start_servers()
        expected = {"fan": 12.35, "coxa": 20.0, "femur": 30.0, "tibia": 25.0, "shoulder": 18.52, "shell": 18.52}
        for name, p in expected.items():
            wait_until(lambda name=name, p=p: self.of_class(name) == {p}, f"{name} sent again")

    def test_6_a_controller_that_hangs_is_named_and_does_not_block_the_page(self):
        os.kill(self.servers.pid, signal.SIGSTOP)
        try:
            self.assertLess(self.set_page(shoulder_p=33.0), 5.0)
            wait_until(
                lambda: re.search("[0-9]+ of 36 joints did not answer: .*upper_1_shoulder", self.diagnostic),
                "diagnostics name who does not answer",
            )
            self.assertLess(self.set_page(shoulder_p=34.0), 5.0)
        finally:
            os.kill(self.servers.pid, signal.SIGCONT)
        wait_until(lambda: self.of_class("shoulder") == {34.0}, "the last value arrives")
        wait_until(lambda: "36 of 36 joints have" in self.diagnostic, "diagnostics recover")

    def test_7_the_page_survives_a_restart_of_its_node(self):
        subprocess.check_call(["rosnode", "kill", "gains"], stdout=subprocess.DEVNULL)
        type(self).diagnostic = ""
        wait_until(lambda: "36 of 36 joints have" in self.diagnostic, "respawned")
        self.assertEqual(rospy.get_param("/gains/shoulder_p"), 34.0)
        self.assertEqual(self.of_class("shoulder"), {34.0})


if __name__ == "__main__":
    rostest.rosrun("shellbot_control", "gains", GainsTest)
