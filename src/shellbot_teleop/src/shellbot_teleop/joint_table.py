# SPDX-License-Identifier: MIT
"""The joints of a robot as rows of a table, in the order of its profile."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Optional, Tuple

from shellbot_common import RobotProfile
from shellbot_teleop.robot_monitor import JointsInfo


@dataclass(frozen=True)
class JointRow:
    """One joint: its class, measured and commanded angle (rad), torque (N m); NaN: not known."""

    joint: str
    kind: str
    position: float
    target: float
    effort: float


def joint_rows(
    profile: Optional[RobotProfile], measured: Optional[JointsInfo], targets: Optional[JointsInfo]
) -> Tuple[JointRow, ...]:
    """Return the rows of a table of joints.

    Parameters
    ----------
    profile : RobotProfile or None
        Order and classes; without one the joints are in the order of the message, their classes empty.
    measured, targets : JointsInfo or None
        What is known; None: never received, or old.
    """
    joints = dict(profile.joints) if profile else dict.fromkeys(measured.names if measured else (), "")
    angle = dict(zip(measured.names, measured.position)) if measured else {}
    torque = dict(zip(measured.names, measured.effort)) if measured else {}
    target = dict(zip(targets.names, targets.position)) if targets else {}
    nan = math.nan
    return tuple(
        JointRow(name, kind, angle.get(name, nan), target.get(name, nan), torque.get(name, nan))
        for name, kind in joints.items()
    )
