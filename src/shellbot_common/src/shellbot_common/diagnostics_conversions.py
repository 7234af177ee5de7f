# SPDX-License-Identifier: MIT
"""What a node reports on /diagnostics, as a message."""

from __future__ import annotations

from typing import Mapping

import rospy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue


def diagnostic_status(
    name: str, level: int, text: str, values: Mapping[str, object], hardware: str = ""
) -> DiagnosticStatus:
    """Return one line of a report.

    Parameters
    ----------
    name : str
        Node and component, such as ``gains: forwarding``.
    level : int
        ``DiagnosticStatus.OK``, ``WARN``, ``ERROR`` or ``STALE``.
    text : str
        How things are, in a sentence.
    values : mapping
        Figures by what they are, units in the key; shown as ``str`` puts them.
    hardware : str, optional
        Which robot, port or engine it is about.
    """
    pairs = [KeyValue(key=key, value=str(value)) for key, value in values.items()]
    return DiagnosticStatus(level=level, name=name, message=text, hardware_id=hardware, values=pairs)


def diagnostics(stamp: rospy.Time, *statuses: DiagnosticStatus) -> DiagnosticArray:
    """Return the report of a node: `diagnostic_status` of each component, at a time of the clock in use."""
    message = DiagnosticArray(status=list(statuses))
    message.header.stamp = stamp
    return message
