# SPDX-License-Identifier: MIT
"""Walking without a leg: the body leans away from it and rises, its foot is held in the air."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

import numpy as np

from shellbot_action_manager.errors import ConfigError
from shellbot_action_manager.gait.walking import LEG_AZIMUTH
from shellbot_common import Settings, number


@dataclass(frozen=True)
class LimpConfig(Settings, error=ConfigError):
    """How the robot walks on five legs; units and meaning in `config/action_manager.yaml`."""

    gait: str
    lean: float = number(0.0, 0.1, "m")
    rise: float = number(0.0, 0.05, "m")
    lift: float = number(0.0, 0.1, "m")
    foot_velocity: float = number(0.01, 1.0, "m/s")


class LostLegs:
    """Which legs are not walked with, and where their feet are held.

    A leg is idle from when it is lost until its foot stands again after it was given back. An idle foot moves with the
    body, not with the ground.

    Parameters
    ----------
    config : LimpConfig
        Lean and lift.
    """

    def __init__(self, config: LimpConfig) -> None:
        self._config = config
        self.lost = np.zeros(6, dtype=bool)  #: (6,)
        self._lifted = False
        self.start()

    def start(self) -> None:
        """Begin with every foot where it stands."""
        self.idle = np.zeros(6, dtype=bool)  #: (6,)
        self.any_idle = False  #: Whether there is one
        self._landed = self.idle  # those that are no longer idle from the next tick on

    @property
    def ready(self) -> bool:
        """Whether the robot may walk: every idle leg is lost, and off the ground."""
        return not self.any_idle or (self._lifted and bool((self.idle == self.lost).all()))

    @property
    def lean(self) -> np.ndarray:
        """Body pose (6,) to add: away from the idle legs, and up, so that a foot that cannot be lifted hovers."""
        pose = np.zeros(6)
        if self.any_idle:
            pose[0] = -self._config.lean * np.cos(LEG_AZIMUTH[self.idle]).sum()
            pose[1] = -self._config.lean * np.sin(LEG_AZIMUTH[self.idle]).sum()
            pose[2] = self._config.rise
        return pose

    def lose(self, lost: np.ndarray) -> None:
        """Take note of which legs (6,) are lost in this tick."""
        self.lost = lost
        self.idle = self.idle & ~self._landed | lost
        self.any_idle = bool(self.idle.any())

    def step(
        self,
        dt: float,
        p_feet: np.ndarray,
        rest: np.ndarray,
        lifts: bool,
        within_reach: Callable[[np.ndarray], np.ndarray],
    ) -> np.ndarray:
        """Return the feet (6, 3) in W, those of idle legs moved on.

        Parameters
        ----------
        dt : float
            s.
        p_feet : (6, 3) array
            In W, those of idle legs as they were at the tick before, m.
        rest : (6, 2) array
            Where feet stand at rest, m.
        lifts : bool
            Whether the other legs can do without the idle ones now; otherwise these stay where they are.
        within_reach : callable
            Which legs (6,) reach feet (6, 3) in W; a foot that cannot go on to where it is held stays where it is.
        """
        if not self.any_idle or not lifts:
            return p_feet
        feet, farthest = p_feet.copy(), self._config.foot_velocity * dt
        goals = np.hstack((rest, np.where(self.lost, self._config.lift, 0.0)[:, None]))
        path = goals - p_feet
        distance = np.linalg.norm(path, axis=1)
        part = np.minimum(farthest / np.maximum(distance, 1e-9), 1.0)
        feet[self.idle] = (p_feet + part[:, None] * path)[self.idle]
        free = within_reach(feet)
        feet[~free] = p_feet[~free]
        arrived = np.where(self.lost, (distance <= farthest) | ~free, (distance <= farthest) & free)
        self._lifted = bool(arrived[self.idle & self.lost].all())
        self._landed = self.idle & arrived & ~self.lost
        return feet
