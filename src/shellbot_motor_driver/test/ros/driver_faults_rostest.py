#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What happens when something dies: port, node, bus process, servo; nothing jumps, stops outlive crashes."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
import unittest

import numpy as np
import rospy
import rostest
from dynamic_reconfigure.msg import Config, DoubleParameter

from shellbot_common.testing import wait_until
from shellbot_control import Gains, GainTable
from shellbot_description import JOINT_CLASSES

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from node_bench import LARGEST_STEP, MAP, MIDDLE, Driver, ServoChain, Witness, call, call_until_success, port_name

OTHER = MIDDLE + np.where(np.arange(24) % 4 == 1, 0.3, 0.0)


class FaultsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rospy.init_node("driver_faults_rostest")
        cls.port = str(port_name(tempfile.mkdtemp()))
        cls.chain = ServoChain(cls.port)
        cls.witness = Witness()
        cls.driver = Driver(port=cls.port)

    @classmethod
    def tearDownClass(cls):
        try:
            cls.driver.end()
        finally:
            cls.chain.close()

    def setUp(self):
        w = self.witness
        w.free(OTHER)
        w.arrive(OTHER)
        self.chain.largest_step()

    def tearDown(self):
        self.assertLess(self.chain.largest_step(), LARGEST_STEP, "a goal jumped")

    def registers(self, name):
        return set(self.chain.registers(name).values())

    def children(self):
        """Processes that the node started."""
        pid = self.driver.process.pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]

    def test_1_the_port_goes_and_comes_back(self):
        w = self.witness
        self.chain.fault("port_error", 5.0)  # long enough for a report of each second
        start = time.monotonic()
        wait_until(lambda: w.stopped[-1] is True, "the action manager hears of it")
        wait_until(lambda: w.diagnostics["bus"].level == 2, lambda: w.diagnostics["bus"].message)
        call_until_success("rearm")
        print(f"port back {time.monotonic() - start - 5.0:.2f} s after it was plugged in again")
        wait_until(lambda: w.stopped[-1] is False, "armed")
        w.arrive(OTHER)

    def test_2_the_node_is_killed_and_respawned_while_it_follows(self):
        w = self.witness
        goals = self.chain.registers("goal_position")
        self.driver.kill()
        time.sleep(1.0)  # wall time of the chain: nothing changes, and no node is there whose ticks could be counted
        self.assertEqual(self.chain.registers("goal_position"), goals, "servos hold")
        self.assertEqual(self.registers("torque_enable"), {1})
        w.forget()
        w.target = None
        self.driver.start()
        wait_until(lambda: self.driver.keeps_up() and w.states is not None, lambda: self.driver.output()[-2000:])
        self.driver.wait_said("they keep holding")
        self.assertEqual(self.registers("torque_enable"), {1}, "no moment without torque")
        wait_until(lambda: w.stopped and w.stopped[-1] is True, "the action manager hears of it")
        w.target = MIDDLE
        wait_until(lambda: w.status and "rearm" in w.status.text, lambda: str(w.status))
        np.testing.assert_allclose(w.position(), OTHER, atol=0.03)
        w.free(MIDDLE)
        w.arrive(MIDDLE)

    def test_3_the_bus_process_is_killed(self):
        w = self.witness
        before, restarts = self.children(), self.restarts()
        self.assertTrue(before)
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: set(self.children()) - set(before), "another bus process")
        self.assertEqual(self.registers("torque_enable"), {1})
        wait_until(lambda: w.stopped[-1] is True, "the action manager hears of it")
        w.free(MIDDLE)
        w.arrive(MIDDLE)
        # at least one: a starved bus process may have been started more than once
        wait_until(lambda: self.restarts() > restarts, lambda: f"diagnostics count it: {restarts} as before")

    def test_4_an_emergency_stop_and_limpness_outlive_a_crash(self):
        w = self.witness
        for request, content, back in (("emergency_stop", (), "rearm"), ("torque", (False,), "torque")):
            call_until_success(request, *content)
            wait_until(lambda: self.registers("torque_enable") == {0}, "limp")
            self.driver.kill()
            w.forget()
            self.driver.start()
            wait_until(
                lambda: self.driver.keeps_up() and w.states is not None and w.stopped and w.stopped[-1],
                lambda: self.driver.output()[-2000:],
            )
            w.let_pass(50)
            self.assertEqual(self.registers("torque_enable"), {0}, f"{request} was forgotten")
            self.assertTrue(w.stopped[-1])
            call_until_success(back, *((True,) if back == "torque" else ()))
            wait_until(lambda: self.registers("torque_enable") == {1}, "torque")
            w.arrive(OTHER)

    def test_4_an_emergency_stop_and_limpness_outlive_the_bus_process(self):
        w = self.witness
        for request, content, back in (("emergency_stop", (), "rearm"), ("torque", (False,), "torque")):
            call_until_success(request, *content)
            wait_until(lambda: self.registers("torque_enable") == {0}, "limp")
            self.kill_bus_process()
            self.assertEqual(self.registers("torque_enable"), {0}, f"{request} was forgotten")
            wait_until(lambda: w.stopped[-1], "the action manager hears of it")
            call_until_success(back, *((True,) if back == "torque" else ()))
            wait_until(lambda: self.registers("torque_enable") == {1}, "torque")
            w.arrive(OTHER)

    def test_4_an_emergency_stop_without_a_bus_process_is_not_forgotten(self):
        w = self.witness
        self.kill_bus_process(meanwhile=lambda: call_until_success("emergency_stop"))
        wait_until(lambda: self.registers("torque_enable") == {0}, "limp")
        wait_until(lambda: w.stopped[-1] is True, "the action manager hears of it")
        w.free(OTHER)
        w.arrive(OTHER)

    def test_4_the_gains_outlive_the_bus_process(self):
        softer = {**GainTable({name: Gains(18.5) for name in JOINT_CLASSES}).to_page(), "stiffness": 0.5}
        page = rospy.Publisher("gains/parameter_updates", Config, queue_size=1, latch=True)
        page.publish(Config(doubles=[DoubleParameter(k, v) for k, v in softer.items()]))
        legs = [entry.servo_id for entry in MAP.entries if "fan" not in entry.joint]

        def slopes():
            found = self.chain.registers("cw_compliance_slope")
            return {found[servo_id] for servo_id in legs}

        wait_until(lambda: slopes() == {32}, lambda: f"softer: {slopes()}")
        self.kill_bus_process()
        gains = self.witness.diagnostics["gains"]
        self.assertEqual(gains.level, 0, gains.message)
        self.assertEqual(slopes(), {32}, "gains were forgotten")

    def kill_bus_process(self, meanwhile=lambda: None):
        """Kill it and wait until the next one has ticked for a while."""
        restarts = self.restarts()
        (pid,) = self.children()
        os.kill(pid, signal.SIGKILL)
        meanwhile()
        ladder = self.witness.diagnostics
        wait_until(lambda: self.restarts() > restarts, "another bus process")
        wait_until(lambda: "is not running" not in str(ladder["safety ladder"]), lambda: ladder["safety ladder"])
        self.witness.let_pass(50)

    def restarts(self):
        """How many bus processes were started again."""
        wait_until(lambda: "bus" in self.witness.diagnostics, "diagnostics of the bus")
        return int({v.key: v.value for v in self.witness.diagnostics["bus"].values}["bus process restarts"])

    def test_5_a_servo_that_dies_is_named_and_rejoins(self):
        w = self.witness
        self.chain.fault("dead", 15.0, servo=7)
        wait_until(lambda: "lower_3_coxa" in w.diagnostics["servos"].message, lambda: str(w.diagnostics["servos"]))
        wait_until(lambda: "lost" in w.diagnostics["servos"].message, lambda: str(w.diagnostics["servos"]))

        def free():
            if w.stopped[-1]:
                call("rearm")
            return w.follows() and w.diagnostics["servos"].message == "all 19 servos OK"

        wait_until(free, lambda: f"rejoins: {w.diagnostics['servos'].message}; {w.status}")
        w.arrive(OTHER)


if __name__ == "__main__":
    rostest.rosrun("shellbot_motor_driver", "driver_faults", FaultsTest)
