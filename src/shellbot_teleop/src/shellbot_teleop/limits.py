# SPDX-License-Identifier: MIT
"""What the robot can do at present: limits of velocity and body pose."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Tuple

from shellbot_teleop.errors import LimitsError

Vector3 = Tuple[float, float, float]


@dataclass(frozen=True)
class Limits:
    """Limits of the operator's commands.

    Raises
    ------
    LimitsError
        A value is not finite, a limit is negative or a range is empty.
    """

    velocity: Vector3  #: Greatest forward (m/s), sideways (m/s) and turning (rad/s) velocity, each alone
    #: min_shift, max_shift: m, body relative to its rest pose: x, y, z
    min_shift: Vector3
    max_shift: Vector3
    tilt: Vector3  #: rad, each way: roll, pitch, yaw
    gait: str = ""  #: The gait that they belong to; empty when unknown
    measured: bool = False  #: False for the fallback of the configuration, True for what the action manager sent
    gaits: Tuple[str, ...] = ()  #: Those that the robot has; empty when unknown

    def __post_init__(self) -> None:
        for name in ("velocity", "min_shift", "max_shift", "tilt"):
            values = getattr(self, name)
            if len(values) != 3 or not all(math.isfinite(value) for value in values):
                raise LimitsError(f"{name} = {values}: three finite numbers are needed; the last valid limits hold.")
        if min(self.velocity) < 0.0 or min(self.tilt) < 0.0:
            raise LimitsError(
                f"velocity {self.velocity} and tilt {self.tilt} must not be negative; the last valid limits hold."
            )
        if any(low > 0.0 or high < 0.0 for low, high in zip(self.min_shift, self.max_shift)):
            raise LimitsError(
                f"shift {self.min_shift} .. {self.max_shift} must contain zero (the rest pose); "
                "the last valid limits hold."
            )

    @property
    def pose_lower(self) -> Tuple[float, ...]:
        """Lowest body pose (6,): x, y, z in m, roll, pitch, yaw in rad."""
        return tuple(self.min_shift) + tuple(-value for value in self.tilt)

    @property
    def pose_upper(self) -> Tuple[float, ...]:
        """Greatest body pose (6,), same order."""
        return tuple(self.max_shift) + tuple(self.tilt)
