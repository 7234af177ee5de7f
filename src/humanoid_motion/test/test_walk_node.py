# SPDX-License-Identifier: MIT
"""The node `walk` while measurements fail: callbacks are called as rospy does, publishers only collect."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import numpy as np
import pytest

import humanoid_description
from humanoid_motion.interface import Status
from humanoid_motion.parameters import WalkError, WalkParameters
from shellbot_common.performance import Outcome, PerformanceStatus
from shellbot_common.testing import PATIENCE

rospy = pytest.importorskip("rospy")
pytest.importorskip("shellbot_msgs")

from geometry_msgs.msg import WrenchStamped  # noqa: E402 - only where ROS is
from sensor_msgs.msg import Imu, JointState  # noqa: E402

from humanoid_motion import walk_node  # noqa: E402
from shellbot_common import log_node, operator_interface_node, perform_action_node  # noqa: E402

PROFILE = humanoid_description.profile()
WAVES = PerformanceStatus("wave", "frame 3 of 7")
ENDED = PerformanceStatus("wave", "", outcome=Outcome.ABORTED, text="a sensor is frozen")


class Topic:
    """Takes the place of publisher, subscriber, server and transform broadcaster; keeps what is published."""

    def __init__(self, *_args, **_options):
        self.messages, self.lock = [], threading.RLock()

    def publish(self, message):
        self.messages.append(message)

    def start(self):
        pass


class Goal:
    """An action's goal; keeps what its operator hears."""

    def __init__(self):
        self.feedback, self.end = [], None

    def publish_feedback(self, feedback):
        self.feedback.append(feedback)

    def set_aborted(self, _result, text):
        self.end = text

    set_succeeded = set_canceled = set_aborted


class Core:
    """Performs a motion of which every measurement but the first fails."""

    def __init__(self):
        self.ticks = 0
        self.performer = SimpleNamespace(status=WAVES, motions={})

    def command_twist(self, _twist):
        pass

    def status(self):
        return Status("motion", "wave", "Performs wave.")

    def step(self, _feedback, _t):
        self.ticks += 1
        if self.ticks > 1:
            raise WalkError("joint_states are not finite")
        return np.zeros(len(PROFILE.joint_names))


@pytest.fixture
def node(monkeypatch):
    for name in ("Subscriber", "Service"):
        monkeypatch.setattr(rospy, name, Topic)
    monkeypatch.setattr(rospy, "get_param", lambda _name, default: default)
    for module in (walk_node, operator_interface_node, perform_action_node):
        monkeypatch.setattr(module, "Publisher", Topic)
    for name in ("BaseTracker", "TransformBroadcaster"):
        monkeypatch.setattr(walk_node, name, lambda *_: SimpleNamespace(step=lambda *_: None, sendTransform=id))
    monkeypatch.setattr(walk_node, "subscribe_gains", lambda *_: [])
    monkeypatch.setattr(walk_node.convert, "feedback_from_messages", lambda *_: None)
    monkeypatch.setattr(walk_node.convert, "odometry_message", lambda *_: None)
    monkeypatch.setattr(walk_node.convert, "transforms", lambda *_: None)
    monkeypatch.setattr(perform_action_node, "ActionServer", Topic)
    monkeypatch.setattr(log_node.NodeLog, "each_second", lambda _: range(2))
    found = walk_node.WalkNode(Core(), PROFILE, WalkParameters(), None, "imu", "wrench")
    found._actions._goal = Goal()
    return found


def within_patience(call, *arguments):
    """Call something that may hang."""
    done = []
    thread = threading.Thread(target=lambda: done.append(call(*arguments)), daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert done, "it hangs" if thread.is_alive() else "it failed"


def messages(t):
    found = [JointState(), Imu(), WrenchStamped(), WrenchStamped()]
    for message in found:
        message.header.stamp = rospy.Time.from_sec(t)
    return found


def tick(node, t):
    for topic, message in enumerate(messages(t)):
        within_patience(node._on_input, message, topic)


def test_measurements_that_fail_during_a_motion_are_shown_and_the_action_is_reported_on(node):
    goal = node._actions._goal
    tick(node, 1.0)
    tick(node, 1.05)
    assert node._mode.messages[-1].text == "Performs wave.", "a moment without measurements"
    tick(node, 1.2)
    assert node._mode.messages[-1].text == "Joint_states are not finite: holding the last command."
    assert [message.sub_action for message in goal.feedback] == ["frame 3 of 7"] * 2, "ten a second"
    assert len(node._targets.messages) == 1
    node._core.performer.status = ENDED
    tick(node, 1.21)
    assert goal.end == "a sensor is frozen"


def test_a_silent_topic_during_a_motion_is_named_and_the_action_is_reported_on(node):
    goal = node._actions._goal
    tick(node, 1.0)
    node._on_input(messages(1.1)[0], 0)
    node._core.performer.status = ENDED
    within_patience(node.watch)
    assert goal.end == "a sensor is frozen"
    text = "Nothing from imu/data, contact_wrenches/l_sole, contact_wrenches/r_sole: holding the last command until"
    assert node._mode.messages[-1].text.startswith(text)
