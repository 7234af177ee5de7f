# SPDX-License-Identifier: MIT
"""A chain whose horns are moved by another simulation's physics, stepped exactly between the bytes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, Iterable, Optional

from ax_emulator.chain import EmulatedChain
from ax_emulator.servo import EmulatedServo


class World(ABC):
    """Physics that runs in steps of fixed length on the chain's clock."""

    @property
    @abstractmethod
    def next_time(self) -> float:
        """When the next step is due, s of the chain's time."""

    @abstractmethod
    def step(self) -> None:
        """Do the step that is due."""

    def catch_up(self, time: float) -> float:
        """Skip what is too far behind ``time`` to be caught up in real time; return the s skipped, none by default."""
        return 0.0


class CoupledChain(EmulatedChain):
    """An `EmulatedChain` with a world.

    Parameters
    ----------
    servos : iterable of EmulatedServo
        As of `EmulatedChain`; the world moves their horns.
    world : World
        The physics.
    **options
        As of `EmulatedChain`.

    Attributes
    ----------
    is_paced : bool
        Whether it runs in real time: physics steps are then events to wake up for.
    most_steps : float
        Greatest number of physics steps in one `advance`; further ones stay due. In real time, physics that is slower
        than its clock would otherwise leave the servos no time to answer.
    """

    def __init__(self, servos: Iterable[EmulatedServo], world: World, **options: Any) -> None:
        super().__init__(servos, **options)
        self.world = world
        self.is_paced = False
        self.most_steps = math.inf

    def advance(self, time: float) -> None:
        """Let bytes and physics happen in the order of their times until ``time``, s."""
        if self.is_paced:
            self.world.catch_up(time)
        steps = 0
        while self.world.next_time <= time and steps < self.most_steps:
            super().advance(self.world.next_time)
            self.world.step()
            steps += 1
        super().advance(time)

    def next_time(self) -> Optional[float]:
        """Return when something happens next."""
        following = super().next_time()
        if not self.is_paced:
            return following
        return self.world.next_time if following is None else min(following, self.world.next_time)
