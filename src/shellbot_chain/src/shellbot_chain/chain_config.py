# SPDX-License-Identifier: MIT
"""What a chain is built from."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Optional

from .errors import DefinitionError

MODE_LIMIT_S = 40.0  # s, simulated, to reach a mode


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
    slope_deg, slope_azimuth_deg : float
        How steeply the floor rises, and where to.
    mass_scale : float
        Mass of every link against the description.
    joint_offset_deg : float
        Standard deviation of the constant errors of the joints' zeros, drawn from the seed; one error for the six fans.
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
    slope_deg: float = 0.0
    slope_azimuth_deg: float = 0.0
    mass_scale: float = 1.0
    joint_offset_deg: float = 0.0
    record: bool = True

    def __post_init__(self) -> None:
        if self.seed is not None and self.seed < 0:
            raise DefinitionError(f"seed is {self.seed}; give 0 or more, or None for no noise")
        if not (math.isfinite(self.friction) and self.friction > 0.0):
            raise DefinitionError(f"friction is {self.friction}; it must be a finite number greater than zero")
        if not 0.0 <= self.joint_offset_deg <= 5.0:
            raise DefinitionError(f"joint_offset_deg is {self.joint_offset_deg}; give 0 to 5 deg")

    def replace(self, **changes: Any) -> ChainConfig:
        """Return a copy with some fields changed."""
        return dataclasses.replace(self, **changes)
