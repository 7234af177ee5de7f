# SPDX-License-Identifier: MIT
"""The node of the page of gains with controllers that take their time."""

from __future__ import annotations

import threading
from unittest.mock import Mock

import pytest

from shellbot_control import GainTable
from shellbot_control.gain_presets import GainPresets
from shellbot_control.gains_conversions import gains_to_config
from shellbot_description import robot_profile

node = pytest.importorskip("shellbot_control.gains_node", reason="needs ROS")


def test_a_change_of_all_joints_waits_for_three_answers_in_turn_at_most(monkeypatch):
    """At 36 joints; one after the other they would take 36 times as long as one on a busy machine."""
    profile = robot_profile("simulation")
    table = GainTable.from_profile(profile)
    together = threading.Barrier(6, timeout=60.0)
    answered, all_answered = [], threading.Event()

    def controller(name, *_, **__):
        def answer(request):
            together.wait()
            answered.append(name)
            if len(answered) == len(profile.joints):
                all_answered.set()
            return Mock(config=request)

        return answer

    ended = threading.Event()
    for name in ("GainsServer", "Publisher"):
        monkeypatch.setattr(node, name, Mock())
    monkeypatch.setattr(node.rospy, "Subscriber", Mock())
    monkeypatch.setattr(node.rospy, "ServiceProxy", controller)
    monkeypatch.setattr(node.rospy, "is_shutdown", ended.is_set)
    gains = node.GainsNode(profile, Mock(), GainPresets.of_robot(profile, table))
    try:
        for joint, present in table.for_joints(profile.joints).items():
            message = gains_to_config(present)
            message._connection_header = {}
            gains._on_announced(message, joint)
        gains._on_page({**table.to_page(), "stiffness": 0.5, "preset": "custom"}, 0)
        assert all_answered.wait(60.0) and not together.broken
    finally:
        ended.set()
