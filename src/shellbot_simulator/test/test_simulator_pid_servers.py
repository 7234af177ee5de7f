# SPDX-License-Identifier: MIT
"""The servers of the joints' gains, with a parameter server that does not answer."""

from __future__ import annotations

import threading
from unittest.mock import Mock

import pytest

from shellbot_simulator.core.servo import PidGains

node = pytest.importorskip("shellbot_simulator.node.pid_node", reason="needs ROS")


def test_gains_are_in_force_and_answered_before_they_stand_in_the_parameters(monkeypatch):
    answers, written = threading.Event(), []
    answers.set()

    def get_param(name, *default):
        if not default:
            raise KeyError(name)
        return default[0]

    def set_param(name, value):
        assert answers.wait(60.0)
        written.append((name, value))

    monkeypatch.setattr(node.rospy, "set_param", set_param)
    monkeypatch.setattr(node.rospy, "get_param", get_param)
    monkeypatch.setattr(node.rospy, "Publisher", Mock())
    monkeypatch.setattr(node.rospy, "Service", Mock())
    servers = node.PidServers("legs", {"hip": PidGains(20.0)})
    (hip,) = servers._servers
    written.clear()
    answers.clear()
    for p in (21.0, 22.0):
        assert hip.update_configuration({"p": p})["p"] == p
        assert servers.take_changes()["hip"].p == p
    assert not written
    answers.set()
    servers._writer.shutdown()
    assert written == [("/legs/hip/pid/p", 21.0), ("/legs/hip/pid/p", 22.0)]
