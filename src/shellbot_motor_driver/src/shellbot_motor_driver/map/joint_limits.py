# SPDX-License-Identifier: MIT
"""Limits of the driven joints."""

from __future__ import annotations

from typing import Sequence

import numpy as np

from shellbot_control import JointLimits
from shellbot_description import joint_class, load_variables


def joint_limits(joint_names: Sequence[str]) -> JointLimits:
    """Return the limits of the driven joints: the description's, which the URDF has, too."""
    variables = load_variables()
    kinds = [joint_class(name) for name in joint_names]
    limits = [variables.limits(kind) for kind in kinds]
    return JointLimits(
        tuple(joint_names),
        np.array([limit.lower for limit in limits]),
        np.array([limit.upper for limit in limits]),
        np.array([variables.velocity(kind) for kind in kinds]),
        np.array([variables.effort(kind) for kind in kinds]),
    )
