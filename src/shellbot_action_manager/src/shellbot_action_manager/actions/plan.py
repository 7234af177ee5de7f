# SPDX-License-Identifier: MIT
"""A planned action: parts that are played, requested, walked or jumped to, one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping, Tuple, Union

import numpy as np

from shellbot_action_manager.actions.expressions import Number
from shellbot_action_manager.actions.postures import Postures
from shellbot_action_manager.gait.walk_to import GuidedMotion
from shellbot_common import TICK

_MODE_TIME = 6.0  # s that a change of mode takes, for the progress
_WALK_TIME = 1.0  # s that a walk takes beyond its distance at its speed, for the progress


@dataclass(frozen=True)
class Performance:
    """Steps on the spot, planned: postures every `TICK`, and which step each belongs to."""

    postures: Postures
    steps: Tuple[str, ...]  #: Names
    ends: np.ndarray  #: (k,) Posture at which each step ends
    footholds: np.ndarray  #: (6, 3) Where the feet stand in W, m
    height: float  #: Of the body over them at rest, m

    @property
    def duration(self) -> float:
        """Time at full speed, s."""
        return TICK * (len(self.postures.pose) - 1)


@dataclass(frozen=True)
class ModeChange:
    """A mode that is requested."""

    steps: Tuple[str, ...]  #: Its name in the action
    mode: str

    @property
    def duration(self) -> float:
        """Time that it takes about, s."""
        return _MODE_TIME


@dataclass(frozen=True)
class Guided:
    """A walk or a turn by the odometry."""

    steps: Tuple[str, ...]  #: Its name
    motion: GuidedMotion
    gait: str  #: Empty: the one in use

    @property
    def duration(self) -> float:
        """Time that it takes about, s."""
        return self.motion.amount / self.motion.cruise + _WALK_TIME


@dataclass(frozen=True)
class ByHand:
    """A lifted foot that the operator leads."""

    steps: Tuple[str, ...]  #: Its name
    leg: int  #: 1 to 6
    posture: Postures  #: In which it begins, alone in its array
    footholds: np.ndarray  #: (6, 3) Where the feet stand in W, m
    height: float  #: Of the body over them at rest, m
    duration = 0.0


@dataclass(frozen=True)
class While:
    """Goes on with the next part if its condition holds, and else with part `end`; at most `most` times in turn."""

    condition: str
    values: Mapping[str, Number]  #: Of the parameters
    most: int
    end: int
    steps: Tuple[str, ...] = ()
    duration = 0.0


@dataclass(frozen=True)
class Again:
    """Goes on with part `begin`, a `While`."""

    begin: int
    steps: Tuple[str, ...] = ()
    duration = 0.0


Part = Union[Performance, ModeChange, Guided, ByHand, While, Again]


@dataclass(frozen=True)
class Plan:
    """A planned action."""

    name: str
    parts: Tuple[Part, ...]
    cancel: str  #: One of `library.CANCELS`
    parameters: Mapping[str, Number] = field(default_factory=dict)  #: Parameters that it was planned with
    footholds: np.ndarray = field(default_factory=lambda: np.zeros((6, 3)))  #: Where the feet stand in W at first, m
    height: float = 0.0  #: Of the body over them then, m

    @property
    def duration(self) -> float:
        """Time at full speed, what loops contain counted once, s."""
        return sum(part.duration for part in self.parts)

    @property
    def step_count(self) -> int:
        """Steps, those of loops counted once."""
        return sum(len(part.steps) for part in self.parts)

    @property
    def travels(self) -> bool:
        """Whether it walks or changes the mode, and so may end elsewhere than it began."""
        return any(isinstance(part, (Guided, ModeChange)) for part in self.parts)

    @property
    def gaits(self) -> Tuple[str, ...]:
        """Gaits of its own."""
        return tuple(part.gait for part in self.parts if isinstance(part, Guided) and part.gait)
