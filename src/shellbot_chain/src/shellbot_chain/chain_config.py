# SPDX-License-Identifier: MIT
"""What a chain is built from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Optional

from shellbot_common import Settings, number

from .errors import DefinitionError

MODE_LIMIT_S = 40.0  # s, simulated, to reach a mode


@dataclass(frozen=True)
class ChainConfig(Settings, error=DefinitionError):
    """What a chain is built from.

    Attributes
    ----------
    variant : str
        simulation (36 joints) or walker (24).
    seed : int or None
        Of the simulator's start and sensor noise; None: no noise.
    friction : float
        Sliding friction of every contact.
    timestep : float
        Of the physics, s.
    gait : str
        Of the action manager's gait table.
    start_mode : str
        Where the robot goes by itself: hexapod, stand or sit.
    self_collision : bool
        Whether the robot's parts collide with each other.
    record : bool
        Whether every tick is kept for `Chain.trace`.
    """

    variant: str = "simulation"
    seed: Optional[int] = number(0, 2**31 - 1, default=0, hint="None for no noise")
    friction: float = number(1e-3, math.inf, default=0.8)
    timestep: float = 0.002
    gait: str = "tripod"
    start_mode: str = "hexapod"
    self_collision: bool = True
    record: bool = True
