# SPDX-License-Identifier: MIT
"""What goes into the gait engine at each tick, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy as np

from snake_motion.gait_shape import GaitShape


@dataclass(frozen=True)
class Target:
    """A gait to be in."""

    name: str
    shape: GaitShape
    direction: int = 1
    rolls: bool = False
    is_steered: bool = False  #: By cmd_vel: changes within a family take the short fade
    fraction: float = 1.0  #: Of a family: amplitude between its least (0) and its greatest (1)


@dataclass(frozen=True)
class Feedback:
    """What the robot measures."""

    q: np.ndarray  #: (n,) Joint angles, rad
    roll: Optional[float] = None  #: Of the body about its axis, rad; None: not known
    effort: Optional[np.ndarray] = None  #: (n,) Of the joints, N m; None: not known
    hold: str = ""  #: Why the joints hold in the place of following their commands; "" while they follow
    held_for: float = 0.0  #: s


@dataclass(frozen=True)
class EngineOutput:
    """What the joints are to do, and what the robot is doing."""

    position: np.ndarray  #: (n,) rad
    mode: str
    gait: str  #: Name, "" without a gait; "righting" while it rolls upright
    direction: int
    theta: float  #: Phase of the cycle, rad
    text: str  #: One sentence for the operator
    failed: bool = False  #: Whether the text says that joints failed
