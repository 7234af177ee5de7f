#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How the node ends, and what silence leads to: the robot sits before its torque goes."""

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

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from node_bench import LARGEST_STEP, MAP, MIDDLE, SIT, Driver, ServoChain, Witness, call_until_success, port_name

from shellbot_common.testing import wait_until
from shellbot_motor_driver.node.motor_driver_node import UNCONFIRMED

# a machine that stands still for some seconds must not make it sit
QUICK = {"hold_after": 0.5, "sit_after": 5.0, "off_after": 12.0, "sit_speed": 2.0}
OTHER = MIDDLE + np.where(np.arange(24) % 4 == 1, 0.3, 0.0)


class EndTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rospy.init_node("driver_end_rostest")
        cls.port = str(port_name(tempfile.mkdtemp()))
        cls.chain = ServoChain(cls.port)
        cls.witness = Witness()

    @classmethod
    def tearDownClass(cls):
        cls.chain.close()

    def start(self, **parameters):
        driver = Driver(**{"port": self.port, "setpoint": QUICK, **parameters})
        self.addCleanup(driver.end)
        self.witness.listen()
        self.witness.forget()
        try:
            self.witness.free(OTHER)
            self.witness.arrive(OTHER)
        except AssertionError as error:
            raise AssertionError(f"{error}; {driver.output()[-2000:]}") from error
        self.chain.largest_step()
        return driver

    def ended(self, end, **parameters):
        """Start it and end it by ``end``, which returns the exit status; return it with its torque confirmed off.

        A chain that stands still does not confirm it in time: up to three tries.
        """
        for _ in range(3):
            driver = self.start(**parameters)
            status = end(driver)
            if status != UNCONFIRMED:
                break
        self.assertEqual(status, 0, driver.output()[-2000:])
        return driver

    def torque(self):
        return set(self.chain.registers("torque_enable").values())

    def test_told_to_end_it_sits_and_then_lets_go(self):
        driver = self.ended(Driver.end, at_end="sit")
        self.assertIn("sitting down", driver.output())
        self.assertEqual(self.torque(), {0})
        np.testing.assert_allclose(self.measured(), SIT, atol=0.1)
        self.assertLess(self.chain.largest_step(), LARGEST_STEP)
        self.assertNotIn("Traceback", driver.output())

    def test_told_to_end_twice_or_by_sigterm_it_lets_go_at_once(self):
        for signals in ((signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)):

            def end(driver, signals=signals):
                for sent, number in enumerate(signals):
                    if sent:
                        driver.wait_said("sitting down")
                    driver.process.send_signal(number)
                return driver.process.wait(60)

            self.ended(end, at_end="sit", setpoint={**QUICK, "sit_speed": 0.05})  # minutes
            self.assertEqual(self.torque(), {0})
            self.assertGreater(np.abs(self.measured() - SIT).max(), 0.2, "it did not sit")

    def test_sitting_ends_before_roslaunch_kills(self):
        def end(driver):
            nonlocal took
            start = time.monotonic()
            status = driver.end()
            took = time.monotonic() - start
            return status

        took = 0.0
        self.ended(end, at_end="sit", setpoint={**QUICK, "sit_speed": 0.05})  # minutes
        print(f"the end of a robot that cannot sit took {took:.1f} s")
        self.assertEqual(self.torque(), {0})
        self.assertLess(took, 15.0, "roslaunch sends SIGTERM then")

    def test_told_to_end_while_the_bus_process_hangs(self):
        def end(driver):
            os.kill(self.child(driver), signal.SIGSTOP)
            return driver.end()

        driver = self.ended(end, at_end="sit")
        self.assertEqual(self.torque(), {0})
        self.assertIn("no sign of life", driver.output())

    def test_told_to_end_without_a_port_it_says_who_may_hold(self):
        driver = self.start(at_end="sit")
        self.chain.fault("port_error", 20.0)
        wait_until(lambda: self.witness.stopped[-1] is True, "the action manager hears of it")
        self.assertEqual(driver.end(60), 3, driver.output()[-2000:])
        self.assertEqual(self.torque(), {1})
        self.assertIn("TORQUE MAY BE ON at servos 0 lower_1_fan", driver.output())
        wait_until(lambda: os.path.exists(self.port), "the port is back")

    def test_killed_it_leaves_a_bus_process_that_sits_and_lets_go(self):
        driver = self.start(at_end="sit")
        driver.kill()
        wait_until(lambda: self.torque() == {0}, "lets go")
        np.testing.assert_allclose(self.measured(), SIT, atol=0.1)

    def child(self, driver):
        pid = driver.process.pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            (child,) = map(int, file.read().split())
        return child

    def measured(self):
        steps = self.chain.registers("present_position")
        return MAP.to_joints([steps[i] for i in MAP.servo_ids])

    def test_told_to_end_it_holds_if_that_is_wanted(self):
        driver = self.start(at_end="hold")
        goals = self.chain.registers("goal_position")
        self.assertEqual(driver.end(60), 0, driver.output()[-2000:])
        self.assertEqual(self.torque(), {1})
        self.assertEqual(self.chain.registers("goal_position"), goals)

    def test_silence_holds_then_sits_then_lets_go_and_rearm_frees(self):
        w = self.witness
        self.start(at_end="off")
        w.target = None
        wait_until(lambda: w.status.holding, "holds")
        self.assertEqual(w.stopped[-1], False, "a moment of silence is no stop")
        wait_until(lambda: np.abs(w.position() - SIT).max() < 0.1, lambda: f"sits: {w.status}")
        self.assertEqual(w.stopped[-1], True, "now a person must look")
        wait_until(lambda: self.torque() == {0}, "lets go")
        self.assertLess(self.chain.largest_step(), LARGEST_STEP)
        call_until_success("rearm")
        w.arrive(OTHER)
        self.assertEqual(w.stopped[-1], False)


if __name__ == "__main__":
    rostest.rosrun("shellbot_motor_driver", "driver_end", EndTest)
