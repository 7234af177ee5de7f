# SPDX-License-Identifier: MIT
"""Heading hold: turn the feet's twist so that the IMU's yaw follows the commanded one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Optional

from shellbot_action_manager.errors import ConfigError
from shellbot_common import Settings, number
from shellbot_common.rotations import wrap_angle


@dataclass(frozen=True)
class HeadingConfig(Settings, error=ConfigError):
    """Gain and limits of the heading hold."""

    gain: float = number(0.0, 10.0, "1/s")  #: Turning rate per heading error, 1/s
    max_rate: float = number(0.0, 2.0, "rad/s")  #: Greatest correction, rad/s
    #: The commanded heading never runs ahead of the measured one by more than this, rad
    max_error: float = number(0.01, 1.5, "rad")


class HeadingHold:
    """Integrates the commanded turning rate and steers the measured yaw towards it."""

    def __init__(self, config: HeadingConfig) -> None:
        self._config = config
        self._goal: Optional[float] = None

    def reset(self) -> None:
        """Forget the heading; the next step takes the measured one."""
        self._goal = None

    def step(self, yaw: Optional[float], rate: float, dt: float) -> float:
        """Return the turning rate (rad/s) to add to the commanded one.

        Parameters
        ----------
        yaw : float or None
            Measured heading, rad; None without an IMU: no correction.
        rate : float
            Commanded turning rate, rad/s.
        dt : float
            s.
        """
        if yaw is None or not math.isfinite(yaw):
            self._goal = None
            return 0.0
        if self._goal is None:
            self._goal = yaw
        limit = self._config.max_error
        error = min(max(wrap_angle(self._goal + rate * dt - yaw), -limit), limit)
        self._goal = yaw + error
        return min(max(self._config.gain * error, -self._config.max_rate), self._config.max_rate)
