# SPDX-License-Identifier: MIT
"""Moving speeds that go with the goals: how fast a servo may run to each."""

from __future__ import annotations

import numpy as np

from shellbot_motor_driver.driving.driver_config import Setpoint
from shellbot_motor_driver.map.servo_map import ServoMap

Array = np.ndarray


class GoalSpeeds:
    """Speeds of all servos, registers.

    Parameters
    ----------
    velocity : (n servos,) array
        Limits of their joints, rad/s.
    config : Setpoint
        Speed of sitting, headroom.

    Attributes
    ----------
    fast, slow, crawl : (n servos,) array of int
        While targets are followed; while sitting and rejoining; while joint positions are unknown and torque is
        little: what lags behind then would be made up at full speed later.
    """

    def __init__(self, servo_map: ServoMap, velocity: Array, config: Setpoint) -> None:
        n = len(servo_map.entries)
        self.fast = servo_map.to_speeds(velocity * config.speed_headroom)
        self.slow = servo_map.to_speeds(np.full(n, config.sit_speed) * config.speed_headroom)
        self.crawl = servo_map.to_speeds(np.full(n, 0.25 * config.sit_speed))

    def choose(self, is_slow: bool, is_blind_ramp: bool) -> Array:
        """Return the speeds for now."""
        return self.crawl if is_blind_ramp else self.slow if is_slow else self.fast
