#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The connector on real topics: one stamped command per message of targets, come what may; holds, stops, restarts."""

import math
import os
import signal
import threading
import time
import unittest
from xmlrpc.client import ServerProxy

import numpy as np
import rosgraph
import rospy
import rostest
from diagnostic_msgs.msg import DiagnosticArray
from dynamic_reconfigure.msg import Config, DoubleParameter
from rosgraph_msgs.msg import Clock, Log
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray
from std_srvs.srv import Trigger

from shellbot_common.testing import wait_until
from shellbot_control import JointLimits
from shellbot_description import driven_joint_names, expand, named_pose_array, robot_profile
from shellbot_msgs.msg import ReferenceStatus

NAMES = driven_joint_names("simulation")
STAND = named_pose_array("stand", "simulation")
TICK = 10_000_000
STEP_TOLERANCE = 1e-9


def stamp_of(ns):
    return rospy.Time(ns // 1_000_000_000, ns % 1_000_000_000)


class ConnectorTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rospy.init_node("connector_rostest")
        cls.commands, cls.statuses, cls.stopped, cls.diagnostic = [], [], [], ""
        cls.arrived = threading.Condition()
        cls.clock = rospy.Publisher("/clock", Clock, queue_size=10)
        cls.states = rospy.Publisher("joint_states", JointState, queue_size=10, tcp_nodelay=True)
        cls.targets = rospy.Publisher("joint_targets", JointState, queue_size=10, tcp_nodelay=True)
        cls.stop_topic = rospy.Publisher("emergency_stop", Bool, queue_size=1)
        cls.subscribers = [
            rospy.Subscriber("shellbot_legs_controller/command", Float64MultiArray, cls.on_command, tcp_nodelay=True),
            rospy.Subscriber("reference_status", ReferenceStatus, cls.statuses.append),
            rospy.Subscriber("stopped", Bool, lambda message: cls.stopped.append(message.data)),
            rospy.Subscriber("/diagnostics", DiagnosticArray, cls.on_diagnostics),
        ]
        # The node has been waiting for these two.
        urdf = expand("simulation")
        cls.limits = JointLimits.from_urdf(urdf, NAMES)
        rospy.set_param("robot_description", urdf)
        rospy.set_param("robot_profile", robot_profile("simulation").to_text())
        cls.now = 100 * TICK
        cls.position = STAND
        cls.connect()

    @classmethod
    def on_command(cls, message):
        with cls.arrived:
            cls.commands.append(message)
            cls.arrived.notify_all()

    @classmethod
    def on_diagnostics(cls, message):
        for status in message.status:
            if status.name.startswith("gazebo_connector"):
                cls.diagnostic = status.message

    @classmethod
    def connect(cls):
        """Wait until the connector listens and speaks."""
        wait_until(
            lambda: cls.states.get_num_connections() and cls.targets.get_num_connections()
            and cls.subscribers[0].get_num_connections() and cls.subscribers[1].get_num_connections(),
            "connector connected",
        )  # fmt: skip

    def setUp(self):
        if self.id().endswith("test_01_waits_for_targets_in_words"):
            return
        # Every test starts with a robot that stands and follows.
        for _ in range(200):
            command = self.tick(STAND)
            if np.allclose(np.array(command.data), STAND, atol=1e-12):
                return
        self.fail("the connector does not follow")

    def publish_states(self):
        type(self).now = self.now + TICK
        self.clock.publish(Clock(stamp_of(self.now)))
        message = JointState(name=["tail", *NAMES[::-1]], position=[9.0, *self.position[::-1]])
        message.header.stamp = stamp_of(self.now)
        self.states.publish(message)

    def tick(self, position, names=NAMES, stamp=None, effort=()):
        """Simulate one tick in lock-step; return the one command. The joints are where they are commanded."""
        self.publish_states()
        before = len(self.commands)
        message = JointState(name=list(names), position=list(position), effort=list(effort))
        message.header.stamp = stamp_of(self.now if stamp is None else stamp)
        self.targets.publish(message)
        with self.arrived:
            self.assertTrue(
                self.arrived.wait_for(lambda: len(self.commands) > before, timeout=60.0), f"no command for {self.now}"
            )
            self.assertEqual(len(self.commands), before + 1)
            command = self.commands[-1]
        if stamp is None:
            self.assertEqual(command.layout.dim[0].label, f"stamp:{self.now}")
        self.assertEqual((command.layout.dim[0].size, command.layout.dim[0].stride), (36, 36))
        step = np.abs(np.array(command.data) - self.position)
        self.assertTrue(np.isfinite(step).all() and len(command.data) == 36)
        self.assertTrue(np.all(step <= self.limits.velocity * 0.05 + STEP_TOLERANCE), f"a jump of {step.max():.3f} rad")
        type(self).position = np.array(command.data)
        return command

    def wait_status(self, condition, what):
        """Run joint states until a status fulfils the condition."""
        self.statuses.clear()
        wait_until(
            lambda: any(condition(status) for status in self.statuses),
            lambda: f"{what}; last status: {self.statuses[-1:]}",
            meanwhile=self.publish_states,
        )

    def test_01_waits_for_targets_in_words(self):
        self.wait_status(
            lambda s: s.holding and math.isinf(s.target_age) and "no joint_targets yet" in s.text, "waiting"
        )
        wait_until(lambda: self.stopped, "the latched topic stopped")
        self.assertEqual(self.stopped, [False])
        wait_until(lambda: "no joint_targets yet" in self.diagnostic, "diagnostics")

    def test_02_one_stamped_command_per_tick_and_its_latency(self):
        self.statuses.clear()
        latencies = []
        for k in range(200):
            target = STAND + 0.05 * math.sin(0.1 * k)
            start = time.monotonic()
            command = self.tick(target)
            latencies.append(time.monotonic() - start)
            np.testing.assert_array_equal(command.data, target)
        p50, p99 = np.percentile(latencies, [50, 99]) * 1e3
        print(f"states and targets out to command in: p50 {p50:.2f} ms, p99 {p99:.2f} ms")
        # the node takes the newest joint states only, so that a busy machine may delay a status
        wait_until(lambda: len(self.statuses) >= 36, "20 Hz of simulated time")
        self.assertLessEqual(len(self.statuses), 41)
        self.assertTrue(self.statuses[-1].reached and not self.statuses[-1].holding and self.statuses[-1].text == "")

    def test_03_names_in_any_order(self):
        target = STAND + 0.02 * np.arange(36) / 36
        np.testing.assert_array_equal(self.tick(target[::-1], NAMES[::-1]).data, target)

    def test_03_torques_become_angles_by_the_gains_in_force(self):
        femur = NAMES.index("lower_1_femur")
        effort = np.zeros(36)
        effort[femur] = 1.0
        gain = rospy.get_param("shellbot_legs_controller/lower_1_femur/pid/p")
        steps = [np.array(self.tick(STAND, effort=effort).data)[femur] - STAND[femur] for _ in range(30)]
        self.assertLess(np.diff([0.0, *steps]).max(), 0.2 / gain, "comes smoothly")
        self.assertAlmostEqual(steps[-1], 1.0 / gain)
        updates = rospy.Publisher(
            "shellbot_legs_controller/lower_1_femur/pid/parameter_updates", Config, latch=True, queue_size=1
        )
        updates.publish(Config(doubles=[DoubleParameter("p", 2.0 * gain)]))
        wait_until(
            lambda: abs(self.tick(STAND, effort=effort).data[femur] - STAND[femur] - 0.5 / gain) < 1e-9,
            "the gain in force counts",
        )
        updates.publish(Config(doubles=[DoubleParameter("p", gain)]))
        effort[0] = math.nan
        for _ in range(30):
            command = np.array(self.tick(STAND, effort=effort).data)
        np.testing.assert_array_equal(command, STAND, "torques that are no numbers fade out, angles are followed")

    def test_03_torques_alone_hold_the_joints_where_no_simulator_takes_torques(self):
        """Gazebo's controllers take positions only."""
        words = []
        log = rospy.Subscriber("/rosout", Log, lambda message: words.append(message.msg))
        wait_until(log.get_num_connections, "the log")
        self.wait_status(lambda s: s.max_error < 1e-9, "the joints are measured at their targets")
        np.testing.assert_array_equal(self.tick([], effort=np.ones(36)).data, STAND)
        wait_until(lambda: any("only the embedded one takes torques" in word for word in words), "words")

    def test_04_bad_targets_hold_and_the_clock_goes_on(self):
        nan, infinite = STAND.copy(), STAND.copy()
        nan[7], infinite[0] = math.nan, math.inf
        renamed = ("lower_7_fan", *NAMES[1:])
        for position, names, text in (
            (STAND[:-1], NAMES[:-1], "no value for upper_6_shell"),
            (STAND[:-1], NAMES, "36 names but 35 positions"),
            (np.append(STAND, 0.0), (*NAMES, "lower_7_fan"), "unknown joints lower_7_fan"),
            (STAND, renamed, "unknown joints lower_7_fan"),
            (STAND, (), "0 names but 36 positions"),
            (nan, NAMES, "lower_2_tibia: not a finite number"),
            (infinite, NAMES, "lower_1_fan: not a finite number"),
        ):
            np.testing.assert_array_equal(self.tick(position, names).data, STAND)
            self.wait_status(lambda s, text=text: s.holding and text in s.text, text)
        np.testing.assert_array_equal(self.tick(STAND).data, STAND)
        self.wait_status(lambda s: not s.holding and s.text == "", "good again")

    def test_05_targets_out_of_range_are_clamped(self):
        for _ in range(200):
            command = self.tick(STAND + 10.0)
        np.testing.assert_allclose(command.data, self.limits.upper)

    def test_06_silence_holds_and_the_way_back_has_no_jump(self):
        before = len(self.commands)
        self.wait_status(lambda s: s.holding and "no valid joint_targets for 0.5 s" in s.text, "watchdog")
        self.assertEqual(len(self.commands), before, "no targets, no commands: the controllers keep the last one")
        self.assertGreater(self.statuses[-1].target_age, 0.5)
        target = STAND.copy()
        target[1] += 1.0
        steps = [abs(np.array(self.tick(target).data) - STAND)[1] for _ in range(3)]
        self.assertLess(steps[-1], 0.1)
        for _ in range(100):
            command = self.tick(target)
        np.testing.assert_array_equal(command.data, target)

    def test_07_stale_targets_are_answered_but_not_followed(self):
        stamp = self.now
        # joint states go on, targets of then arrive now; the topics are not ordered: wait until the states are there
        self.wait_status(lambda s: s.target_age > 0.6, "old targets")
        command = self.tick(STAND + 0.05, stamp=stamp + TICK)
        self.assertEqual(command.layout.dim[0].label, f"stamp:{stamp + TICK}")
        np.testing.assert_array_equal(command.data, STAND)

    def test_08_emergency_stop_by_service_and_by_topic(self):
        stop, rearm = rospy.ServiceProxy("emergency_stop", Trigger), rospy.ServiceProxy("rearm", Trigger)
        for use in ("service", "topic"):
            self.stopped.clear()
            if use == "service":
                self.assertTrue(stop().success)
            else:
                self.stop_topic.publish(False)
                self.tick(STAND)
                self.assertEqual(self.stopped, [], "false does nothing")
                wait_until(self.stop_topic.get_num_connections, "topic")
                self.stop_topic.publish(True)
            wait_until(lambda: self.stopped == [True], "stopped")
            for _ in range(20):
                np.testing.assert_array_equal(self.tick(STAND + 0.5).data, STAND)
            self.wait_status(
                lambda s, use=use: s.holding and f"emergency stop ({use} emergency_stop" in s.text, "says so"
            )
            self.assertTrue(rearm().success)
            wait_until(lambda: self.stopped == [True, False], "armed")
            # The targets were refused for a while: the way to them is slow at first.
            self.assertLess(np.abs(np.array(self.tick(STAND + 0.5).data) - STAND).max(), 0.051)
            for _ in range(200):
                self.tick(STAND)
        self.assertFalse(rearm().success)
        late = []
        rospy.Subscriber("stopped", Bool, late.append)
        wait_until(lambda: late, "latched")
        self.assertFalse(late[0].data)

    def test_09_clock_jumps_back(self):
        type(self).now = 0
        for k in range(30):
            np.testing.assert_array_equal(self.tick(STAND).data, STAND, f"tick {k}")
        type(self).now = 0
        type(self).position = STAND + np.where(np.arange(36) == 1, 0.8, 0.0)  # the robot was put somewhere else
        first = np.array(self.tick(STAND).data)
        self.assertAlmostEqual(first[1], STAND[1] + 0.8 - 0.01, places=6)

    def test_10_killed_and_respawned_while_the_robot_stands(self):
        self.kill()
        sagged = STAND - 0.04
        type(self).position = sagged
        self.connect()
        np.testing.assert_array_equal(self.tick(STAND).data, STAND)  # a loaded joint keeps its target
        self.kill()
        type(self).position = STAND + np.where(np.arange(36) == 1, 0.5, 0.0)
        self.connect()
        self.assertAlmostEqual(self.tick(STAND).data[1], STAND[1] + 0.5 - 0.01, places=6)

    def test_11_an_emergency_stop_outlives_a_crash(self):
        self.stopped.clear()
        rospy.ServiceProxy("emergency_stop", Trigger)()
        wait_until(lambda: self.stopped, "stopped")
        self.stopped.clear()
        self.kill()
        self.connect()
        wait_until(lambda: self.stopped, "stopped again")
        self.assertEqual(self.stopped, [True])
        np.testing.assert_array_equal(self.tick(STAND + 0.5).data, STAND)
        self.assertTrue(rospy.ServiceProxy("rearm", Trigger)().success)

    def kill(self):
        """Kill the node as a crash does; roslaunch starts it again."""
        # rospy counts a dead listener until a message to it fails
        publishers = (self.states, self.targets)
        dead = [connection for publisher in publishers for connection in publisher.impl.connections]
        killed = self.process()
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: self.process() not in (killed, None), "respawned")
        wait_until(
            lambda: all(any(c not in dead for c in publisher.impl.connections) for publisher in publishers),
            "listens again",
        )
        # ... and a speaker before the connection to it is made: only the speaker itself knows
        wait_until(lambda: self.heard_topics() >= {"/shellbot_legs_controller/command", "/stopped"}, "speaks again")

    @staticmethod
    def process():
        """Return the connector's process, None while the node at its address is dead.

        One of 7,000 new nodes gets the port of the dead one, so that its address does not tell them apart.
        """
        uri = rosgraph.Master("/connector_rostest").lookupNode("/gazebo_connector")
        try:
            return ServerProxy(uri).getPid("/connector_rostest")[2]
        except OSError:
            return None

    @staticmethod
    def heard_topics():
        """Return the topics of the connector that somebody is connected to."""
        uri = rosgraph.Master("/connector_rostest").lookupNode("/gazebo_connector")
        return {entry[4] for entry in ServerProxy(uri).getBusInfo("/connector_rostest")[2] if entry[2] == "o"}


if __name__ == "__main__":
    rostest.rosrun("shellbot_gazebo_connector", "connector_rostest", ConnectorTest)
