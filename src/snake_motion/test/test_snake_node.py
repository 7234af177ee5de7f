# SPDX-License-Identifier: MIT
"""The node `snake_motion` before it has a robot."""

from __future__ import annotations

import pytest

rospy = pytest.importorskip("rospy")
pytest.importorskip("shellbot_msgs.msg")

from snake_motion import snake_node  # noqa: E402 - only where ROS is


def test_a_shutdown_while_it_waits_for_the_robot_ends_it_without_an_error(monkeypatch):
    def interrupted(*_names):
        raise rospy.ROSInterruptException("shut down while waiting for parameters")

    monkeypatch.setattr(snake_node, "init_node", lambda *_, **__: None)
    monkeypatch.setattr(snake_node, "wait_for_parameters", interrupted)
    snake_node.main()
