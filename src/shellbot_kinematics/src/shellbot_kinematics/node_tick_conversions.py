# SPDX-License-Identifier: MIT
"""The answer to one limb_references message: joint_targets, or why there are none."""

from __future__ import annotations

from typing import NamedTuple, Optional

from sensor_msgs.msg import JointState

from robot_mechanics.errors import KinematicsError
from shellbot_kinematics.kinematics_conversions import targets_to_message
from shellbot_kinematics.limb_references_conversions import references_from_message
from shellbot_kinematics.reports import JointTargets
from shellbot_kinematics.server_core import ServerCore
from shellbot_msgs.msg import LimbReferences as LimbReferencesMsg


class TickAnswer(NamedTuple):
    """Targets and their message, or None; `complaint` says why, and is empty if all is well."""

    targets: Optional[JointTargets]
    message: Optional[JointState]
    complaint: str


def answer_references(core: ServerCore, message: LimbReferencesMsg) -> TickAnswer:
    """Return the answer to one message; one that cannot be read holds all limbs."""
    complaint = ""
    stamp = message.header.stamp
    try:
        try:
            references = references_from_message(message)
        except KinematicsError as error:
            complaint = f"limb_references not used, all limbs hold: {error}"
            targets = core.hold(stamp.to_sec())
        else:
            targets = core.tick(references)
    except KinematicsError as error:
        return TickAnswer(None, None, complaint or f"no joint_targets: {error}")
    return TickAnswer(targets, targets_to_message(targets, stamp), complaint)
