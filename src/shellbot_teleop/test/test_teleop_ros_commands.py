# SPDX-License-Identifier: MIT
"""Services that the operator's commands call, in threads, with the services played by the test."""

from __future__ import annotations

import itertools
import queue
import threading
from types import SimpleNamespace

import pytest

from shellbot_teleop import effects
from shellbot_teleop.robot_monitor import RobotMonitor

WAIT = 60.0  # s


def test_topics_are_set_up_at_a_restarted_master_that_knows_the_node_already(monkeypatch):
    """Another part of the program may have registered there before the link looks."""
    pytest.importorskip("rospy", reason="the link needs rospy, which is not installed")
    from shellbot_teleop import ros_link_node

    pids, set_up = itertools.chain([7, 7, 7, 7], itertools.repeat(8)), queue.Queue()
    master = SimpleNamespace(lookupNode=lambda _name: "http://here", getPid=lambda: next(pids))
    monkeypatch.setattr(ros_link_node.rosgraph, "Master", lambda _name: master)
    monkeypatch.setattr(ros_link_node.rospy.core, "is_initialized", lambda: True)  # as within another program
    monkeypatch.setattr(ros_link_node, "_POLL_PERIOD", 0.01)
    config = SimpleNamespace(armed=False, service_timeout=WAIT)
    link = ros_link_node.RosLink("x", config, RobotMonitor(), lambda _event: None)
    monkeypatch.setattr(link, "_set_up_topics", lambda: set_up.put("topics"))
    link.start()
    try:
        assert [set_up.get(timeout=WAIT) for _master in (7, 8)] == ["topics", "topics"]
    finally:
        link.close()


def test_rearm_waits_for_the_calls_of_the_stop_that_are_under_way(monkeypatch):
    """A stop that reaches the robot later than its rearming would stop it again."""
    pytest.importorskip("rospy", reason="the link needs rospy, which is not installed")
    from shellbot_teleop import ros_commands_node

    calls, notices, may_answer = [], queue.Queue(), threading.Event()
    stops = itertools.count(1)

    def proxy(service, _kind):
        def call():
            if service == "emergency_stop" and next(stops) == 1:
                may_answer.wait(WAIT)  # the first call is late, the second one is not
            calls.append(service)
            return SimpleNamespace(success=True, message="")

        return call

    monkeypatch.setattr(ros_commands_node.rospy, "wait_for_service", lambda *_, **__: None)
    monkeypatch.setattr(ros_commands_node.rospy, "ServiceProxy", proxy)
    commands = ros_commands_node.RosCommands(1.0, notices.put, lambda _subject, notice: notices.put(notice))
    published = []
    commands.publishers["emergency_stop"] = SimpleNamespace(publish=published.append)
    commands.execute(effects.EmergencyStop())
    commands.execute(effects.EmergencyStop())
    notices.get(timeout=WAIT)
    commands.execute(effects.Rearm())
    assert [message.data for message in published] == [True, True], "the topic waits for nothing"
    next(thread for thread in threading.enumerate() if thread.name == "call_rearm").join(0.3)
    assert calls == ["emergency_stop"]
    may_answer.set()
    texts = [notices.get(timeout=WAIT).text for _ in range(2)]
    assert calls == ["emergency_stop", "emergency_stop", "rearm"] and texts[-1] == "Rearm: done"


def test_rearm_does_not_wait_for_ever_for_a_call_that_never_ends(monkeypatch):
    """As one to a robot whose power was cut while it was being stopped; such a robot is rearmed once it is back."""
    pytest.importorskip("rospy", reason="the link needs rospy, which is not installed")
    from shellbot_teleop import ros_commands_node

    calls, ends = queue.Queue(), threading.Event()

    def proxy(service, _kind):
        def call():
            if service == "emergency_stop":
                ends.wait(WAIT)
            else:
                calls.put(service)
            return SimpleNamespace(success=True, message="")

        return call

    monkeypatch.setattr(ros_commands_node.rospy, "wait_for_service", lambda *_, **__: None)
    monkeypatch.setattr(ros_commands_node.rospy, "ServiceProxy", proxy)
    monkeypatch.setattr(ros_commands_node, "_TURN", 0.2)
    commands = ros_commands_node.RosCommands(1.0, lambda _event: None, lambda _subject, _notice: None)
    commands.publishers["emergency_stop"] = SimpleNamespace(publish=lambda _message: None)
    for _ in range(2):
        commands.execute(effects.EmergencyStop())
    commands.execute(effects.Rearm())
    try:
        assert calls.get(timeout=10.0) == "rearm"
    finally:
        ends.set()


def test_the_last_of_two_quick_requests_of_control_counts(monkeypatch):
    """Of a take and a give-up in two threads the first would else reach the robot last."""
    pytest.importorskip("rospy", reason="the link needs rospy, which is not installed")
    from shellbot_teleop import ros_commands_node

    calls, may_answer = queue.Queue(), threading.Event()

    def take_control(take):
        if take:
            may_answer.wait(WAIT)  # the first call is late, the second one is not
        calls.put(take)
        return SimpleNamespace(success=True, message="")

    monkeypatch.setattr(ros_commands_node.rospy, "wait_for_service", lambda *_, **__: None)
    monkeypatch.setattr(ros_commands_node.rospy, "ServiceProxy", lambda _service, _kind: take_control)
    monkeypatch.setattr(ros_commands_node, "_TURN", WAIT)
    commands = ros_commands_node.RosCommands(1.0, lambda _event: None, lambda _subject, _notice: None)
    commands.publishers["cmd_vel"] = SimpleNamespace()  # there is a master
    commands.execute(effects.TakeControl(True))
    commands.execute(effects.TakeControl(False))
    with pytest.raises(queue.Empty):
        calls.get(timeout=0.3)
    may_answer.set()
    assert [calls.get(timeout=WAIT) for _ in range(2)] == [True, False]


def test_a_robot_that_comes_after_a_silence_is_read_though_its_joints_have_the_same_names(monkeypatch):
    pytest.importorskip("rospy", reason="the link needs rospy, which is not installed")
    from sensor_msgs.msg import JointState

    from shellbot_teleop import ros_link_node

    here = {"robot_profile": "", "robot_description": "small"}
    monkeypatch.setattr(ros_link_node.rospy, "search_param", lambda name: name)
    monkeypatch.setattr(ros_link_node.rospy, "get_param", here.get)
    monkeypatch.setattr(ros_link_node.RobotProfile, "from_text", lambda text: text)
    monitor = RobotMonitor()
    link = ros_link_node.RosLink("x", SimpleNamespace(armed=False, service_timeout=WAIT), monitor, lambda _event: None)
    found = []
    for name, arrived in (("small", 0.0), ("great", 0.5), ("great", 3.0)):
        here["robot_description"] = name
        monitor.joints = link._joints(JointState(name=["hip"], position=[0.0]), arrived)
        found.append(monitor.description)
    assert found == ["small", "small", "great"]
