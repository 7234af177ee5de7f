# SPDX-License-Identifier: MIT
"""What a node says about itself on /diagnostics."""

from __future__ import annotations

import math
from typing import Optional

import rospy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from shellbot_action_manager.modes.mode_machine import ModeStatus
from shellbot_action_manager.modes.mode_table import Mode


def diagnostics_message(
    node: str, time: float, ticks: int, longest: float, status: Optional[ModeStatus]
) -> DiagnosticArray:
    """Return the message of the last second.

    Parameters
    ----------
    node : str
        Name of the node.
    time : float
        Simulated time of the last tick, s; -inf before the first.
    ticks : int
        Ticks in the last second of wall clock.
    longest : float
        Longest of them, s.
    status : ModeStatus or None
        What the mode machine says; None: nothing yet, or a node without one.
    """
    level, text = DiagnosticStatus.OK, "running" if status is None else f"{status.name}: {status.text}"
    if not ticks:
        level, text = DiagnosticStatus.WARN, "no input in the last second; is the simulation paused, or not started?"
    elif status is not None and status.mode == Mode.STOPPED:
        level = DiagnosticStatus.WARN
    values = [KeyValue("ticks per second", str(ticks)), KeyValue("longest tick [ms]", f"{1e3 * longest:.2f}")]
    message = DiagnosticArray(
        status=[DiagnosticStatus(level=level, name=node.lstrip("/"), message=text, hardware_id="", values=values)]
    )
    if math.isfinite(time):
        message.header.stamp = rospy.Time.from_sec(max(time, 0.0))
    return message
