# SPDX-License-Identifier: MIT
"""The nodes' part of the reset rule: callbacks are called as rospy does, publishers only collect."""

from __future__ import annotations

import numpy as np
import pytest

rospy = pytest.importorskip("rospy")
pytest.importorskip("shellbot_msgs")

from geometry_msgs.msg import Point, Twist, Vector3  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from shellbot_action_manager.body.geometry import load_geometry  # noqa: E402
from shellbot_action_manager.config import load_config  # noqa: E402
from shellbot_action_manager.node import action_manager_node, odometry_node  # noqa: E402
from shellbot_common import Level, log_node  # noqa: E402
from shellbot_description import driven_joint_names, named_pose_array  # noqa: E402
from shellbot_msgs.msg import FootContacts  # noqa: E402

FEET = np.array([[np.cos(a), np.sin(a), -0.6] for a in np.arange(6) * np.pi / 3]) * 0.27
RESET = "the clock went back"


class Topic:
    """Takes the place of publisher, subscriber, service and transform broadcaster; keeps what is published."""

    def __init__(self, *_args, **_options):
        self.messages = []

    def publish(self, message):
        self.messages.append(message)

    def sendTransform(self, _transforms):  # noqa: N802 - tf2's name
        pass


@pytest.fixture
def warnings(monkeypatch):
    said = []
    for name in ("Publisher", "Subscriber", "Service"):
        monkeypatch.setattr(rospy, name, Topic)
    monkeypatch.setattr(odometry_node.tf2_ros, "TransformBroadcaster", Topic)
    for name in ("logwarn", "loginfo"):
        monkeypatch.setattr(rospy, name, lambda text, *_: said.append(text))
    monkeypatch.setattr(log_node, "LOG", dict.fromkeys(Level, lambda _format, _name, text: said.append(text)))
    return said


def joint_states(t):
    message = JointState(name=driven_joint_names("simulation"), position=named_pose_array("stand"))
    message.header.stamp = rospy.Time.from_sec(t)
    return message


def test_late_joint_states_do_not_stop_the_walk(warnings):
    node = action_manager_node.ActionManagerNode(load_config(), load_geometry("simulation"))
    for tick in range(200):
        node._on_cmd_vel(Twist(linear=Vector3(0.2, 0.0, 0.0)))
        node._on_joint_states(joint_states(10.0 + 0.01 * tick))
    published = node._references_pub.messages
    ticks, commands = len(published), node._commands
    assert node._core.twist[0] > 0.0, "walks"
    node._on_joint_states(joint_states(10.0 + 1.98))
    assert len(published) == ticks, "a late message makes no references"
    assert node._commands is commands
    node._on_joint_states(joint_states(10.0 + 2.0))
    assert node._core.twist[0] > 0.0, "walks on"
    assert not [text for text in warnings if RESET in text]
    node._on_joint_states(joint_states(10.0 + 1.94))
    assert [text for text in warnings if RESET in text]
    assert not node._commands.twist.any()


def test_late_contacts_do_not_reset_odometry(warnings):
    node = odometry_node.OdometryNode(load_config())

    def step(tick):
        message = FootContacts(contact=[True] * 6, position=[Point(x - 0.001 * tick, y, z) for x, y, z in FEET])
        message.header.stamp = rospy.Time.from_sec(1.0 + 0.01 * tick)
        node._on_contacts(message)
        return node._odom.messages[-1].pose.pose.position.x

    for tick in range(101):
        x = step(tick)
    assert x > 0.09
    published = len(node._odom.messages)
    assert step(99) == x
    assert len(node._odom.messages) == published, "a late message makes no estimate"
    assert step(101) > x
    assert not [text for text in warnings if RESET in text]
    assert step(94) == 0.0
    assert [text for text in warnings if RESET in text]
