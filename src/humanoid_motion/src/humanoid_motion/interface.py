# SPDX-License-Identifier: MIT
"""What goes into the walking engine, and what can be seen of it and of the robot."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Optional, Sequence

import numpy as np

from humanoid_motion.parameters import WalkError
from robot_mechanics.native.jit import kernel

_UNIT = 0.1  # by which the length of a quaternion may differ from 1: rounding of a message, not a missing reading


@kernel
def _is_finite(values: np.ndarray) -> bool:
    finite = True
    for value in values.flat:
        finite &= math.isfinite(value)
    return finite


@dataclass(frozen=True)
class Feedback:
    """What is measured in one tick."""

    q: np.ndarray  #: (n,) Joint angles, rad
    attitude: Sequence[float]  #: (4,) Quaternion x, y, z, w of the root link
    rates: np.ndarray  #: (3,) Angular velocity of the root link, rad/s
    wrenches: np.ndarray  #: (2, 6) Of the ground at each sole, in the sole's frame, N and N m
    #: (3,) Of the inertial unit in the root link's axes, mean of the tick, m/s^2; None of a unit without accelerometer
    specific_force: Optional[np.ndarray] = None

    def check(self, joints: int) -> None:
        """Refuse what is not finite, of a wrong length for so many joints, or no attitude; raises WalkError."""
        for name, given, shape in (
            ("joint angles", self.q, (joints,)),
            ("attitude", self.attitude, (4,)),
            ("rates", self.rates, (3,)),
            ("foot wrenches", self.wrenches, (2, 6)),
            ("specific force", np.zeros(3) if self.specific_force is None else self.specific_force, (3,)),
        ):
            values = np.asarray(given, dtype=float)
            if values.shape != shape or not _is_finite(values):
                raise WalkError(f"{name}: expected finite numbers of shape {shape}, got {values!r:.80}")
        length = math.hypot(*self.attitude)
        if not abs(length - 1.0) < _UNIT:
            raise WalkError(f"attitude: expected a unit quaternion, got one of length {length:.3g}; look at imu/data")


@dataclass(frozen=True)
class EngineState:
    """What the engine is doing, for diagnostics."""

    mode: str  #: stand or walk
    base: np.ndarray  #: (3,) x, y, yaw of the base, odometry frame


@dataclass(frozen=True)
class Status:
    """What the robot does, for the operator."""

    mode: str  #: stand, walk, pose, motion, falling, fallen, get_up, stopped
    target: str  #: Mode or pose that it goes to, or motion that it performs; the mode itself at rest
    text: str  #: A sentence
    progress: float = field(default=0.0, compare=False)  #: 0..1 of a motion
