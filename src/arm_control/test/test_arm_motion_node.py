# SPDX-License-Identifier: MIT
"""The node `arm_motion` while callbacks come in several threads: called as rospy does, publishers only collect."""

from __future__ import annotations

import queue
import threading
from pathlib import Path

import numpy as np
import pytest

from arm_control import ArmMotion
from robot_mechanics.dynamics import DynamicModel
from shellbot_common import RobotProfile
from shellbot_common.testing import PATIENCE
from shellbot_control import Gains

rospy = pytest.importorskip("rospy")
pytest.importorskip("dynamic_reconfigure")

from sensor_msgs.msg import JointState  # noqa: E402 - only where ROS is
from std_msgs.msg import Bool  # noqa: E402

from arm_control import arm_motion_node  # noqa: E402

FOLDER = Path(__file__).resolve().parents[2] / "arm_description"
MODEL = DynamicModel.from_urdf((FOLDER / "urdf" / "arm.urdf").read_text(encoding="utf-8"))
NAMES = list(RobotProfile.load(FOLDER / "config" / "profile.yaml").joint_names)
STIFFNESS = [30.0, 30.0, 20.0, 10.0]  # N m/rad
EFFORT = {"law": "computed_torque", "interface": "effort"}


class Topic:
    """Takes the place of publisher, subscriber and server; keeps what is published."""

    def __init__(self, *_args, **_options):
        self.messages = []

    def publish(self, message):
        self.messages.append(message)


class ObservedLock:
    """A lock that says when a thread has to wait for it."""

    def __init__(self, news):
        self._lock, self._news = threading.Lock(), news

    def __enter__(self):
        if not self._lock.acquire(blocking=False):
            self._news.put("waits")
            self._lock.acquire()

    def __exit__(self, *_):
        self._lock.release()


@pytest.fixture
def node(monkeypatch):
    for name in ("Publisher", "Server"):
        monkeypatch.setattr(arm_motion_node, name, Topic)
    monkeypatch.setattr(rospy, "Subscriber", Topic)
    monkeypatch.setattr(rospy, "set_param", lambda *_: None)
    takers = []
    monkeypatch.setattr(arm_motion_node, "subscribe_gains", lambda _controller, _names, take: takers.append(take) or [])
    found = arm_motion_node.ArmMotionNode(ArmMotion(MODEL, STIFFNESS), NAMES, "controller")
    found.take_gains = takers[0]
    return found


def joint_states(t):
    message = JointState(name=NAMES, position=0.1 * t + np.array([0.4, 0.7, 0.5, 0.3]), velocity=np.zeros(4))
    message.header.stamp = rospy.Time.from_sec(t)
    return message


def published(node, t):
    node._on_joints(joint_states(t))
    message = node._targets.messages[-1]
    return list(message.position), list(message.effort)


@pytest.mark.parametrize(
    "come",
    [
        lambda node: node._on_page({**vars(node._motion.page), **EFFORT}, 0),
        lambda node: node._on_target(JointState(name=NAMES[:1], position=[-1.0])),
        lambda node: node._on_stopped(Bool(True)),
        lambda node: node.take_gains(NAMES[1], Gains(15.0)),
    ],
    ids=["page", "target", "stop", "gains"],
)
def test_what_comes_during_a_tick_counts_from_the_next_one_on(node, come, monkeypatch):
    undisturbed, news, threads = ArmMotion(MODEL, STIFFNESS), queue.Queue(), []
    node._lock = ObservedLock(news)
    step = node._motion.step

    def interrupted(*measured):
        threads.append(threading.Thread(target=lambda: news.put(come(node)), daemon=True))
        threads[0].start()
        news.get(timeout=PATIENCE)  # it has ended, or waits for the end of the tick
        return step(*measured)

    def expected(t):
        message = joint_states(t)
        return undisturbed.step(t, message.position, message.velocity).tolist(), []

    assert published(node, 1.0) == expected(1.0)
    monkeypatch.setattr(node._motion, "step", interrupted)
    assert published(node, 1.01) == expected(1.01)
    monkeypatch.setattr(node._motion, "step", step)
    threads[0].join(PATIENCE)
    assert published(node, 1.02) != expected(1.02)


def test_joints_that_are_not_finite_give_no_targets_and_the_next_ones_do(node):
    broken = joint_states(1.0)
    broken.position = [float("nan")] * 4
    node._on_joints(broken)
    assert node._targets.messages == []
    assert np.isfinite(published(node, 1.01)[0]).all()
