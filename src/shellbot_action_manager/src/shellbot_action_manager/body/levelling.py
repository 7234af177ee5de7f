# SPDX-License-Identifier: MIT
"""Keeps a body level that stands on the pole ends of its gores: each leg opens as far as the body leans its way."""

from __future__ import annotations

from typing import Optional, Tuple

import numpy as np

from shellbot_action_manager.body.transform_path import LevellingConfig
from shellbot_common.rotations import up_from_quaternion

TIBIA_PER_FEMUR = 0.5  # of a leg that opens, the tibia the other way: it stays on its pole end
_AZIMUTH = np.arange(6) * np.pi / 3.0  # of the legs, (6,) rad


class Levelling:
    """PI law on the lean of the body, one offset a leg.

    Parameters
    ----------
    config : LevellingConfig
        Gains and limits.

    Notes
    -----
    The lean of leg k is the component of "down", seen from the body, along the azimuth of its leg plane, in which the
    pole end of its gore lies. A leg that opens by the offset o has its femur at q3 - o and its tibia at q4 + o / 2.
    """

    def __init__(self, config: LevellingConfig) -> None:
        self._config = config
        self.reset()

    def reset(self) -> None:
        """Forget the integral; the offsets are zero."""
        self._integral, self.offset = np.zeros(6), np.zeros(6)

    def step(
        self,
        dt: float,
        weight: float,
        yaw: float,
        orientation: Optional[np.ndarray],
        angular_velocity: Optional[np.ndarray],
    ) -> np.ndarray:
        """Return the offsets (6,), rad, one tick later.

        Parameters
        ----------
        dt : float
            s.
        weight : float
            0: the offsets go back to zero; 1: the law.
        yaw : float
            Of the leg planes against the legs' azimuth, fan plus coxa, rad.
        orientation : (4,) array or None
            Quaternion x, y, z, w of base_link; None: the offsets stay.
        angular_velocity : (3,) array or None
            rad/s in base_link.
        """
        config, goal = self._config, self.offset
        if weight <= 0.0:
            self._integral, goal = np.zeros(6), np.zeros(6)
        elif orientation is not None:
            omega = np.zeros(3) if angular_velocity is None else np.nan_to_num(angular_velocity)
            lean, rate = leans(-up_from_quaternion(orientation), omega, yaw)
            limit = config.integral_limit
            self._integral = np.clip(self._integral + config.integral * lean * dt, -limit, limit)
            goal = np.clip(config.gain * (lean + config.damping * rate) + self._integral, *config.range) * weight
        step = config.rate * dt
        self.offset = self.offset + np.clip(goal - self.offset, -step, step)
        return self.offset


def leans(down: np.ndarray, omega: np.ndarray, yaw: float) -> Tuple[np.ndarray, np.ndarray]:
    """Return how far each leg is on the low side (6,), and how fast that grows (6,), 1/s.

    Parameters
    ----------
    down, omega : (3,) array
        Unit vector, and angular velocity, rad/s, in base_link.
    yaw : float
        Of the leg planes against the legs' azimuth, fan plus coxa, rad.
    """
    direction = np.stack((np.cos(_AZIMUTH + yaw), np.sin(_AZIMUTH + yaw)), axis=1)
    return direction @ down[:2], direction @ np.cross(down, omega)[:2]


def opened(lower: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Return joints (6, 4) with each leg opened by its offset (6,), rad."""
    changed = lower.copy()
    changed[:, 2] -= offset
    changed[:, 3] += TIBIA_PER_FEMUR * offset
    return changed
