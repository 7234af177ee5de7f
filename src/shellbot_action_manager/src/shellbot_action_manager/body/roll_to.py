# SPDX-License-Identifier: MIT
"""Rolling to a point: which velocity to command so that the ball stops there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Sequence, Tuple

import numpy as np

from shellbot_common.rotations import rotation_2d


@dataclass(frozen=True)
class RollToConfig:
    """How a point is approached."""

    speed: float = 1.2  #: m/s at most
    least_speed: float = 0.25  #: m/s: slower a ball sticks
    slope: float = 1.5  #: 1/s: velocity per distance at the end of the approach
    slowdown: float = 0.7  #: m/s^2: before that the velocity is at most sqrt(slowdown * distance), which it can follow
    deceleration: float = 1.2  #: m/s^2: of braking, for where it would come to rest
    brake_within: float = 0.25  #: m: it brakes no farther away than this
    brake_error: float = 0.05  #: m: as soon as it would come to rest so near
    leave: float = 0.08  #: m: farther away than this after a stop it goes on; nearer, a slow ball is braked
    resume: float = 0.10  #: m: a braking ball that would come to rest farther away goes on at once
    fast: float = 0.2  #: m/s: faster than this it goes on beyond `brake_error` already, while it has its speed
    rest_speed: float = 0.1  #: m/s: slower than this for `rest_time` it has stopped; it may still tremble between gores
    rest_time: float = 0.1  #: s


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
        R_odom_heading = rotation_2d(pose[2])
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
        rest = ahead - velocity * speed / (2.0 * config.deceleration)  # from where braking would end to the goal
        error = float(np.hypot(*rest))
        if self._braking:
            near = config.brake_error if speed > config.fast else config.resume
            self._braking = self.arrived or (not at_rest and error <= near)
        else:
            near = config.brake_error if speed > config.fast else config.leave
            self._braking = distance < config.brake_within and error < near
        if self._braking:  # zero: the gores shut, and what they still move is seen before it has arrived
            return np.zeros(2)
        towards = ahead / max(distance, 1e-9)
        slowed = math.sqrt(config.slowdown * distance)
        return towards * min(config.speed, slowed, max(config.slope * distance, config.least_speed))
