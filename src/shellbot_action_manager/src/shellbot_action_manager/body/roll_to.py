# SPDX-License-Identifier: MIT
"""Rolling to a point: which velocity to command so that the ball stops there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Sequence, Tuple

import numpy as np


@dataclass(frozen=True)
class RollToConfig:
    """How a point is approached."""

    speed: float = 0.9  #: m/s at most
    least_speed: float = 0.2  #: m/s: slower a ball sticks
    slope: float = 1.5  #: 1/s: velocity per distance at the end of the approach
    slowdown: float = 1.0  #: m/s^2: before that the velocity is at most sqrt(slowdown * distance)
    deceleration: float = 1.2  #: m/s^2: of braking, for the distance at which it begins
    brake_within: float = 0.25  #: m: it brakes for its speed no farther away than this
    brake_early: float = 0.02  #: m: as soon as braking would end so near
    tolerance: float = 0.03  #: m: nearer than this it brakes
    leave: float = 0.09  #: m: farther away than this after a stop it goes on
    hold: float = 2.0  #: 1/s: velocity per distance while it comes to rest
    rest_speed: float = 0.05  #: m/s: slower than this it has stopped
    rest_time: float = 0.3  #: s


class RollTo:
    """Approaches a point, stops there, and approaches it again if it came to rest too far away.

    Parameters
    ----------
    goal : (2,) array
        In odom, m.
    config : RollToConfig
        Speeds and distances.
    """

    def __init__(self, goal: np.ndarray, config: RollToConfig = RollToConfig()) -> None:
        self._goal, self._config = np.asarray(goal, dtype=np.float64), config
        self._braking, self._still = False, 0.0
        self.arrived = False

    @property
    def leave(self) -> float:
        """Distance from the goal within which a ball at rest has arrived, m."""
        return self._config.leave

    def twist(self, dt: float, pose: Sequence[float], velocity: Sequence[float]) -> Tuple[float, float]:
        """Return forward and leftward velocity to command, m/s, as `cmd_vel` takes them.

        Parameters
        ----------
        dt : float
            s.
        pose : (3,) sequence
            x, y (m) and heading (rad) in odom.
        velocity : (2,) sequence
            Forward and leftward in the axes of the heading, m/s.
        """
        c, s = math.cos(pose[2]), math.sin(pose[2])
        R_odom_heading = np.array([[c, -s], [s, c]])
        commanded = self.step(dt, np.array(pose[:2]), R_odom_heading @ np.asarray(velocity))
        forward, left = R_odom_heading.T @ commanded
        return float(forward), float(left)

    def step(self, dt: float, position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """Return the velocity (2,) to command, m/s, in odom's axes, for position (m) and velocity (m/s) in them."""
        config = self._config
        ahead = self._goal - position
        distance, speed = float(np.hypot(*ahead)), float(np.hypot(*velocity))
        self._still = self._still + dt if speed < config.rest_speed else 0.0
        at_rest = self._braking and self._still > config.rest_time
        self.arrived = at_rest and distance <= config.leave
        if at_rest and not self.arrived:
            self._braking = False
        towards = ahead / max(distance, 1e-9)
        closing = float(velocity @ towards)
        remaining = distance - closing * abs(closing) / (2.0 * config.deceleration)  # where braking would end
        in_time = distance < config.brake_within and remaining < config.brake_early
        if distance < config.tolerance or in_time:
            self._braking = True
        if self._braking:
            return config.hold * ahead
        slowed = math.sqrt(config.slowdown * distance)
        return towards * min(config.speed, slowed, max(config.slope * distance, config.least_speed))
