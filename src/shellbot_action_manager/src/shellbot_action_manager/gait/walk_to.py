# SPDX-License-Identifier: MIT
"""Walks along a line and turns on the spot to their end, by the odometry: what to command at each tick."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Tuple, Union

APPROACH_GAIN = 2.0  # 1/s: the command falls in proportion to what is left
_BRAKES_WITH = 0.8  # of the gait's greatest acceleration
_ANSWER_S = 0.07  # s: legs answer a command by so much later: 0.02 s, and half of the rise of the acceleration
_ANSWER_TURN_S = 0.045  # s: of a turn, whose end the gyroscope measures without delay
HOLD_GAIN, HOLD_M_S = 0.5, 0.03  # 1/s: velocity back to the line, or the point, per distance from it, at most so much
Planar = Tuple[float, float, float]


@dataclass(frozen=True)
class LineWalk:
    """A straight walk of `distance` along `direction`, keeping the heading and the line.

    The commanded speed is `speed`, and near the end no more than 2/s times what is left, nor than what the gait can
    brake from; at least `creep`.
    """

    distance: float  #: m
    direction: Tuple[float, float]  #: Unit vector in the body axes of the start
    speed: float  #: m/s
    creep: float = 0.03  #: m/s

    @property
    def amount(self) -> float:
        """How far to move, m."""
        return self.distance

    @property
    def cruise(self) -> float:
        """The speed, m/s."""
        return self.speed

    def remaining(self, origin: Planar, now: Planar) -> float:
        """Return the distance left along the direction, m; see `twist`."""
        forward, left = in_start_axes(origin, now)
        return self.distance - (forward * self.direction[0] + left * self.direction[1])

    def stop_before(self, acceleration: Planar) -> float:
        """Return what the creeping robot still goes while it stops, m."""
        return _braking(min(self.creep, self.speed), self._along(acceleration), _ANSWER_S)

    def twist(self, origin: Planar, now: Planar, acceleration: Planar) -> Planar:
        """Return the velocity along the line, and back to it, in body axes: m/s, m/s, rad/s.

        Parameters
        ----------
        origin, now : (3,) tuple of float
            x, y (m) and yaw (rad, without jumps) in odom at the start and now.
        acceleration : (3,) tuple of float
            Greatest one of the gait in body axes: m/s^2, m/s^2, rad/s^2.
        """
        v = _approach(self.remaining(origin, now), self.speed, self.creep, self._along(acceleration))
        (forward, left), (dx, dy) = in_start_axes(origin, now), self.direction
        back = min(max(HOLD_GAIN * (forward * dy - left * dx), -HOLD_M_S), HOLD_M_S)
        vx, vy = _rotated((v * dx - back * dy, v * dy + back * dx), origin[2] - now[2])
        return (vx, vy, 0.0)

    def _along(self, acceleration: Planar) -> float:
        return min(a / abs(d) for d, a in zip(self.direction, acceleration) if d)


@dataclass(frozen=True)
class SpotTurn:
    """A turn by `angle` on the spot, counter-clockwise positive; methods as those of `LineWalk`, in rad."""

    angle: float  #: rad, not 0
    rate: float  #: rad/s
    creep: float = 0.1  #: rad/s

    @property
    def amount(self) -> float:
        """How far to turn, rad."""
        return abs(self.angle)

    @property
    def cruise(self) -> float:
        """The speed, rad/s."""
        return self.rate

    def remaining(self, origin: Planar, now: Planar) -> float:
        """Return the angle left, rad."""
        return self.amount - math.copysign(1.0, self.angle) * (now[2] - origin[2])

    def stop_before(self, acceleration: Planar) -> float:
        """Return what the robot still turns while it stops, rad."""
        return _braking(min(self.creep, self.rate), acceleration[2], _ANSWER_TURN_S)

    def twist(self, origin: Planar, now: Planar, acceleration: Planar) -> Planar:
        """Return the turning rate, and the velocity back to where the turn began."""
        rate = _approach(self.remaining(origin, now), self.rate, self.creep, acceleration[2])
        dx, dy = origin[0] - now[0], origin[1] - now[1]
        gain = min(HOLD_GAIN, HOLD_M_S / max(math.hypot(dx, dy), 1e-9))
        vx, vy = _rotated((gain * dx, gain * dy), -now[2])
        return (vx, vy, math.copysign(rate, self.angle))


GuidedMotion = Union[LineWalk, SpotTurn]


def in_start_axes(origin: Planar, now: Planar) -> Tuple[float, float]:
    """Return how far forward and leftward of the start a pose is, m."""
    return _rotated((now[0] - origin[0], now[1] - origin[1]), -origin[2])


def _rotated(v: Tuple[float, float], angle: float) -> Tuple[float, float]:
    c, s = math.cos(angle), math.sin(angle)
    return c * v[0] - s * v[1], s * v[0] + c * v[1]


def _approach(remaining: float, cruise: float, creep: float, acceleration: float) -> float:
    left = max(remaining, 0.0)
    braked = math.sqrt(2.0 * _BRAKES_WITH * acceleration * left) if math.isfinite(acceleration) else math.inf
    return min(cruise, max(creep, min(APPROACH_GAIN * left, braked)))


def _braking(speed: float, acceleration: float, answer: float) -> float:
    """Distance from which a speed comes to rest: the answer of the legs comes late, and they brake."""
    if acceleration <= 0.0:  # the legs have no room as the body is posed; it stands, and is straightened to walk
        return 0.0
    return answer * speed + 0.5 * speed**2 / acceleration
