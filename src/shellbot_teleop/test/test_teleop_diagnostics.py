# SPDX-License-Identifier: MIT
"""What the nodes report, as one line."""

from __future__ import annotations

from shellbot_teleop.diagnostics import Diagnostics
from shellbot_teleop.robot_monitor import RobotMonitor

GOOD, WARN, ERROR = 0, 1, 2


def test_one_line_names_the_worst_first():
    diagnostics = Diagnostics()
    assert diagnostics.line(0.0) == ("", False)
    diagnostics.take([("connector", GOOD, "fine"), ("gains", GOOD, "")], 1.0)
    assert diagnostics.line(2.0) == ("2 of 2 diagnostics good", False)
    diagnostics.take([("gains", WARN, "no page")], 2.0)
    assert diagnostics.line(2.0) == ("gains: no page", True)
    diagnostics.take([("connector", ERROR, "no targets\nfor 3 s")], 2.0)
    assert diagnostics.line(2.0) == ("connector: no targets (and 1 more)", True)
    assert diagnostics.trouble(2.0) == ["connector: no targets", "gains: no page"]
    diagnostics.take([("connector", ERROR, "")], 2.0)
    assert diagnostics.trouble(2.0)[0] == "connector: not good"
    diagnostics.take([("connector", GOOD, "fine"), ("gains", GOOD, "")], 3.0)
    assert not diagnostics.line(3.0)[1]
    diagnostics.forget()
    assert diagnostics.line(3.0) == ("", False)


def test_another_robots_nodes_begin_anew():
    monitor = RobotMonitor()
    monitor.diagnostics.take([("gains", WARN, "no page")], 0.0)
    monitor.forget_robot()
    assert monitor.diagnostics.line(0.0) == ("", False)


def test_a_node_that_falls_silent_is_missed_for_a_minute():
    diagnostics = Diagnostics()
    diagnostics.take([("connector", GOOD, "fine")], 0.0)
    diagnostics.take([("gains", WARN, "no page")], 7.0)
    assert diagnostics.trouble(7.0) == ["connector: silent for 7 s", "gains: no page"]
    diagnostics.take([("gains", GOOD, "")], 61.0)
    assert diagnostics.line(61.0) == ("1 of 1 diagnostics good", False)
