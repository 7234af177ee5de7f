#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gazebo_pace and start_controllers with a Gazebo that the test plays: its order of starting, its clock, its steps."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

import rosgraph
import rospy
import rostest
from rosgraph_msgs.msg import Clock, Log
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, MultiArrayLayout
from std_srvs.srv import Empty, EmptyResponse

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from gazebo_transport import Master, received  # noqa: E402

from shellbot_common import stamp_label  # noqa: E402
from shellbot_common.testing import wait_until  # noqa: E402
from shellbot_gazebo_connector.start_controllers_node import start  # noqa: E402

STEP_NS, TICK = 1_000_000, 10
PAUSE, RUN, STEPS = b"\x08\x01", b"\x08\x00", 0x18
CONTROLLER = "some_controller"


class Gazebo:
    """Clock and joint_states of a world without physics: none while paused, and after a reset as docs have it."""

    def __init__(self):
        self.now = 0  # ms of simulated time
        self.runs, self.ran_from = False, 0  # whether freely, and since when
        self.makes = []  # the steps that were requested, one entry a request
        self.silent_until = -1  # joint_state_controller publishes only beyond its last message
        self.joints = rospy.Publisher("joint_states", JointState, queue_size=10, tcp_nodelay=True)
        self.clock = rospy.Publisher("/clock", Clock, queue_size=10)
        self.lock = threading.Lock()
        self.service = rospy.Service("/gazebo/unpause_physics", Empty, self.on_service)
        self.master = Master()
        for target in (self.follow, self.run):
            threading.Thread(target=target, daemon=True).start()

    def follow(self):
        self.master.join()
        while True:
            try:
                message = received(self.master.world)
            except (OSError, ValueError):  # who makes the steps has ended
                return
            if message in (PAUSE, RUN):
                self.runs, self.ran_from = message == RUN, self.now
            else:
                assert message[0] == STEPS and not self.runs
                self.makes.append(message[1])
                for _ in range(message[1]):
                    self.step()

    def on_service(self, _request):
        self.runs = True
        return EmptyResponse()

    def run(self):
        while True:
            if self.runs:
                self.step()
            time.sleep(0.001)

    def step(self):
        with self.lock:
            self.now += 1
            self.clock.publish(Clock(rospy.Time(0, self.now * STEP_NS)))
            if self.now % TICK == 0 and self.now > self.silent_until:
                message = JointState(name=["a"], position=[0.0])
                message.header.stamp = rospy.Time(0, self.now * STEP_NS)
                self.joints.publish(message)

    def reset(self):
        with self.lock:
            self.now, self.silent_until = 0, self.now


class Controllers:
    """controller_manager's interface: a paused Gazebo loads controllers, and starts them in its next step."""

    def __init__(self, gazebo):
        self.gazebo = gazebo

    def load_controller(self, name):
        if name == CONTROLLER:
            self.command = rospy.Subscriber(f"{name}/command", Float64MultiArray)
        return True

    def start_controllers(self, _names):
        wait_until(lambda: self.gazebo.runs, "physics runs")
        return True


class PaceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rospy.init_node("pace_test")
        cls.gazebo = Gazebo()
        cls.log, cls.stamps, cls.answers = [], [], False
        cls.command = rospy.Publisher(f"{CONTROLLER}/command", Float64MultiArray, queue_size=10, tcp_nodelay=True)
        cls.subscribers = [
            rospy.Subscriber("/rosout", Log, lambda message: cls.log.append(message.msg)),
            rospy.Subscriber("joint_states", JointState, cls.on_states, tcp_nodelay=True),
        ]
        cls.node = subprocess.Popen(
            ["rosrun", "shellbot_gazebo_connector", "gazebo_pace", CONTROLLER, "--begin"],
            env=dict(os.environ, GAZEBO_MASTER_URI=cls.gazebo.master.uri),
        )

    @classmethod
    def tearDownClass(cls):
        cls.node.kill()
        cls.node.wait()

    @classmethod
    def on_states(cls, message):
        stamp = message.header.stamp.to_nsec()
        if cls.answers:
            cls.stamps.append(stamp // STEP_NS)
            label = MultiArrayDimension(label=stamp_label(stamp), size=1, stride=1)
            cls.command.publish(Float64MultiArray(layout=MultiArrayLayout(dim=[label]), data=[0.0]))

    def test_1_physics_begins_when_the_joints_are_in_place_and_the_controllers_are_loaded(self):
        gazebo = self.gazebo
        loaded = rospy.Subscriber(f"{CONTROLLER}/command", Float64MultiArray)
        wait_until(lambda: any("/gazebo_pace" in nodes for _, nodes in self.publishers()), "the node")
        rospy.rostime.wallsleep(2.0)
        self.assertFalse(gazebo.runs, "the joints are not in place")
        loaded.unregister()
        rospy.set_param("/robot_is_spawned", True)
        command = f"/{CONTROLLER}/command"
        wait_until(
            lambda: [command, "/gazebo_pace"] in [[t, n] for t, nodes in self.publishers() for n in nodes], "asks"
        )
        rospy.rostime.wallsleep(0.3)
        self.assertFalse(gazebo.runs, "no controller is loaded")
        start(Controllers(gazebo), ["joint_state_controller", CONTROLLER])
        wait_until(lambda: gazebo.now > 3 * TICK, "time begins")

    def test_2_from_the_first_command_on_each_tick_waits_for_its_answer(self):
        gazebo = self.gazebo
        wait_until(lambda: self.command.get_num_connections() >= 2, "the node listens, beside the controller")
        type(self).answers = True
        wait_until(lambda: len(gazebo.makes) > 30, "steps")
        self.assertFalse(gazebo.runs)
        type(self).answers = False
        counted = gazebo.makes[1:31]
        self.assertLessEqual(max(counted), TICK)
        ticks = self.stamps[-20:]
        self.assertEqual({b - a for a, b in zip(ticks, ticks[1:])}, {TICK}, "none is lost")
        wait_until(lambda: gazebo.runs, "without answers it runs freely")
        self.assertLessEqual(gazebo.ran_from, self.stamps[-1] + 1.5 * TICK, "a tick and single steps, and no more")

    def test_3_after_a_reset_the_silence_of_the_joints_is_told_and_then_it_follows_again(self):
        gazebo = self.gazebo
        wait_until(lambda: gazebo.now > 3000, "a time that it takes longer to pass again than from report to report")
        gazebo.reset()
        wait_until(
            lambda: any("the clock was set back: joints and IMU are silent until" in t for t in self.log), "words"
        )
        type(self).answers = True
        wait_until(lambda: not gazebo.runs, "follows")
        self.assertGreater(self.stamps[-1], gazebo.silent_until)

    def test_4_who_ends_leaves_gazebo_running(self):
        self.assertFalse(self.gazebo.runs)
        self.node.send_signal(signal.SIGINT)
        wait_until(lambda: self.gazebo.runs, "runs")

    @staticmethod
    def publishers():
        return rosgraph.Master("/pace_test").getSystemState()[0]


if __name__ == "__main__":
    rostest.rosrun("shellbot_gazebo_connector", "pace_rostest", PaceTest)
