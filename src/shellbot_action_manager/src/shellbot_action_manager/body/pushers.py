# SPDX-License-Identifier: MIT
"""How gores push a ball over the ground: those behind the contact point open, as far as the push asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

import numpy as np

from shellbot_action_manager.errors import ConfigError
from shellbot_common import Settings, number

Pair = Tuple[float, float]


@dataclass(frozen=True)
class PusherConfig(Settings, error=ConfigError):
    """The pushers of the gores; units and meaning in `config/rolling.yaml`."""

    latitude: Pair = number(0.0, 1.5, "rad", ordered=True)
    lower_equator: Pair = number(-1.5, 1.5, "rad")
    lower_pole: Pair = number(-1.5, 1.5, "rad")
    upper_equator: Pair = number(-1.5, 1.5, "rad")
    upper_pole: Pair = number(-1.5, 1.5, "rad")
    window: Pair = number(0.0, 3.0, "rad", ordered=True)
    edge: float = number(0.05, 2.0, "rad")
    lead: float = number(0.0, 0.3, "s")
    exponent: float = number(0.1, 4.0)
    start_weights: Tuple[float, float, float, float] = number(0.0, 1.0, "m")


class Pushers:
    """Offsets of the closed ball's joints under which it is pushed in a direction.

    Parameters
    ----------
    config : PusherConfig
        Places of the pushers, window and offsets.
    azimuth_lower, azimuth_upper : (6,) array
        Of the middle of each gore in base_link when the ball is closed, rad.

    Notes
    -----
    A pusher in the direction d of the body is, `lead` s from now, at p = exp(omega x lead) R d in the world, beta =
    acos(-p_z) from straight down. It is on while beta is in the window, in proportion to cos^n of the angle between
    its horizontal direction and the push. Law of the study of closing and rolling, 24 pushers.
    """

    def __init__(self, config: PusherConfig, azimuth_lower: np.ndarray, azimuth_upper: np.ndarray) -> None:
        self._config = config
        equator, pole = config.latitude
        directions = []
        for azimuth, sign in ((azimuth_lower, -1.0), (azimuth_upper, 1.0)):
            for latitude in (equator, pole):
                across, z = np.cos(latitude), np.full(6, sign * np.sin(latitude))
                directions.append(np.stack((across * np.cos(azimuth), across * np.sin(azimuth), z), axis=1))
        self._d_base = np.concatenate(directions)  # (24, 3)
        pairs = (config.lower_equator, config.lower_pole, config.upper_equator, config.upper_pole)
        self._offsets = np.array(pairs)  # (4, 2)

    def offsets(self, R_world_base: np.ndarray, omega_world: np.ndarray, push: np.ndarray) -> np.ndarray:
        """Return the offsets (6, 4) of femur, tibia, shoulder and shell, rad.

        Parameters
        ----------
        R_world_base : (3, 3) array
            Attitude.
        omega_world : (3,) array
            rad/s.
        push : (2,) array
            Direction and fraction of the push, length 0 to 1.
        """
        strength = float(np.hypot(*push))
        if strength < 1e-6:
            return np.zeros((6, 4))
        active = self._active(R_world_base, omega_world, push / strength, strength)
        by_gore = active[:, :, None] * self._offsets[:, None, :]  # (4 kinds, 6 gores, 2 joints)
        return np.hstack((by_gore[0] + by_gore[1], by_gore[2] + by_gore[3]))

    def start_distance(self, R_world_base: np.ndarray, direction: np.ndarray) -> float:
        """Return about how far a full push moves a ball at rest in its first 0.4 s, m; zero is where it stays.

        Parameters
        ----------
        R_world_base : (3, 3) array
            Attitude.
        direction : (2,) array
            Of the push, length 1.

        Notes
        -----
        Of each kind of pusher only the one that acts most counts. The weights are a linear fit to what simulated balls
        did (docs/ball.md).
        """
        active = self._active(R_world_base, np.zeros(3), direction, 1.0)
        return float(np.dot(self._config.start_weights, active.max(axis=1)))

    def _active(
        self, R_world_base: np.ndarray, omega_world: np.ndarray, direction: np.ndarray, strength: float
    ) -> np.ndarray:
        """Return how far each pusher is on, (4 kinds, 6 gores), 0 to 1."""
        config = self._config
        p = self._d_base @ R_world_base.T
        p = p + config.lead * np.cross(omega_world, p)
        p /= np.linalg.norm(p, axis=1, keepdims=True)
        low, high = config.window
        beta, level = np.arccos(np.clip(-p[:, 2], -1.0, 1.0)), np.maximum(np.hypot(p[:, 0], p[:, 1]), 1e-9)
        along = -(p[:, :2] @ direction) / level
        half = 0.5 * config.edge
        window = _smooth((beta - low + half) / config.edge) * _smooth((high + half - beta) / config.edge)
        active = window * np.minimum(strength * np.maximum(along, 0.0) ** config.exponent, 1.0)
        return active.reshape(4, 6)


def _smooth(x: np.ndarray) -> np.ndarray:
    x = np.clip(x, 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)
