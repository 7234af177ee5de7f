#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Starts that cannot succeed: each says what is wrong and what to do, moves nothing, and goes on when it is mended."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import unittest

import rospy
import rostest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from node_bench import MIDDLE, Driver, ServoChain, Witness, call, call_until_success, port_name

from ax_bus import SerialPort
from shellbot_common.testing import wait_until


class StartTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rospy.init_node("driver_start_rostest")
        cls.witness = Witness()

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.port = str(port_name(self.folder))
        self.witness.listen()
        self.witness.forget()
        self.witness.target = None
        self.open = []

    def tearDown(self):
        for thing, end in self.open[::-1]:
            end(thing)
        shutil.rmtree(self.folder, ignore_errors=True)

    def chain(self, **options):
        chain = ServoChain(self.port, **options)
        self.open.append((chain, ServoChain.close))
        return chain

    def driver(self, **parameters):
        driver = Driver(**{"port": self.port, **parameters})
        self.open.append((driver, Driver.end))
        return driver

    def follows(self):
        self.witness.free(MIDDLE)

    def refused(self, chain=None):
        """Nothing is published that would start the chain's tick, and nothing got torque."""
        ladder = wait_until(lambda: "safety ladder" in self.witness.diagnostics, "diagnostics")
        self.assertIsNotNone(ladder)
        self.assertEqual(self.witness.diagnostics["safety ladder"].level, 2)
        self.assertIn("not started", self.witness.diagnostics["safety ladder"].message)
        self.assertIsNone(self.witness.states)
        success, text = call("torque", True)
        self.assertFalse(success)
        self.assertIn("not started", text)
        if chain is not None:
            self.assertEqual(set(chain.registers("torque_enable").values()), {0})

    def test_a_missing_port_is_waited_for(self):
        driver = self.driver()
        driver.wait_said(self.port, "does not exist", "trying again")
        self.refused()
        self.chain()
        self.follows()
        text = driver.output()  # which may have it again where a starved bus process was replaced
        self.assertLessEqual(text.count("does not exist"), 1 + text.count("the bus process"), "once, not every second")

    def test_a_port_in_use_is_waited_for(self):
        self.chain()
        other = SerialPort(self.port)
        driver = self.driver()
        driver.wait_said("in use by", "stop it first")
        self.refused()
        other.close()
        self.follows()

    def test_another_baud_rate_or_no_power(self):
        chain = self.chain(baud=500_000)
        driver = self.driver()
        driver.wait_said("not started", "scripts/servo scan", "trying again")
        self.refused(chain)

    def test_a_missing_servo_is_named_and_waits_for_a_person(self):
        chain = self.chain(faults=[{"kind": "dead", "servo": 7}])
        driver = self.driver()
        driver.wait_said("not started", "lower_3_coxa", "call rearm to try again")
        self.refused(chain)
        text = driver.output()
        self.assertIn("0", text)
        success, words = call("rearm")
        self.assertTrue(success and "trying to start again" in words, words)

    def test_a_servo_that_comes_back_starts_after_rearm(self):
        chain = self.chain(faults=[{"kind": "dead", "servo": 7}])
        driver = self.driver()
        driver.wait_said("lower_3_coxa", "call rearm")
        call("rearm")
        self.refused(chain)
        chain.close()
        self.chain()
        self.follows()

    def test_a_stop_during_the_start_is_heard_at_once(self):
        chain = self.chain(faults=[{"kind": "link_latency", "value": 0.015}])
        driver = self.driver(latency_ms=100.0)  # a start that is slow must not fail for that on a busy machine
        wait_until(lambda: any(chain.registers("torque_enable").values()), "torque of the first servo", 720)
        _, text = call("emergency_stop")
        self.assertIn("stopped", text)
        wait_until(lambda: not any(chain.registers("torque_enable").values()), "all are limp")
        self.assertIsNone(self.witness.states, "it is still at its start")
        wait_until(
            lambda: self.witness.states is not None, lambda: f"the start goes on: {driver.output()[-2000:]}", 720
        )
        self.assertEqual(set(chain.registers("torque_enable").values()), {0})
        driver.wait_said("emergency stop (during the start)")
        self.witness.target = MIDDLE

        text = call_until_success("rearm")
        wait_until(
            lambda: all(chain.registers("torque_enable").values()),
            lambda: f"torque comes with rearm: {text}; {self.witness.status}; {driver.output()[-2000:]}",
        )

    def test_two_servos_of_one_id(self):
        chain = self.chain(faults=[{"kind": "change_id", "servo": 5, "value": 4}])
        driver = self.driver()
        driver.wait_said("not started", "4", "call rearm")
        self.assertTrue("two servos" in driver.output() or "lower_2_femur" in driver.output(), driver.output())
        self.refused(chain)

    def test_another_model(self):
        chain = self.chain(model=(2, 12))
        driver = self.driver()
        driver.wait_said("not started", "AX-12A", "AX-18A", "lower_1_femur")
        self.refused(chain)

    def test_parameters_that_cannot_be_used_end_the_node_in_words(self):
        for parameters, words in (
            ({"variant": "simulation"}, "choose from walker, full"),
            ({"direction": "gpio"}, "CHIP:LINE"),
            ({"setpoint": {"hold_after": -1.0}}, "hold_after"),
            ({"servo_map": "/nowhere/servos.yaml"}, "cannot read /nowhere/servos.yaml"),
        ):
            driver = Driver(port=self.port, **parameters)
            self.assertEqual(driver.process.wait(60), 1)
            self.assertIn(words, driver.output())
            self.assertNotIn("Traceback", driver.output())


if __name__ == "__main__":
    rostest.rosrun("shellbot_motor_driver", "driver_start", StartTest)
