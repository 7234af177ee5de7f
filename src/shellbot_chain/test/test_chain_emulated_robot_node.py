# SPDX-License-Identifier: MIT
"""The node of the emulated robot, with stand-ins for its process, window and cameras; publishers only collect."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from robot_evaluation.errors import DefinitionError
from shellbot_chain.emulated_robot_params import EmulatedRobotParams
from shellbot_chain.emulated_robot_server import RobotReport
from shellbot_chain.errors import ChainError

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


@pytest.mark.parametrize("viewer, windows", [("true", 1), ("false", 0)])
def test_window_and_cameras_are_closed_if_the_robot_does_not_start(parts, viewer, windows):
    parts.RobotServer.side_effect = ChainError("taken")
    with pytest.raises(ChainError, match="taken"):
        node.EmulatedRobotNode(EmulatedRobotParams(viewer=viewer))
    with pytest.raises(DefinitionError, match="~faults"):
        node.EmulatedRobotNode(EmulatedRobotParams(viewer=viewer, faults="/nowhere/faults.yaml"))
    assert parts.Cameras.return_value.close.call_count == 2
    assert parts.Viewer.return_value.close.call_count == 2 * windows
