# SPDX-License-Identifier: MIT
"""What a chain is built from."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Optional

from .errors import DefinitionError


@dataclass(frozen=True)
class ChainConfig:
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
    seed: Optional[int] = 0
    friction: float = 0.8
    timestep: float = 0.002
    gait: str = "tripod"
    start_mode: str = "hexapod"
    self_collision: bool = True
    record: bool = True

    def __post_init__(self) -> None:
        if self.seed is not None and self.seed < 0:
            raise DefinitionError(f"seed is {self.seed}; give 0 or more, or None for no noise")
        if not (math.isfinite(self.friction) and self.friction > 0.0):
            raise DefinitionError(f"friction is {self.friction}; it must be a finite number greater than zero")

    def replace(self, **changes: Any) -> ChainConfig:
        """Return a copy with some fields changed."""
        return dataclasses.replace(self, **changes)
