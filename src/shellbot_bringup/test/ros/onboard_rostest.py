#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""onboard.launch through emulated servos: the chain of the simulation, above bytes."""

from __future__ import annotations

import math
import os
import sys
import time
import unittest

import dynamic_reconfigure.client
import rospy
import rostest
from diagnostic_msgs.msg import DiagnosticArray
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from live_robot import LiveRobot, tilt_of  # noqa: E402

from shellbot_msgs.msg import ServoStates  # noqa: E402

ROBOT = None
UPRIGHT = math.radians(12.0)


class OnboardTest(unittest.TestCase):
    """Tests run in the order of their names: the first stands the robot up."""

    @classmethod
    def setUpClass(cls):
        rospy.init_node("onboard_rostest")
        cls.robot = LiveRobot()
        cls.heard, cls.lines = {}, {}
        cls.subscribers = [
            rospy.Subscriber("battery_state", BatteryState, lambda m: cls.heard.update(battery=m)),
            rospy.Subscriber("servo_states", ServoStates, lambda m: cls.heard.update(servos=m)),
            rospy.Subscriber("stopped", Bool, lambda m: cls.heard.update(stopped=m.data)),
            rospy.Subscriber("/diagnostics", DiagnosticArray, cls.on_diagnostics),
        ]

    @classmethod
    def on_diagnostics(cls, message):
        cls.lines.update({status.name: status for status in message.status})

    def setUp(self):
        self.robot.falls.clear()
        self.robot.jumps.clear()

    def tearDown(self):
        self.robot.watch_falls = False
        self.robot.stop()
        self.assertEqual(self.robot.falls[:3], [], "the robot fell (time, height, tilt_deg)")

    def said(self):
        return {name: line.message for name, line in self.lines.items() if line.level} or self.lines.keys()

    def stand(self):
        """Wait until it stands; rearm it and request hexapod where a stutter of a busy machine stopped the driver."""
        rearm = rospy.ServiceProxy("rearm", Trigger)

        def stands():
            mode = self.robot.mode
            if mode is not None and mode.name == "stopped":
                rearm()
            elif mode is not None and mode.target != "hexapod":
                self.robot.request("hexapod")
            elif self.robot.in_mode("hexapod") and self.robot.truth is not None:
                return self.robot.truth.pose.pose.position.z > 0.13
            time.sleep(0.5)  # an operator's pace
            return False

        try:
            self.robot.wait_for(stands, 240, "stand up")
        except AssertionError as error:
            raise AssertionError(f"{error}; {self.said()}") from error

    def stands_still(self):
        mode = self.robot.mode
        return mode.name == "stopped" or (self.robot.in_mode("hexapod") and not mode.step)

    def test_1_stands_up_and_reports(self):
        self.stand()
        self.assertLess(tilt_of(self.robot.truth.pose.pose.orientation), UPRIGHT)
        self.assertGreater(len(self.robot.states.name), 23)
        self.robot.wait_for(lambda: "battery" in self.heard and "servos" in self.heard, 60, "battery and servos")
        self.assertTrue(9.9 < self.heard["battery"].voltage < 12.7)
        self.assertTrue(all(servo.torque_enabled for servo in self.heard["servos"].servos))
        self.robot.wait_for(
            lambda: "gains: forwarding" in self.lines and "hears the page" in self.lines["gains: forwarding"].message,
            60,
            "the driver hears the page of gains",
        )
        self.assertIs(rospy.get_param("use_sim_time"), False)

    def test_2_walks(self):
        self.stand()
        self.robot.watch_falls = True
        for vx, vy, wz in ((0.12, 0.0, 0.0), (0.0, 0.0, 0.4)):
            # driver and servos run in real time: on a busy machine they hold now and then, and turn where one holds
            # and is pushed aside by legs that hold; how straight it goes is tested in virtual time
            seconds, ahead, turn = 0.0, 0.0, 0.0
            while (ahead / (3.5 * vx) if vx else turn / (3.5 * wz)) < 0.6 and seconds < 240.0:
                if self.robot.mode.name == "stopped":  # it may stand up again, which is no fall
                    self.robot.watch_falls = False
                    self.stand()
                    self.robot.watch_falls = True
                start = self.robot.pose()
                self.robot.drive(4.0, vx, vy, wz)
                seconds += 4.0
                self.robot.stop()
                self.robot.wait_for(self.stands_still, 60, "stands still")
                dx, _, turned = self.robot.moved_since(start)
                ahead, turn = ahead + dx, turn + turned
            said = f"commanded {vx} m/s {wz} rad/s for {seconds:g} s: moved {ahead:.3f} m, turned {turn:.3f} rad"
            print(said)
            self.assertGreater(ahead / vx if vx else turn / wz, 0.6 * 3.5, said)

    def test_3_gains_of_the_page_reach_the_servos(self):
        self.stand()
        self.robot.watch_falls = True
        page = dynamic_reconfigure.client.Client("gains", timeout=60)
        page.update_configuration({"coxa_p": 37.0})
        line = "motor_driver: gains"
        self.robot.wait_for(
            lambda: (
                line in self.lines and any(v.key == "coxa" and "slope 8" in v.value for v in self.lines[line].values)
            ),
            60,
            f"slope 8; {self.lines.get(line)}",
        )
        page.update_configuration({"coxa_p": 18.52})
        page.close()

    def test_4_an_emergency_stop_is_seen_above_and_rearm_brings_it_back(self):
        self.stand()
        stop = rospy.ServiceProxy("emergency_stop", Trigger)  # a starved chain may confirm it too late for one call
        self.robot.wait_for(lambda: stop().success, 60, "torque off is confirmed")
        self.robot.wait_for(lambda: self.heard.get("stopped") is True, 60, "stopped is latched")
        self.robot.wait_for(lambda: self.robot.mode.name == "stopped", 60, "the action manager follows")
        self.robot.wait_for(lambda: not any(s.torque_enabled for s in self.heard["servos"].servos), 60, "torque off")
        self.robot.let_pass(1.0)
        self.assertLess(tilt_of(self.robot.truth.pose.pose.orientation), math.radians(30.0), "sinks, does not topple")
        self.stand()
        self.robot.wait_for(lambda: self.heard.get("stopped") is False, 60, "stopped is released")

    def test_5_sits(self):
        self.stand()
        self.robot.watch_falls = False
        answer = self.robot.request("sit")
        self.assertTrue(answer.accepted, answer.reason)
        self.robot.wait_for(lambda: self.robot.in_mode("sit"), 60, "sits")
        self.assertLess(tilt_of(self.robot.truth.pose.pose.orientation), UPRIGHT)


if __name__ == "__main__":
    rostest.rosrun("shellbot_bringup", "onboard", OnboardTest)
