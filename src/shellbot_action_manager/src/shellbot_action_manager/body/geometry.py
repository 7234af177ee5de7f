# SPDX-License-Identifier: MIT
"""The robot as the action manager sees it, read from the description: no number of the robot is repeated here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Optional, Tuple

import numpy as np

import shellbot_description as description
from shellbot_action_manager.body.legs import LegGeometry
from shellbot_description.variables import UpperLeg
from shellbot_kinematics import DHRow, LegSet, SerialChain

LEG_COUNT = 6
LOWER_COUNT = 24  # joints of the six lower legs, first in every joint array


@dataclass(frozen=True)
class RobotGeometry:
    """Legs, upper shells and the postures that have a name.

    Attributes
    ----------
    joint_names : tuple of str
        Driven joints of the variant, in the order of every joint array.
    legs : LegGeometry
        Lower legs.
    upper : UpperLeg or None
        Lengths of an upper leg; None for the variant `walker`.
    sit_lower : (6, 4) array
        fan, coxa, femur, tibia of the sitting robot, rad.
    up_upper : (6, 2) array
        shoulder, shell of the walking robot, rad; empty (0, 2) for `walker`.
    """

    joint_names: Tuple[str, ...]
    legs: LegGeometry
    upper: Optional[UpperLeg]
    sit_lower: np.ndarray
    up_upper: np.ndarray


def load_geometry(variant: str = "simulation") -> RobotGeometry:
    """Return the geometry of a variant of the description.

    Raises
    ------
    shellbot_description.DescriptionError
        If there is no such variant or the variables file is not valid.
    """
    variables = description.load_variables()
    legs = LegGeometry(LegSet.from_chains([_leg(variables, k) for k in range(1, LEG_COUNT + 1)]))
    names = description.driven_joint_names(variant)
    sit = description.named_pose_array("sit", variant)
    stand = description.named_pose_array("stand", variant)
    return RobotGeometry(
        joint_names=tuple(names),
        legs=legs,
        upper=variables.upper if len(names) > LOWER_COUNT else None,
        sit_lower=sit[:LOWER_COUNT].reshape(6, 4),
        up_upper=stand[LOWER_COUNT:].reshape(-1, 2),
    )


def _leg(variables: description.Variables, k: int) -> SerialChain:
    """Return lower leg `k` (1..6) from its Denavit-Hartenberg table, with the limits of its joints."""
    rows = []
    for row in description.dh_table_lower(variables, k):
        low, high = -math.inf, math.inf
        if row.kind != "fixed":
            joint = variables.limits(row.name.rsplit("_", 1)[1])
            low, high = joint.lower, joint.upper
        rows.append(DHRow(row.alpha, row.a, row.theta, row.d, row.kind, row.name, lower=low, upper=high))
    return SerialChain.from_dh(rows, name=f"lower_{k}")
