# SPDX-License-Identifier: MIT
"""Joints of a ball that the ground holds up: their servos press with all their torque for a limited time only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Mapping

import numpy as np

from shellbot_action_manager.body.limbs import LimbCommand, LimbCommands, LimbGroup
from shellbot_action_manager.body.unhook import GORE_RATE
from shellbot_action_manager.errors import ConfigError
from shellbot_common import Settings, number

_FREE = 1.5  # rad by which a command may be ahead of a joint that is not held up: more than any is
_MOVED = 0.05  # rad: a joint that moved by this much is not held up


@dataclass(frozen=True)
class YieldingConfig(Settings, error=ConfigError):
    """When a joint is held up, and how it is commanded then; meaning in `config/rolling.yaml`."""

    behind: float = number(0.01, 1.0, "rad")
    after: float = number(0.0, 10.0, "s")
    relief: float = number(0.0, 10.0, "s")
    lead: float = number(0.01, 1.0, "rad")

    def conflict(self) -> str:
        """Refuse a lead with which a joint would never be held up less."""
        return "" if self.lead <= self.behind else f"lead is {self.lead}; give at most behind, {self.behind}"


class Yielding:
    """Commands a joint that is held up no farther from where it is than its servo can bear for long, in turns.

    A servo that gives all its torque without moving switches itself off after some seconds (overload). In between it is
    pressed again: what has hooked may come free.

    Parameters
    ----------
    config : YieldingConfig
        When, and how far.
    groups : mapping of str to LimbGroup
        Of the robot.
    """

    def __init__(self, config: YieldingConfig, groups: Mapping[str, LimbGroup]) -> None:
        self._config, self._groups = config, groups
        self.reset()

    def reset(self) -> None:
        """Begin with joints that are free."""
        shapes = {name: group.columns.shape[:2] for name, group in self._groups.items()}
        self._held = {name: np.zeros(shape) for name, shape in shapes.items()}  # s
        self._place = {name: np.full(shape, np.inf) for name, shape in shapes.items()}  # where it was held up, rad
        self._reach = {name: np.full(shape, _FREE) for name, shape in shapes.items()}  # rad

    def step(self, dt: float, limbs: LimbCommands, q: np.ndarray) -> Dict[str, LimbCommand]:
        """Return what to command in a tick.

        Parameters
        ----------
        dt : float
            s.
        limbs : mapping of str to LimbCommand
            What is to be commanded.
        q : (n,) array
            All driven joints, rad.
        """
        config, yielded = self._config, {}
        for name, command in limbs.items():
            measured = self._groups[name].measured(q)
            moved = np.abs(measured - self._place[name]) > _MOVED
            self._place[name] = np.where(moved, measured, self._place[name])
            behind = (np.abs(command.q - measured) > config.behind) & ~moved
            self._held[name] = np.where(behind, self._held[name] + dt, 0.0)
            yields = self._held[name] % (config.after + config.relief) > config.after
            goal = np.where(yields, config.lead, _FREE)
            change = np.clip(goal - self._reach[name], -GORE_RATE * dt, GORE_RATE * dt)
            reach = self._reach[name] = self._reach[name] + change
            yielded[name] = LimbCommand(np.clip(command.q, measured - reach, measured + reach))
        return yielded
