# SPDX-License-Identifier: MIT
"""Constants that are compiled into a chain's inverse."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, fields

import numpy as np

from robot_mechanics.errors import InvalidConfigError
from robot_mechanics.models.parameters import ChainParameters

_PRISMATIC = 1  # in ChainParameters.kind

# mu at the start, without and with limits: of those tried the ones with the fewest steps on legs of four joints; and
# what it is multiplied by when a step made the error smaller, and when not
DAMPING, DAMPING_LIMITED, SUCCESS, FAILURE = 0.05, 0.3, 0.25, 8.0
MARGIN = 0.99  # of a tolerance, to be within it: 40 turns of sines may be off by 0.8 % of the tolerance
# an attempt ends where a step gains less than this times the squared error that is left; with prismatic joints, whose
# steps towards far targets are damped most and for whom another start is no better, only where it gains next to nothing
ENOUGH, ENOUGH_SLIDING = 0.1, 1e-3


def enough_of(p: ChainParameters) -> float:
    """Return the gain of a step below which an attempt ends, relative to the squared error that is left.

    Parameters
    ----------
    p : ChainParameters
        Of the chain.
    """
    return ENOUGH_SLIDING if np.any(p.kind == _PRISMATIC) else ENOUGH


@dataclass(frozen=True)
class KernelOptions:
    """Constants of the generated Levenberg-Marquardt; part of the name of the generated file.

    Raises
    ------
    InvalidConfigError
        If a value is out of range.
    """

    tolerance: float = 1e-6  #: Distance from the target at which a position counts as reached, m
    angle_tolerance: float = 1e-6  #: The same of the orientation, rad
    #: attempts, pose_attempts: Starts in all, for positions and for poses: the given one, then points spread evenly
    #: around it (a fixed sequence, so the result is the same every time). Unreachable targets cost all of them: some
    #: 0.02 ms and 0.6 ms.
    attempts: int = 30
    pose_attempts: int = 300
    steps: int = 40  #: Steps of one attempt at most

    def __post_init__(self) -> None:
        """Check the ranges."""
        ranges = {
            "tolerance": (1e-12, math.inf),
            "angle_tolerance": (1e-12, math.pi),
            "attempts": (1, 10_000),
            "pose_attempts": (1, 10_000),
            "steps": (1, 10_000),
        }
        for field in fields(self):
            value, (low, high) = getattr(self, field.name), ranges[field.name]
            kind = numbers.Integral if isinstance(low, int) else numbers.Real
            if not isinstance(value, kind) or isinstance(value, bool) or not low <= float(value) <= high:
                raise InvalidConfigError(f"{field.name} of KernelOptions is {value!r}; expected {low} .. {high}")
