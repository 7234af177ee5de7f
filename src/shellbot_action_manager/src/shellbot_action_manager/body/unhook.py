# SPDX-License-Identifier: MIT
"""Gores that hooked on their way in: the joint that came in too early goes out, then both come in again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

import numpy as np

from shellbot_action_manager.errors import ConfigError
from shellbot_common import Settings, number

GORE_RATE = 12.0  # rad/s: of a change of the command; servos turn at 10.2 at most, and the motor driver refuses jumps


@dataclass(frozen=True)
class UnhookConfig(Settings, error=ConfigError):
    """When a gore of one kind counts as hooked, and how it swings in; units and meaning in `config/transform.yaml`."""

    behind: float = number(0.05, 2.0, "rad")
    after: float = number(0.0, 5.0, "s")
    slack: float = number(0.0, 1.0, "rad")
    follows: float = number(-3.2, 3.2, "rad")
    leads: Tuple[float, float] = number(-3.2, 3.2, "rad")

    def conflict(self) -> str:
        """Refuse a leading joint that does not turn."""
        return "" if self.leads[0] != self.leads[1] else f"leads: both angles are {self.leads[0]}; give two"


class Unhook:
    """Watches the gores of one kind.

    Parameters
    ----------
    config : UnhookConfig
        Of this kind of gore.
    closed : (n,) array
        Of the joint that follows, in the closed ball, rad.
    """

    def __init__(self, config: UnhookConfig, closed: np.ndarray) -> None:
        self._config, self._closed = config, closed
        self._inwards = np.sign([closed[0] - config.follows, config.leads[1] - config.leads[0]])
        self._since = np.zeros(len(closed))  # s that each gore has been far behind
        self.begin()

    def begin(self) -> None:
        """Go on from what is commanded, without a change."""
        self._change = np.zeros((len(self._closed), 2))

    def innermost(self, lead: np.ndarray) -> np.ndarray:
        """Return how far in the joint that follows may be (n,), rad, for the angles (n,) of the one that leads."""
        start, end = self._config.leads
        free = np.clip((lead - start) / (end - start), 0.0, 1.0)
        return self._config.follows + free * (self._closed - self._config.follows)

    def step(self, dt: float, commanded: np.ndarray, measured: np.ndarray) -> np.ndarray:
        """Return what to command (n, 2), rad.

        Parameters
        ----------
        dt : float
            s.
        commanded, measured : (n, 2) array
            The joint that follows, and the one that leads, of each gore, rad.
        """
        behind = ((commanded - measured) * self._inwards).max(axis=1) > self._config.behind
        self._since = np.where(behind, self._since + dt, 0.0)
        hooked = self._since > self._config.after
        innermost = self.innermost(measured[:, 1])
        too_far_in = (commanded[:, 0] - innermost) * self._inwards[0] > 0.0
        pressed = (measured[:, 0] - innermost) * self._inwards[0] > self._config.slack
        follow = np.where(hooked & too_far_in, innermost, commanded[:, 0])
        lead = np.where(hooked & pressed, measured[:, 1], commanded[:, 1])
        change = np.stack((follow, lead), axis=1) - commanded
        self._change = self._change + np.clip(change - self._change, -GORE_RATE * dt, GORE_RATE * dt)
        return commanded + self._change
