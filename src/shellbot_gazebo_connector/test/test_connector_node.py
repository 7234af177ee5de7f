# SPDX-License-Identifier: MIT
"""The node's publishing, without a master."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

rospy = pytest.importorskip("rospy")

from shellbot_gazebo_connector.gazebo_connector_node import GazeboConnectorNode  # noqa: E402


def closed(message):
    raise rospy.ROSException("publish() to a closed topic")


@pytest.mark.parametrize("requested", [True, False])
def test_a_topic_that_a_shutdown_closed_is_no_error(monkeypatch, requested):
    """rospy closes topics before is_shutdown() becomes true."""
    monkeypatch.setattr(rospy.core, "_in_shutdown", requested)
    node = GazeboConnectorNode.__new__(GazeboConnectorNode)
    node._command, node._commands = SimpleNamespace(publish=closed), 0
    monkeypatch.setattr("shellbot_gazebo_connector.gazebo_connector_node.command_to_message", lambda command: command)
    output = SimpleNamespace(command=[0.0], status=None, notices=())
    if requested:
        node._do(output, None)
    else:
        with pytest.raises(rospy.ROSException, match="closed topic"):
            node._do(output, None)
