# SPDX-License-Identifier: MIT
"""The publisher of the nodes, without a master."""

from __future__ import annotations

import pytest

rospy = pytest.importorskip("rospy")

from shellbot_common import transforms_node  # noqa: E402
from shellbot_common.publisher_node import Publisher  # noqa: E402


@pytest.mark.parametrize("requested", [True, False])
def test_a_topic_that_a_shutdown_closed_is_no_error(monkeypatch, requested):
    """rospy closes topics before is_shutdown() becomes true."""
    monkeypatch.setattr(rospy.core, "_in_shutdown", requested)
    publisher = Publisher.__new__(Publisher)
    publisher.impl = None  # rospy raises ROSException, as it does for a topic closed during publish()
    if requested:
        publisher.publish("late")
    else:
        with pytest.raises(rospy.ROSException, match="unregistered"):
            publisher.publish("late")


def test_transforms_of_a_node_that_shuts_down_are_no_error(monkeypatch):
    closed = Publisher.__new__(Publisher)
    closed.impl = None
    monkeypatch.setattr(transforms_node, "Publisher", lambda *_, **__: closed)
    monkeypatch.setattr(rospy.core, "_in_shutdown", True)
    transforms_node.TransformBroadcaster().sendTransform([])
