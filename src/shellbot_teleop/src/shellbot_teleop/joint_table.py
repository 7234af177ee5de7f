# SPDX-License-Identifier: MIT
"""The joints of a robot as rows of a table, in the order of its profile."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Optional, Tuple

from shellbot_common import RobotProfile
from shellbot_teleop.robot_monitor import JointsInfo, ServoReading, ServosInfo
from shellbot_teleop.texts import tr

# A walking leg is a few degrees behind its target; more is a joint that is blocked, or too weak.
LAG_WARN, LAG_BAD = math.radians(6.0), math.radians(15.0)
HOT_WARN, HOT_BAD = 60.0, 70.0  # degrees Celsius; at 70 a servo of the AX series switches itself off
LOAD_WARN, LOAD_BAD = 0.7, 0.95  # of the stall torque

_UNREAD = ServoReading(math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class JointRow:
    """One joint of the table.

    Attributes
    ----------
    joint, kind : str
        Its name and class.
    position, target, effort : float
        Measured and commanded angle (rad), torque (N m); NaN: not known.
    servo : ServoReading
        What its servo tells, NaN without one.
    level, text : str
        ok, warn, bad, or "" if nothing is known; and why, in words.
    """

    joint: str
    kind: str
    position: float
    target: float
    effort: float
    servo: ServoReading = _UNREAD
    level: str = ""
    text: str = ""


def joint_rows(
    profile: Optional[RobotProfile],
    measured: Optional[JointsInfo],
    targets: Optional[JointsInfo],
    servos: Optional[ServosInfo] = None,
) -> Tuple[JointRow, ...]:
    """Return the rows of a table of joints.

    Parameters
    ----------
    profile : RobotProfile or None
        Order and classes; without one the joints are in the order of the message, their classes empty.
    measured, targets, servos : JointsInfo, JointsInfo, ServosInfo or None
        What is known; None: never received, or old.
    """
    joints = dict(profile.joints) if profile else dict.fromkeys(measured.names if measured else (), "")
    angle = dict(zip(measured.names, measured.position)) if measured else {}
    torque = dict(zip(measured.names, measured.effort)) if measured else {}
    target = dict(zip(targets.names, targets.position)) if targets else {}
    readings = servos.readings if servos else {}
    rows = []
    for name, kind in joints.items():
        position, commanded = angle.get(name, math.nan), target.get(name, math.nan)
        servo = readings.get(name, _UNREAD)
        level, text = _judged(position, commanded, servo)
        rows.append(JointRow(name, kind, position, commanded, torque.get(name, math.nan), servo, level, text))
    return tuple(rows)


def _judged(position: float, target: float, servo: ServoReading) -> Tuple[str, str]:
    """Return level and reasons: the worst of alarms, lag, heat and load; an unknown number is no reason."""
    if not math.isfinite(position):
        return "", tr("no angle")
    level, reasons = "ok", []
    for text, value, warn, bad in (
        (tr("behind"), abs(target - position), LAG_WARN, LAG_BAD),
        (tr("hot"), servo.temperature, HOT_WARN, HOT_BAD),
        (tr("loaded"), abs(servo.load), LOAD_WARN, LOAD_BAD),
    ):
        if value >= warn:  # false for NaN
            reasons.append(text)
            level = "bad" if value >= bad or level == "bad" else "warn"
    if servo.limp:
        level, reasons = ("bad" if level == "bad" else "warn"), [tr("limp"), *reasons]
    if servo.trouble:
        level, reasons = "bad", [servo.trouble, *reasons]
    return level, ", ".join(reasons) or tr("ok")
