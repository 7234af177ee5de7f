# SPDX-License-Identifier: MIT
"""How far the joints are behind their targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class ArrivalStatus:
    """Arrival of the joints, as in shellbot_msgs/ReferenceStatus."""

    reached: bool  #: Every joint is within the tolerance of its target
    max_error: float  #: Largest absolute error in rad; 0 before the first target
    max_error_joint: str  #: Its joint; empty before the first target
    target_age: float  #: s since the last valid targets; infinite before the first
    holding: bool  #: Whether targets are not being followed
    text: str  #: One sentence for the operator; empty when all is well


def arrival_status(
    names: Sequence[str],
    target: Optional[Array],
    measured: Optional[Array],
    tolerance: float,
    target_age: float,
    holding: bool,
    text: str,
) -> ArrivalStatus:
    """Compare targets with measured joints.

    Parameters
    ----------
    names : sequence of str
        The n joints.
    target, measured : (n,) array or None
        rad; None while there are none.
    tolerance : float
        rad.
    target_age, holding, text
        Passed on, see :class:`ArrivalStatus`.

    Returns
    -------
    ArrivalStatus
        Never reached while targets or measured joints are missing.
    """
    if target is None or measured is None:
        return ArrivalStatus(False, 0.0, "", target_age, holding, text)
    error = np.abs(target - measured)  # (n,) rad
    worst = int(error.argmax())
    largest = float(error[worst])
    return ArrivalStatus(largest <= tolerance, largest, names[worst], target_age, holding, text)
