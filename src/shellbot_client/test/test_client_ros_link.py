# SPDX-License-Identifier: MIT
"""What a link to the running robot leaves behind in its process: topics are played by the test, there is no master."""

from __future__ import annotations

import pytest

from shellbot_chain.errors import MissionFailed


@pytest.fixture
def opened(monkeypatch):
    """Topics of the publishers and subscribers that are there, with actionlib's own; each link finds a robot."""
    rospy = pytest.importorskip("rospy", reason="the link needs rospy, which is not installed")
    from shellbot_client import ros_link_node

    there = []

    class Topic:
        def __init__(self, name, *_arguments, **_options):
            self.name = name
            there.append(self)

        def publish(self, message):
            pass

        def unregister(self):
            if self in there:
                there.remove(self)

    monkeypatch.setattr(rospy, "Publisher", Topic)
    monkeypatch.setattr(rospy, "Subscriber", Topic)
    monkeypatch.setattr(rospy, "get_param", lambda _name, default: default)
    monkeypatch.setattr(rospy.core, "is_initialized", lambda: True)
    monkeypatch.setattr(ros_link_node.rosgraph, "is_master_online", lambda: True)
    monkeypatch.setattr(ros_link_node, "_PATIENCE", 0.0)
    monkeypatch.setattr(ros_link_node, "_CONNECTED_WITHIN", (0.02,))
    monkeypatch.setattr(ros_link_node.RosLink, "_is_heard", lambda _link: True)
    return there


def test_a_closed_link_leaves_every_topic(opened, monkeypatch):
    from shellbot_client.ros_link_node import RosLink

    monkeypatch.setattr(RosLink, "tick", lambda _link: None)
    link = RosLink()
    names = {topic.name.replace("perform_action/", "") for topic in opened}
    assert names == {
        *("cmd_vel", "body_pose", "gait", "mode", "walkspace", "odom", "joint_states"),
        *("goal", "cancel", "status", "result", "feedback"),
    }
    link.close()
    assert not opened
    link.close()


def test_a_link_to_a_robot_that_does_not_tick_leaves_every_topic(opened):
    from shellbot_client.ros_link_node import RosLink

    with pytest.raises(MissionFailed, match="no joint_states for 0 s; is the simulation paused"):
        RosLink()
    assert not opened


def test_a_link_that_nobody_hears_or_that_is_interrupted_leaves_every_topic(opened, monkeypatch):
    from shellbot_client.ros_link_node import RosLink

    def interrupt(_link):
        raise KeyboardInterrupt

    monkeypatch.setattr(RosLink, "_is_heard", lambda _link: False)
    with pytest.raises(MissionFailed, match="no node subscribes to /cmd_vel"):
        RosLink()
    assert not opened
    monkeypatch.setattr(RosLink, "_is_heard", interrupt)
    with pytest.raises(KeyboardInterrupt):
        RosLink()
    assert not opened
