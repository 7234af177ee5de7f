#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The node motor_driver on an emulated chain: targets, holds, torque, stops, gains."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import numpy as np
import rospy
import rostest
from dynamic_reconfigure.msg import Config, DoubleParameter
from PIL import Image
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from node_bench import (
    LARGEST_STEP,
    MAP,
    MIDDLE,
    NAMES,
    Driver,
    ServoChain,
    Witness,
    call,
    call_until_success,
    port_name,
)

from shellbot_common.testing import wait_until
from shellbot_control import Gains, GainTable
from shellbot_description import JOINT_CLASSES

OTHER = MIDDLE + np.where(np.arange(24) % 4 == 1, 0.4, np.where(np.arange(24) % 4 == 2, -0.3, 0.0))


class DriverTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rospy.init_node("driver_rostest")
        cls.folder = tempfile.mkdtemp()
        cls.chain = ServoChain(port_name(cls.folder))
        cls.witness = Witness()
        cls.page = rospy.Publisher("gains/parameter_updates", Config, queue_size=1, latch=True)
        cls.driver = Driver(port=str(port_name(cls.folder)))

    @classmethod
    def tearDownClass(cls):
        try:
            cls.driver.end()
        finally:
            cls.chain.close()

    def setUp(self):
        w = self.witness
        try:
            w.free(MIDDLE)
            w.arrive(MIDDLE)
        except AssertionError as error:
            raise AssertionError(f"{error}; {self.driver.output()[-2000:]}") from error
        self.chain.largest_step()

    def tearDown(self):
        self.assertLess(self.chain.largest_step(), LARGEST_STEP, "a goal jumped")

    def test_01_says_who_answered_and_reports(self):
        w = self.witness
        self.driver.wait_said("19 of 19 servos answered")
        wait_until(
            lambda: w.battery and w.battery.present and w.servos and len(w.diagnostics) >= 6,
            lambda: f"reports: {w.diagnostics}",
        )
        self.assertAlmostEqual(w.battery.voltage, 12.0, delta=0.3)
        self.assertTrue(w.battery.present and 0.5 < w.battery.percentage <= 1.0)
        self.assertEqual(len(w.battery.cell_voltage), 3)
        self.assertEqual([s.id for s in w.servos.servos], list(range(19)))
        wait_until(lambda: all(s.torque_enabled and s.age < 1.0 for s in w.servos.servos), lambda: str(w.servos))
        self.assertEqual(set(w.diagnostics), {"safety ladder", "bus", "bus process", "servos", "battery", "gains"})
        wait_until(lambda: w.diagnostics["servos"].message == "all 19 servos OK", lambda: str(w.diagnostics))
        values = {v.key: v.value for v in w.diagnostics["bus"].values}
        for name in ("lateness_us_p99", "round_trip_us_p50", "overhead_us_p50", "retries", "bad_checksums"):
            self.assertIn(name, values)
        self.assertEqual(w.stopped[-1], False)

    def test_02_joint_states_come_each_tick_with_wall_clock_stamps(self):
        w = self.witness
        w.state_times = []
        wait_until(lambda: len(w.state_times) > 60, "joint states")
        times = np.array(w.state_times)
        stamps = times[:, 1]
        self.assertTrue(np.all(np.diff(stamps) > 0.0))
        self.assertLess(np.min(np.abs(times[:, 0] - stamps)), 0.1)
        # a starved driver skips ticks: the short periods are those of its clock
        self.assertAlmostEqual(float(np.percentile(np.diff(stamps), 10)), 0.03, delta=0.01)

    def test_03_targets_move_the_servos_and_come_back_measured(self):
        w = self.witness
        w.arrive(OTHER)
        wait_until(
            lambda: np.abs(self.goals() - MAP.goals(MAP.reduce(OTHER))).max() <= 1,
            lambda: f"goals {self.goals()} of {MAP.goals(MAP.reduce(OTHER))}",
        )
        wait_until(
            lambda: w.status.reached and not w.status.holding and w.status.text == "",
            lambda: f"reached without a text: {w.status}",
        )

    def goals(self):
        """Goals of the servos in the order of the map, steps."""
        goals = self.chain.registers("goal_position")
        return np.array([goals[i] for i in MAP.servo_ids])

    def test_04_names_in_any_order_and_targets_out_of_range(self):
        w = self.witness
        w.target = None
        far = OTHER + np.where(np.arange(24) == 1, 0.45, 0.0)

        def arrived():
            message = JointState(name=list(NAMES[::-1]), position=list(far[::-1]))
            message.header.stamp = rospy.Time.from_sec(time.time())
            w.targets.publish(message)
            time.sleep(0.02)
            return w.freed() and np.abs(w.position() - far).max() < 0.05

        wait_until(arrived, lambda: f"joints {w.position()} at {far}; status {w.status}")

    def test_05_bad_targets_hold_and_are_said(self):
        w = self.witness
        w.arrive(OTHER)
        w.target = None
        nan = MIDDLE.copy()
        nan[7] = math.nan
        for names, position, words in (
            (NAMES, nan, "not a finite number"),
            (NAMES[:-1], MIDDLE[:-1], "no value for lower_6_tibia"),
            (NAMES, MIDDLE[:-1], "24 names but 23 positions"),
            (("nobody", *NAMES[1:]), MIDDLE, "unknown joints nobody"),
        ):

            def said(names=names, position=position, words=words):
                w.targets.publish(JointState(name=list(names), position=list(position)))
                return any(words in text for text in w.log) and w.status.holding

            wait_until(said, lambda words=words: f"{words} in {w.log[-5:]}; {w.status}")
            np.testing.assert_allclose(w.position(), OTHER, atol=0.03)

    def test_06_old_targets_are_refused_and_silence_holds(self):
        w = self.witness
        w.arrive(OTHER)
        w.target = None
        wait_until(lambda: w.status.holding, "silence holds")
        self.assertTrue(w.status.text, "and says why")
        for _ in range(30):
            old = JointState(name=list(NAMES), position=list(MIDDLE))
            old.header.stamp = rospy.Time.from_sec(time.time() - 10.0)
            w.targets.publish(old)
            time.sleep(0.02)
        wait_until(lambda: any("old on arrival" in text for text in w.log), lambda: str(w.log[-5:]))
        np.testing.assert_allclose(w.position(), OTHER, atol=0.03)
        self.assertEqual(set(self.chain.registers("torque_enable").values()), {1}, "a hold is not limp")
        self.assertIs(w.stopped[-1], False, "a hold by silence ends without rearm")
        w.arrive(MIDDLE)

    def test_07_emergency_stop_by_service_and_by_topic(self):
        w = self.witness
        for use in ("service", "topic"):
            w.stopped.clear()
            start = time.monotonic()
            if use == "service":
                text = call_until_success("emergency_stop")
                self.assertTrue("rearm" in text and "all 19 servos" in text, text)
            else:
                wait_until(w.stop_topic.get_num_connections, "topic")
                w.stop_topic.publish(False)
                w.stop_topic.publish(True)
            wait_until(lambda: set(self.chain.registers("torque_enable").values()) == {0}, "torque off")
            print(f"{use} emergency_stop to the last servo's torque off: {1e3 * (time.monotonic() - start):.0f} ms")
            wait_until(lambda: w.stopped == [True], f"stopped is latched: {w.stopped}")
            wait_until(lambda: w.status.holding and w.status.text, "says so")
            w.target = OTHER
            w.let_pass(20)
            np.testing.assert_allclose(w.position(), MIDDLE, atol=0.06)  # limp joints sag within their play
            success, text = call("torque", True)
            self.assertFalse(success)
            self.assertIn("rearm", text)
            call_until_success("rearm")
            wait_until(lambda: w.stopped[-1] is False, "armed")
            w.arrive(OTHER)
            w.arrive(MIDDLE)
        late = Witness()
        wait_until(lambda: late.stopped, "latched")
        self.assertFalse(late.stopped[0])

    def test_08_torque_off_and_on(self):
        w = self.witness
        call_until_success("torque", False)
        wait_until(lambda: set(self.chain.registers("torque_enable").values()) == {0}, "limp")
        wait_until(lambda: w.stopped[-1] is True, "the action manager hears of it")
        call_until_success("torque", True)
        wait_until(lambda: set(self.chain.registers("torque_enable").values()) == {1}, "torque")
        wait_until(lambda: w.stopped[-1] is False, lambda: f"free: {w.status}")
        w.arrive(OTHER)

    def test_09_the_page_of_gains_reaches_the_servos(self):
        page = GainTable({name: Gains(18.5) for name in JOINT_CLASSES}).to_page()
        for change, slopes in (
            ({"femur_p": 11.0, "coxa_p": 37.0}, {"coxa": 8, "femur": 32, "tibia": 16}),
            ({"stiffness": 0.5}, {"coxa": 32, "femur": 32, "tibia": 32}),
            ({}, {"coxa": 16, "femur": 16, "tibia": 16}),
        ):
            values = {**page, **change}
            self.page.publish(Config(doubles=[DoubleParameter(k, v) for k, v in values.items()]))

            def there(slopes=slopes):
                now = self.chain.registers("cw_compliance_slope"), self.chain.registers("ccw_compliance_slope")
                return all(
                    table[entry.servo_id] == slope
                    for table in now
                    for entry in MAP.entries
                    for kind, slope in slopes.items()
                    if entry.joint.endswith(kind)
                )

            wait_until(there, lambda slopes=slopes: f"{slopes}: {self.chain.registers('cw_compliance_slope')}")
        wait_until(lambda: "slope 16" in str(self.witness.diagnostics["gains"].values), "diagnostics")
        self.page.publish(Config(doubles=[DoubleParameter("coxa_p", 1.0)]))
        wait_until(lambda: "not used" in self.witness.diagnostics["gains"].message, "a page with holes is refused")

    def test_10_the_plot_on_demand(self):
        answer = rospy.ServiceProxy("motor_driver/timing", Trigger)()
        self.assertGreater(sum(json.loads(answer.message)["counts"]["tick_time"]), 20)
        file = Path(self.folder) / "bus.png"
        done = subprocess.run(
            ["rosrun", "shellbot_motor_driver", "bus_plot", "--output", str(file)],
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.strip(), str(file.resolve()))
        with Image.open(file) as picture:
            self.assertGreater(picture.size[0], 600)


if __name__ == "__main__":
    rostest.rosrun("shellbot_motor_driver", "driver", DriverTest)
