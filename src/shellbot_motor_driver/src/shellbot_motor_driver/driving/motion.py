# SPDX-License-Identifier: MIT
"""The commanded joint angles: never a jump, never faster than the joints can, gentle after a stop."""

from __future__ import annotations

import numpy as np

from shellbot_control import CatchUp, rate_limit
from shellbot_motor_driver.driving.driver_config import Setpoint

Array = np.ndarray


class Motion:
    """Move n joint angles.

    Parameters
    ----------
    lower, upper : (n,) array
        Limits, rad.
    max_velocity : (n,) array
        rad/s.
    config : Setpoint
        Speeds of the ways back.

    Attributes
    ----------
    position : (n,) array
        The command, rad; replaced, never changed in place.
    """

    def __init__(self, lower: Array, upper: Array, max_velocity: Array, config: Setpoint) -> None:
        self._lower, self._upper, self._max, self._config = lower, upper, max_velocity, config
        self._catch_up = CatchUp(config.catch_up_threshold, config.catch_up_speed, config.catch_up_time)
        self.reset((lower + upper) / 2.0)

    def reset(self, position: Array) -> None:
        """Stand at ``position`` from now on, (n,) rad."""
        self.position = np.array(position, dtype=np.float64)
        self._velocity = np.zeros(len(self.position))
        self.resume()

    def rebase(self, index: int, angle: float) -> None:
        """Go on from the goal that a servo has, rad: it got none for a moment, and must not make up for it in one."""
        self.position = self.position.copy()
        self.position[index] = angle

    def place(self, index: int, angle: float) -> None:
        """Take over where one joint is (its servo came back), rad; the next targets are approached slowly."""
        self.rebase(index, angle)
        self._velocity[index] = 0.0
        self.resume()

    def resume(self) -> None:
        """Let the next `follow` begin slowly if the way is long."""
        self._is_resuming = True

    def follow(self, targets: Array, dt: float) -> float:
        """Move towards ``targets``; return the longest path if a slow approach begins with this step, else 0."""
        distance = 0.0
        if self._is_resuming:
            self._is_resuming = False
            longest = float(np.abs(targets - self.position).max())
            if self._catch_up.begin(longest):
                distance = longest
        self._step(rate_limit(targets, self.position, self._catch_up.limit(self._max, dt), dt), dt)
        return distance

    def hold(self, dt: float) -> None:
        """Decelerate to a standstill, and stay."""
        self.resume()
        if not self._velocity.any():
            return
        brake = self._max / self._config.decelerate * dt
        velocity = np.sign(self._velocity) * np.maximum(np.abs(self._velocity) - brake, 0.0)
        # A joint beyond its limits (moved by hand while it was limp) stays where it is; none is carried over a limit.
        low, high = np.minimum(self._lower, self.position), np.maximum(self._upper, self.position)
        self._step(np.minimum(np.maximum(self.position + velocity * dt, low), high), dt)
        self._velocity = velocity

    def go(self, targets: Array, speed: float, dt: float) -> bool:
        """Move all joints so that they arrive together, the fastest at ``speed`` rad/s; return whether they have."""
        self.resume()
        distance = np.abs(targets - self.position)
        longest = float(distance.max())
        if longest <= 1e-6:
            self._velocity = np.zeros(len(distance))
            return True
        self._step(rate_limit(targets, self.position, np.minimum(speed * distance / longest, self._max), dt), dt)
        return False

    def _step(self, position: Array, dt: float) -> None:
        if dt > 0.0:
            self._velocity = (position - self.position) / dt
        self.position = position
