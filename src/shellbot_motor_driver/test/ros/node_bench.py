# SPDX-License-Identifier: MIT
"""A real motor_driver node on an emulated chain, with the rest of the robot played by the test."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import rospy
from diagnostic_msgs.msg import DiagnosticArray
from rosgraph_msgs.msg import Log
from roslib.packages import find_node
from sensor_msgs.msg import BatteryState, JointState
from servo_chain import ServoChain
from std_msgs.msg import Bool
from std_srvs.srv import SetBool, Trigger

from shellbot_common.testing import wait_until
from shellbot_description import driven_joint_names, named_pose_array
from shellbot_motor_driver import ServoMap
from shellbot_msgs.msg import ReferenceStatus, ServoStates

NAMES = driven_joint_names("walker")
MAP = ServoMap.load("walker")
MIDDLE = MAP.to_joints(np.array([round(entry.zero) for entry in MAP.entries]))  # where the emulated servos are at first
SIT = named_pose_array("sit", "walker")
# The machine is shared: a slower tick and patient time-outs, so that nothing here depends on how fast a reply is.
PATIENT = {
    "latency_ms": 12.0,
    "tick": {"period": 0.03},
    "setpoint": {"hold_after": 0.5, "sit_after": 20.0, "off_after": 60.0},
    "servo": {"lost_misses": 60, "lost_after": 3.0, "stale_after": 1.0, "old_after": 5.0, "least_rate": 0.0},
    "target_timeout": 2.0,
    "at_end": "off",
}
# steps that the fastest servo (10.2 rad/s) may go in three patient ticks: the test may miss to look at one
LARGEST_STEP = 10.2 * 0.09 / 0.00511


class Driver:
    """The node, as roslaunch starts it, with its parameters on the server."""

    def __init__(self, **parameters):
        if rospy.has_param("/motor_driver"):
            rospy.delete_param("/motor_driver")
        for name, value in {**PATIENT, **parameters}.items():
            rospy.set_param(f"/motor_driver/{name}", value)
        self.process = None
        self.start()

    def start(self):
        """Start it, or start it again beside the parameters that the last one left."""
        self.log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115, closed in end
        self.process = subprocess.Popen(
            [find_node("shellbot_motor_driver", "motor_driver")[0], "__name:=motor_driver"],
            stdout=self.log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def keeps_up(self):
        """Start it again if it has ended, as roslaunch does: a starved emulated chain answers too late to start on."""
        if self.process.poll() is not None:
            self.start()
        return True

    def output(self):
        self.log.seek(0)
        return self.log.read()

    def wait_said(self, *words):
        """Wait until the node's output has all the words."""
        wait_until(lambda: all(word in self.output() for word in words), lambda: f"{words} in {self.output()[-3000:]}")

    def kill(self):
        """End it as a crash does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def end(self, seconds=60.0):
        """End it as roslaunch does; return its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait(10)
                raise
        return self.process.returncode


class Witness:
    """Hears the driver; answers each joint_states with joint_targets of its stamp, as the chain does."""

    def __init__(self):
        self.lock = threading.Lock()
        self.target = None
        self.states = self.servos = self.battery = self.status = None
        self.state_times = []
        self.stopped = []
        self.diagnostics = {}
        self.log, self.refusal = [], None
        self.targets = rospy.Publisher("joint_targets", JointState, queue_size=5, tcp_nodelay=True)
        self.stop_topic = rospy.Publisher("emergency_stop", Bool, queue_size=1)
        self.subscribers = []
        self.listen()

    def listen(self):
        """Subscribe, anew if it is done already: rospy may take the driver of the next test for the last one's, whose
        connections it still holds, and not connect to it.
        """
        for subscriber in self.subscribers:
            subscriber.unregister()
        self.subscribers = [
            rospy.Subscriber("joint_states", JointState, self._on_states, queue_size=1, tcp_nodelay=True),
            rospy.Subscriber("servo_states", ServoStates, lambda m: setattr(self, "servos", m)),
            rospy.Subscriber("battery_state", BatteryState, lambda m: setattr(self, "battery", m)),
            rospy.Subscriber("reference_status", ReferenceStatus, lambda m: setattr(self, "status", m)),
            rospy.Subscriber("stopped", Bool, lambda m: self.stopped.append(m.data)),
            rospy.Subscriber("/diagnostics", DiagnosticArray, self._on_diagnostics),
            rospy.Subscriber("/rosout", Log, lambda m: self.log.append(m.msg)),
        ]

    def _on_states(self, message):
        self.states = message
        self.state_times.append((time.time(), message.header.stamp.to_sec()))
        if self.target is not None:
            answer = JointState(name=list(NAMES), position=list(self.target))
            answer.header.stamp = message.header.stamp
            self.targets.publish(answer)

    def _on_diagnostics(self, message):
        for status in message.status:
            if status.name.startswith("motor_driver: "):
                self.diagnostics[status.name[14:]] = status

    def forget(self):
        """Forget what was heard."""
        self.states = self.servos = self.battery = self.status = None
        self.state_times, self.stopped, self.diagnostics = [], [], {}

    def let_pass(self, ticks):
        """Wait for the joint states of so many ticks of the driver."""
        end = len(self.state_times) + ticks
        wait_until(lambda: len(self.state_times) >= end, f"{ticks} more joint states")

    def position(self):
        """The joints as last measured."""
        return np.array(self.states.position)

    def follows(self):
        """Whether the last status says that the targets are followed."""
        return self.status is not None and not self.status.holding

    def free(self, target):
        """Give targets, and rearm if the driver waits for it, until they are followed."""
        self.target = np.array(target)
        wait_until(self.freed, lambda: f"follows; status {self.status}")

    def arrive(self, target):
        """Give targets, and rearm if the driver waits for it, until the joints are there."""
        self.target = np.array(target)
        wait_until(
            lambda: self.freed() and self.states is not None and np.abs(self.position() - self.target).max() < 0.03,
            lambda: f"joints arrive; status {self.status}",
        )

    def freed(self):
        """Rearm if the driver waits for it; return whether it follows.

        On a starved machine it waits without a cause of the test's: the roll call loses packets, so that it does not
        start, the bus process is replaced, or a servo is lost, which stays latched.
        """
        ladder = self.diagnostics.get("safety ladder")
        is_new, self.refusal = ladder is not self.refusal, ladder
        is_refused = is_new and ladder is not None and "call rearm to try again" in ladder.message
        if is_refused or (self.stopped and self.stopped[-1] and self.states is not None):
            call("rearm")
        return self.follows()


def call(name, *content):
    """Call a service of the driver; return success and message."""
    kind = SetBool if name == "torque" else Trigger
    rospy.wait_for_service(name, 60)
    answer = rospy.ServiceProxy(name, kind)(*content)
    return answer.success, answer.message


def call_until_success(name, *content):
    """Call a service of the driver until it succeeds, as an operator does; return its message.

    A starved emulated chain answers too late to confirm at once that its torque is off, or to be rearmed.
    """
    answers = []

    def succeeds():
        answers.append(call(name, *content))
        return answers[-1][0]

    wait_until(succeeds, lambda: f"{name} succeeds: {answers[-1][1]}")
    return answers[-1][1]


def port_name(folder):
    """A link for the chain's pty."""
    return Path(folder) / "servos"


__all__ = [
    "LARGEST_STEP",
    "MAP",
    "MIDDLE",
    "NAMES",
    "SIT",
    "Driver",
    "ServoChain",
    "Witness",
    "call",
    "call_until_success",
    "port_name",
    "wait_until",
]
