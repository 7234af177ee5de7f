# SPDX-License-Identifier: MIT
"""A stop that the master does not take, in the connector's node; publishers and subscribers do nothing."""

from __future__ import annotations

import pytest

rospy = pytest.importorskip("rospy")
pytest.importorskip("shellbot_msgs")

from shellbot_common import stop_interface_node  # noqa: E402
from shellbot_control import JointLimits  # noqa: E402
from shellbot_description import expand, robot_profile  # noqa: E402
from shellbot_gazebo_connector import gazebo_connector_node  # noqa: E402
from shellbot_gazebo_connector.parameters import ConnectorParameters  # noqa: E402


class Topic:
    """Takes the place of publisher, subscriber and service."""

    def __init__(self, *_args, **_options):
        pass

    def publish(self, _message):
        pass


def test_a_stop_without_a_master_is_answered_and_logged_and_targets_do_not_wait_for_it(monkeypatch):
    for name in ("Subscriber", "Service"):
        monkeypatch.setattr(rospy, name, Topic)
    for module in (gazebo_connector_node, stop_interface_node):
        monkeypatch.setattr(module, "Publisher", Topic)
    monkeypatch.setattr(rospy, "get_param", lambda _name, default: default)
    said, free = [], []
    for name in ("logwarn", "loginfo", "logerr"):
        monkeypatch.setattr(rospy, name, lambda text, *values: said.append(text % values))
    profile = robot_profile("simulation")
    limits = JointLimits.from_urdf(expand("simulation"), profile.joints)
    stiffness = dict.fromkeys(profile.joint_names, 18.5)
    node = gazebo_connector_node.GazeboConnectorNode(profile, limits, ConnectorParameters(), stiffness)

    def refuse(_name, _value):
        free.append(node._lock.acquire(blocking=False))
        if free[-1]:
            node._lock.release()
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(rospy, "set_param", refuse)
    success, text = node._stop("test")
    assert success and "stopped" in text and node._core.stopped
    assert "gazebo_connector: stopped" in said[0] and "not on the parameter server" in said[1]
    assert node._rearm()[0] and not node._core.stopped and not node._stop_interface.cause
    assert "armed again" in said[-1]
    assert free == [True, True], "the master may hang, and targets need the lock"
