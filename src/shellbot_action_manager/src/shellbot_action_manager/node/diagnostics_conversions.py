# SPDX-License-Identifier: MIT
"""What a node says about itself on /diagnostics."""

from __future__ import annotations

import math
from typing import Optional

import rospy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

from shellbot_action_manager.estimation.payload import Payload
from shellbot_action_manager.modes.mode_machine import ModeStatus
from shellbot_action_manager.modes.mode_table import Mode
from shellbot_common.diagnostics_conversions import diagnostic_status, diagnostics


def diagnostics_message(
    node: str,
    time: float,
    ticks: int,
    longest: float,
    status: Optional[ModeStatus],
    payload: Optional[Payload] = None,
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
    payload : Payload, optional
        What the robot carried when it stood still the last time.
    """
    level, text = DiagnosticStatus.OK, "running" if status is None else f"{status.name}: {status.text}"
    if not ticks:
        level, text = DiagnosticStatus.WARN, "no input in the last second; is the simulation paused, or not started?"
    elif status is not None and status.mode == Mode.STOPPED:
        level = DiagnosticStatus.WARN
    values = {"ticks per second": str(ticks), "longest tick [ms]": f"{1e3 * longest:.2f}"}
    if payload is not None:
        x, y = payload.p_base[:2]
        place = "" if math.isnan(x) else f" at x {x:.2f}, y {y:.2f} m of base_link"
        values["payload [kg]"] = f"{payload.mass:.2f}{place}"
        values["loads of feet 1 to 6 [N]"] = " ".join(f"{load:.1f}" for load in payload.loads)
    stamp = rospy.Time.from_sec(max(time, 0.0))  # -inf: none yet
    return diagnostics(stamp, diagnostic_status(node.lstrip("/"), level, text, values))
