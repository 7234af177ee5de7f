# SPDX-License-Identifier: MIT
"""What the demo and the mission do, as validated data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Tuple

from robot_evaluation.errors import DefinitionError
from shellbot_chain.chain_config import MODE_LIMIT_S
from shellbot_client.phases import OPEN_LIMIT_S, GoTo, Phase, Pose, roll, stand_up, turn, walk
from shellbot_common import Settings, number


@dataclass(frozen=True)
class DemoPlan(Settings, error=DefinitionError):
    """What the demo does."""

    forward_m: float = number(0.05, 10.0, "m", default=1.0)
    sideways_m: float = number(0.05, 10.0, "m", default=0.5)
    turn_deg: float = number(-1080.0, 1080.0, "deg", default=90.0)
    tilt_deg: float = number(0.0, 20.0, "deg", default=8.0)
    speed_m_s: float = number(0.01, 0.6, "m/s", default=0.15)
    rate_deg_s: float = number(1.0, 120.0, "deg/s", default=30.0)

    def conflict(self) -> str:
        """Return that there is nothing to turn by, if so."""
        return "" if self.turn_deg else "turn_deg is 0; give the angle to turn by, such as 90"

    def phases(self) -> Tuple[Phase, ...]:
        """Return stand, forward, sideways, turn, tilt, level."""
        tilt = math.radians(self.tilt_deg)
        return (
            stand_up(),
            walk("forward", self.forward_m, (1.0, 0.0), self.speed_m_s),
            walk("sideways", self.sideways_m, (0.0, 1.0), self.speed_m_s),
            turn("turn", math.radians(self.turn_deg), math.radians(self.rate_deg_s)),
            Pose("tilt", 15.0, (0.0, 0.0, 0.0, tilt, 0.0, 0.0), 2.0),
            Pose("level", 15.0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), 1.5),
        )


@dataclass(frozen=True)
class MissionPlan(Settings, error=DefinitionError):
    """Walk ahead, close, roll to a point, open, walk ahead; all by the robot's own odometry."""

    walk_m: float = number(0.05, 10.0, "m", default=0.5)
    roll_m: float = number(0.5, 20.0, "m", default=3.0)
    roll_deg: float = number(-180.0, 180.0, "deg", default=0.0)  #: Bearing of the point from the heading
    speed_m_s: float = number(0.01, 0.6, "m/s", default=0.2)

    def phases(self) -> Tuple[Phase, ...]:
        """Return stand, walk out, close, roll, open, walk on."""
        return (
            stand_up(),
            walk("walk out", self.walk_m, (1.0, 0.0), self.speed_m_s),
            GoTo("close", MODE_LIMIT_S, "shell"),
            roll("roll", self.roll_m, math.radians(self.roll_deg)),
            GoTo("open", OPEN_LIMIT_S, "hexapod"),
            walk("walk on", self.walk_m, (1.0, 0.0), self.speed_m_s),
        )


@dataclass(frozen=True)
class CoursePlan(MissionPlan):
    """The mission, longer on foot and with a turn after the first walk."""

    walk_m: float = number(0.05, 10.0, "m", default=1.0)
    roll_m: float = number(0.5, 20.0, "m", default=2.0)
    turn_deg: float = number(-1080.0, 1080.0, "deg", default=90.0)
    rate_deg_s: float = number(1.0, 120.0, "deg/s", default=30.0)

    def phases(self) -> Tuple[Phase, ...]:
        """Return stand, walk out, turn, close, roll, open, walk on."""
        stand, out, *others = super().phases()
        return (stand, out, turn("turn", math.radians(self.turn_deg), math.radians(self.rate_deg_s)), *others)
