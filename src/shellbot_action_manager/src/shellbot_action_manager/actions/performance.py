# SPDX-License-Identifier: MIT
"""What passes between an action that is performed and the robot: what it observes, what it commands."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import Mapping, Optional, Tuple

import numpy as np


class Cancel(Enum):
    """When a cancelled action goes back to rest."""

    NOW = "now"
    AFTER_STEP = "step"


@dataclass(frozen=True)
class PerformanceObservation:
    """What an action observes at a tick."""

    mode: str
    goal: str  #: Mode that the robot changes to, or is in
    steps: Tuple[str, ...]  #: Behaviours that remain until then
    text: str  #: Sentence of the mode topic
    progress: float = 0.0  #: 0..1 of the change
    moves: bool = False  #: Whether the robot walks
    pose: Optional[np.ndarray] = None  #: (3,) x, y (m) and yaw (rad) in odom; None: no odometry
    acceleration: Tuple[float, float, float] = (math.inf,) * 3  #: Greatest of the gait: m/s^2, m/s^2, rad/s^2
    measured: Mapping[str, float] = field(default_factory=dict)  #: For conditions, deg; what is not known is not in it


@dataclass(frozen=True)
class PerformanceCommands:
    """What an action commands at a tick, beside postures."""

    request: str = ""  #: Mode
    twist: Optional[np.ndarray] = None  #: (3,) m/s, m/s, rad/s; None: it does not walk
    gait: str = ""  #: Empty: the commanded one
