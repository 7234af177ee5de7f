# SPDX-License-Identifier: MIT
"""The joints of a robot as rows of a table, in the order of its profile."""

from __future__ import annotations

import functools
import math
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from typing import Dict, Optional, Tuple

from shellbot_common import RobotProfile
from shellbot_teleop.robot_monitor import JointsInfo, ServoReading, ServosInfo
from shellbot_teleop.texts import tr

# A walking leg is a few degrees behind its target; more is a joint that is blocked, or too weak.
LAG_WARN, LAG_BAD = math.radians(6.0), math.radians(15.0)
HOT_WARN, HOT_BAD = 60.0, 70.0  # degrees Celsius; at 70 a servo of the AX series switches itself off
LOAD_WARN, LOAD_BAD = 0.7, 0.95  # of the greatest torque

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
    load : float
        Of the greatest torque, -1 .. 1, by its servo, else by the effort limit of the description; NaN: not known.
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
    load: float
    servo: ServoReading = _UNREAD
    level: str = ""
    text: str = ""


def joint_rows(
    profile: Optional[RobotProfile],
    measured: Optional[JointsInfo],
    targets: Optional[JointsInfo],
    servos: Optional[ServosInfo] = None,
    description: Optional[str] = None,
) -> Tuple[JointRow, ...]:
    """Return the rows of a table of joints.

    Parameters
    ----------
    profile : RobotProfile or None
        Order and classes; without one the joints are in the order of the message, their classes empty.
    measured, targets, servos : JointsInfo, JointsInfo, ServosInfo or None
        What is known; None: never received, or old.
    description : str or None
        URDF.
    """
    joints = dict(profile.joints) if profile else dict.fromkeys(measured.names if measured else (), "")
    angle = dict(zip(measured.names, measured.position)) if measured else {}
    torque = dict(zip(measured.names, measured.effort)) if measured else {}
    target = dict(zip(targets.names, targets.position)) if targets else {}
    readings = servos.readings if servos else {}
    limits = _effort_limits(description) if description else {}
    rows = []
    for name, kind in joints.items():
        position, commanded = angle.get(name, math.nan), target.get(name, math.nan)
        servo = readings.get(name, _UNREAD)
        effort = torque.get(name, math.nan)
        load = servo.load if math.isfinite(servo.load) else effort / limits.get(name, math.nan)
        level, text = _judged(position, commanded, load, servo)
        rows.append(JointRow(name, kind, position, commanded, effort, load, servo, level, text))
    return tuple(rows)


@functools.lru_cache(maxsize=4)
def _effort_limits(description: str) -> Dict[str, float]:
    """Return the effort limits (N m) of a URDF's joints that have one; none of what is no URDF."""
    try:
        limits = {
            str(joint.get("name")): joint.find("limit") for joint in ElementTree.fromstring(description).iter("joint")
        }
        efforts = {name: float(limit.get("effort", 0.0)) for name, limit in limits.items() if limit is not None}
    except (ElementTree.ParseError, ValueError):
        return {}  # whoever draws it says what is wrong
    return {name: effort for name, effort in efforts.items() if effort > 0.0}


def _judged(position: float, target: float, load: float, servo: ServoReading) -> Tuple[str, str]:
    """Return level and reasons: the worst of alarms, lag, heat and load; an unknown number is no reason."""
    if not math.isfinite(position):
        return "", tr("no angle")
    level, reasons = "ok", []
    for text, value, warn, bad in (
        (tr("behind"), abs(target - position), LAG_WARN, LAG_BAD),
        (tr("hot"), servo.temperature, HOT_WARN, HOT_BAD),
        (tr("loaded"), abs(load), LOAD_WARN, LOAD_BAD),
    ):
        if value >= warn:  # false for NaN
            reasons.append(text)
            level = "bad" if value >= bad or level == "bad" else "warn"
    if servo.limp:
        level, reasons = ("bad" if level == "bad" else "warn"), [tr("limp"), *reasons]
    if servo.trouble:
        level, reasons = "bad", [servo.trouble, *reasons]
    return level, ", ".join(reasons) or tr("ok")
