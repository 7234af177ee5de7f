# SPDX-License-Identifier: MIT
"""The node of the emulated robot, with stand-ins for its process, window and cameras; publishers only collect."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from shellbot_chain.emulated_robot_params import EmulatedRobotParams
from shellbot_chain.emulated_robot_server import RobotReport

node = pytest.importorskip("shellbot_chain.emulated_robot_node", reason="needs ROS")


@pytest.fixture
def parts(monkeypatch):
    """What the node gets in place of window, cameras, process and topics."""
    names = ("_body", "Simulator", "Cameras", "Viewer", "RobotServer")
    parts = SimpleNamespace(**{name: MagicMock() for name in names}, topics={})
    parts.Cameras.return_value.is_requested = False
    for name in names:
        monkeypatch.setattr(node, name, getattr(parts, name))

    def publisher(name, *_args, **_options):
        topic = parts.topics[name] = MagicMock()
        topic.get_num_connections.return_value = 0
        return topic

    monkeypatch.setattr(node, "Publisher", publisher)
    monkeypatch.setattr(node.convert, "ImuCovariance", MagicMock())
    for name in ("Service", "loginfo"):
        monkeypatch.setattr(node.rospy, name, MagicMock())
    return parts


def test_diagnostics_go_on_when_the_wall_clock_is_set_back(parts, monkeypatch):
    now = 1000.0
    monkeypatch.setattr(node, "time", SimpleNamespace(monotonic=lambda: now))
    robot = node.EmulatedRobotNode(EmulatedRobotParams(viewer="false"))
    for tick in range(400):
        now += 0.01
        stamp = 1.8e9 + 0.01 * tick - (3600.0 if tick >= 200 else 0.0)
        robot._publish(RobotReport(stamp, MagicMock(), 12.0, 1.0, 0.8, 0.0, {}))
    published = [call[0][0] for call in parts.topics["/diagnostics"].publish.call_args_list]
    since = [array.header.stamp.to_sec() - 1.8e9 for array in published]
    assert since == pytest.approx([0.0, 1.0, -3598.0, -3597.0], abs=0.05)
