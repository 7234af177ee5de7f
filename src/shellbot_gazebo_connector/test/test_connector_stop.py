# SPDX-License-Identifier: MIT
"""A stop that the master does not take, in the connector's node; publishers and subscribers do nothing."""

from __future__ import annotations

import pytest

rospy = pytest.importorskip("rospy")
pytest.importorskip("shellbot_msgs")

from shellbot_common import stop_interface_node  # noqa: E402
from shellbot_common.testing import silence  # noqa: E402
from shellbot_control import JointLimits  # noqa: E402
from shellbot_description import expand, robot_profile  # noqa: E402
from shellbot_gazebo_connector import gazebo_connector_node  # noqa: E402
from shellbot_gazebo_connector.parameters import ConnectorParameters  # noqa: E402


def test_a_stop_without_a_master_is_answered_and_logged_and_targets_do_not_wait_for_it(monkeypatch):
    log, free = silence(monkeypatch, rospy, gazebo_connector_node, stop_interface_node), []
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
    assert "gazebo_connector: stopped" in log[0] and "not on the parameter server" in log[1]
    assert node._rearm()[0] and not node._core.stopped and not node._stop_interface.cause
    assert "armed again" in log[-1]
    assert free == [True, True], "the master may hang, and targets need the lock"
