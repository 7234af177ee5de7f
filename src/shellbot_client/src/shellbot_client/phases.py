# SPDX-License-Identifier: MIT
"""The kinds of phases that a mission is made of, as validated data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Tuple

from robot_evaluation.errors import DefinitionError
from shellbot_action_manager.gait.walk_to import GuidedMotion, LineWalk, Planar, SpotTurn
from shellbot_chain.chain_config import MODE_LIMIT_S
from shellbot_common import Settings, number

POSITIVE = (1e-6, math.inf)
OPEN_LIMIT_S = 80.0  # rolling upright with its retries included


@dataclass(frozen=True)
class Phase(Settings, error=DefinitionError):
    """Something to do, done or given up after `limit_s` seconds of simulated time."""

    name: str
    limit_s: float = number(*POSITIVE, "s")

    unit = ""
    runs_in = "hexapod"  #: Mode that the robot has to be in; GoTo leads to one instead
    settle_s = 1.0  #: Least time from the end of the command to the end of the phase, s

    @property
    def amount(self) -> float:
        """How far to move, in `unit`, positive."""
        raise NotImplementedError

    def aim(self, origin: Planar) -> Tuple[float, float]:
        """Where the phase is to end, x, y (m), given x, y (m) and yaw (rad) at its start."""
        return origin[:2]

    def remaining(self, origin: Planar, now: Planar) -> float:
        """How much of `amount` is left, given x, y (m) and yaw (rad, without jumps) at the start and now."""
        raise NotImplementedError


@dataclass(frozen=True)
class GoTo(Phase):
    """Ask for a mode and wait for it."""

    mode: str = "hexapod"


class Guided(Phase):
    """A phase that is walked until the odometry says so: the law of `walk_to`, by the names of this package."""

    @property
    def motion(self) -> GuidedMotion:
        """The law: what to command, and what is left."""
        raise NotImplementedError

    @property
    def amount(self) -> float:
        """The distance (m) or the angle (rad)."""
        return self.motion.amount

    def remaining(self, origin: Planar, now: Planar) -> float:
        """Return what is left, m or rad."""
        return self.motion.remaining(origin, now)


@dataclass(frozen=True)
class Walk(Guided):
    """Walk `distance_m` along `direction` (body axes of the start), see `LineWalk`."""

    distance_m: float = number(*POSITIVE, "m", default=1.0)
    direction: Tuple[float, float] = (1.0, 0.0)
    speed_m_s: float = number(*POSITIVE, "m/s", default=0.15)

    unit = "m"

    def conflict(self) -> str:
        """Return that the direction is no unit vector, if so."""
        is_unit = abs(math.hypot(*self.direction) - 1.0) <= 1e-9
        return "" if is_unit else f"direction is {self.direction}; give a vector of length 1, such as (1, 0) or (0, 1)"

    @property
    def motion(self) -> LineWalk:
        """The law of the walk."""
        return LineWalk(self.distance_m, self.direction, self.speed_m_s)

    def aim(self, origin: Planar) -> Tuple[float, float]:
        """Return the end of the straight line."""
        return _ahead(origin, self.distance_m, math.atan2(self.direction[1], self.direction[0]))


@dataclass(frozen=True)
class Turn(Guided):
    """Turn on the spot by `angle_rad` (counter-clockwise positive), see `SpotTurn`."""

    angle_rad: float = math.pi / 2
    rate_rad_s: float = number(*POSITIVE, "rad/s", default=0.5)

    unit = "rad"

    def conflict(self) -> str:
        """Return that there is nothing to turn by, if so."""
        return "" if self.angle_rad else "angle_rad is 0; give the angle to turn by, such as 1.57"

    @property
    def motion(self) -> SpotTurn:
        """The law of the turn."""
        return SpotTurn(self.angle_rad, self.rate_rad_s)


@dataclass(frozen=True)
class Roll(Phase):
    """Roll as a ball to the point of odom `distance_m` away at `bearing_rad` from the heading at the start."""

    distance_m: float = number(*POSITIVE, "m", default=3.0)
    bearing_rad: float = number(-math.pi, math.pi, "rad", default=0.0)

    unit = "m"
    runs_in = "shell"

    @property
    def amount(self) -> float:
        """The distance, m."""
        return self.distance_m

    def aim(self, origin: Planar) -> Tuple[float, float]:
        """Return the point."""
        return _ahead(origin, self.distance_m, self.bearing_rad)

    def remaining(self, origin: Planar, now: Planar) -> float:
        """Distance to the point, m."""
        return math.dist(self.aim(origin), now[:2])


@dataclass(frozen=True)
class Pose(Phase):
    """Command a body pose (x, y, z in m; roll, pitch, yaw in rad, from the rest pose) and hold it."""

    body_pose: Tuple[float, float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    duration_s: float = number(*POSITIVE, "s", default=2.0)


def walk(name: str, distance_m: float, direction: Tuple[float, float], speed_m_s: float) -> Walk:
    """Return a walk whose time limit leaves twice the time it should take, and 15 s."""
    phase = Walk(name, 15.0, distance_m, direction, speed_m_s)
    return phase.replace(limit_s=15.0 + 2.0 * distance_m / speed_m_s)


def turn(name: str, angle_rad: float, rate_rad_s: float) -> Turn:
    """Return a turn whose time limit leaves twice the time it should take, and 15 s."""
    phase = Turn(name, 15.0, angle_rad, rate_rad_s)
    return phase.replace(limit_s=15.0 + 2.0 * abs(angle_rad) / rate_rad_s)


def roll(name: str, distance_m: float, bearing_rad: float) -> Roll:
    """Return a roll whose time limit is that at 0.2 m/s, and 40 s: a ball that lies badly starts late."""
    return Roll(name, 40.0 + distance_m / 0.2, distance_m, bearing_rad)


def stand_up() -> GoTo:
    """Return the phase that ends on six feet, ready to walk."""
    return GoTo("stand", MODE_LIMIT_S, "hexapod")


def _ahead(origin: Planar, distance: float, bearing: float) -> Tuple[float, float]:
    angle = origin[2] + bearing
    return origin[0] + distance * math.cos(angle), origin[1] + distance * math.sin(angle)
