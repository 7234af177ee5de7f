# SPDX-License-Identifier: MIT
"""The kinds of phases that a mission is made of, as validated data, and the mission of the demo."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Tuple

from shellbot_chain.chain_config import MODE_LIMIT_S
from shellbot_chain.errors import DefinitionError
from shellbot_common import Settings, number

POSITIVE = (1e-6, math.inf)
OPEN_LIMIT_S = 80.0  # rolling upright with its retries included
APPROACH_GAIN = 2.0  # 1/s: the command falls in proportion to what is left
_BRAKES_WITH = 0.8  # of the gait's greatest acceleration
_ANSWER_S = 0.02  # s
# 1/s: velocity back to the line, or the point, per distance from it, at most so much; more follows the odometry's noise
HOLD_GAIN, HOLD_M_S = 0.15, 0.03
Acceleration = Tuple[float, float, float]
Planar = Tuple[float, float, float]


@dataclass(frozen=True)
class Phase(Settings, error=DefinitionError):
    """Something to do, done or given up after `limit_s` seconds of simulated time."""

    name: str
    limit_s: float = number(*POSITIVE, "s")

    unit = ""
    runs_in = "hexapod"  #: Mode that the robot has to be in; GoTo leads to one instead

    @property
    def amount(self) -> float:
        """How far to move, in `unit`, positive."""
        raise NotImplementedError

    def stop_before(self, acceleration: Acceleration) -> float:
        """Return what may be left when the command becomes zero: less than this is gone while stopping."""
        return 0.0

    @property
    def settle_s(self) -> float:
        """Least time from the end of the command to the end of the phase, s."""
        return 1.0

    def aim(self, origin: Planar) -> Tuple[float, float]:
        """Where the phase is to end, x, y (m), given x, y (m) and yaw (rad) at its start."""
        return origin[:2]

    def remaining(self, origin: Planar, now: Planar) -> float:
        """How much of `amount` is left, given x, y (m) and yaw (rad, without jumps) at the start and now."""
        raise NotImplementedError

    def twist(self, origin: Planar, now: Planar, acceleration: Acceleration) -> Tuple[float, float, float]:
        """Velocity to command: m/s, m/s, rad/s in body axes.

        Parameters
        ----------
        origin, now : (3,) tuple of float
            x, y (m) and yaw (rad, without jumps) at the start and now.
        acceleration : (3,) tuple of float
            Greatest one of the gait in body axes: m/s^2, m/s^2, rad/s^2.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class GoTo(Phase):
    """Ask for a mode and wait for it."""

    mode: str = "hexapod"


@dataclass(frozen=True)
class Walk(Phase):
    """Walk `distance_m` along `direction` (body axes of the start) until the odometry says so.

    The command is `speed_m_s`, and near the end no more than 2/s times what is left, nor than what the gait can brake
    from; at least `creep_m_s`.
    """

    distance_m: float = number(*POSITIVE, "m", default=1.0)
    direction: Tuple[float, float] = (1.0, 0.0)
    speed_m_s: float = number(*POSITIVE, "m/s", default=0.15)
    creep_m_s: float = number(*POSITIVE, "m/s", default=0.03)

    unit = "m"

    def conflict(self) -> str:
        """Return that the direction is no unit vector, if so."""
        is_unit = abs(math.hypot(*self.direction) - 1.0) <= 1e-9
        return "" if is_unit else f"direction is {self.direction}; give a vector of length 1, such as (1, 0) or (0, 1)"

    @property
    def amount(self) -> float:
        """The distance, m."""
        return self.distance_m

    def stop_before(self, acceleration: Acceleration) -> float:
        """Return what the creeping robot still goes while it stops, m."""
        return _braking(min(self.creep_m_s, self.speed_m_s), self._along(acceleration))

    def aim(self, origin: Planar) -> Tuple[float, float]:
        """Return the end of the straight line."""
        return _ahead(origin, self.distance_m, math.atan2(self.direction[1], self.direction[0]))

    def remaining(self, origin: Planar, now: Planar) -> float:
        """Distance left along the direction, m."""
        forward, left = _in_start_axes(origin, now)
        return self.distance_m - (forward * self.direction[0] + left * self.direction[1])

    def twist(self, origin: Planar, now: Planar, acceleration: Acceleration) -> Tuple[float, float, float]:
        """Return the velocity along the line, and back to it."""
        v = _approach(self.remaining(origin, now), self.speed_m_s, self.creep_m_s, self._along(acceleration))
        (forward, left), (dx, dy) = _in_start_axes(origin, now), self.direction
        back = min(max(HOLD_GAIN * (forward * dy - left * dx), -HOLD_M_S), HOLD_M_S)
        turned = origin[2] - now[2]
        vx, vy = _rotated((v * dx - back * dy, v * dy + back * dx), turned)
        return (vx, vy, 0.0)

    def _along(self, acceleration: Acceleration) -> float:
        return min(a / abs(d) for d, a in zip(self.direction, acceleration) if d)


@dataclass(frozen=True)
class Turn(Phase):
    """Turn on the spot by `angle_rad` (counter-clockwise positive) until the odometry says so."""

    angle_rad: float = math.pi / 2
    rate_rad_s: float = number(*POSITIVE, "rad/s", default=0.5)
    creep_rad_s: float = number(*POSITIVE, "rad/s", default=0.1)

    unit = "rad"

    def conflict(self) -> str:
        """Return that there is nothing to turn by, if so."""
        return "" if self.angle_rad else "angle_rad is 0; give the angle to turn by, such as 1.57"

    @property
    def amount(self) -> float:
        """The angle, rad."""
        return abs(self.angle_rad)

    def stop_before(self, acceleration: Acceleration) -> float:
        """Return what the robot still turns while it stops, rad."""
        return _braking(min(self.creep_rad_s, self.rate_rad_s), acceleration[2])

    def remaining(self, origin: Planar, now: Planar) -> float:
        """Angle left, rad."""
        return self.amount - math.copysign(1.0, self.angle_rad) * (now[2] - origin[2])

    def twist(self, origin: Planar, now: Planar, acceleration: Acceleration) -> Tuple[float, float, float]:
        """Return the turning rate, and the velocity back to where the turn began."""
        rate = _approach(self.remaining(origin, now), self.rate_rad_s, self.creep_rad_s, acceleration[2])
        dx, dy = origin[0] - now[0], origin[1] - now[1]
        gain = min(HOLD_GAIN, HOLD_M_S / max(math.hypot(dx, dy), 1e-9))
        vx, vy = _rotated((gain * dx, gain * dy), -now[2])
        return (vx, vy, math.copysign(rate, self.angle_rad))


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


def _in_start_axes(origin: Planar, now: Planar) -> Tuple[float, float]:
    """Return how far forward and leftward of the start a pose is, m."""
    return _rotated((now[0] - origin[0], now[1] - origin[1]), -origin[2])


def _rotated(v: Tuple[float, float], angle: float) -> Tuple[float, float]:
    c, s = math.cos(angle), math.sin(angle)
    return c * v[0] - s * v[1], s * v[0] + c * v[1]


def _approach(remaining: float, cruise: float, creep: float, acceleration: float) -> float:
    left = max(remaining, 0.0)
    braked = math.sqrt(2.0 * _BRAKES_WITH * acceleration * left) if math.isfinite(acceleration) else math.inf
    return min(cruise, max(creep, min(APPROACH_GAIN * left, braked)))


def _braking(speed: float, acceleration: float) -> float:
    """Distance from which a speed comes to rest: the answer of the legs comes late, and they brake."""
    return _ANSWER_S * speed + 0.5 * speed**2 / acceleration
