# SPDX-License-Identifier: MIT
"""Where the safety ladder stands: phases, reactions, rungs. All frozen."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Optional, Tuple


class Phase(IntEnum):
    """What the robot does."""

    STARTING = 0  # torque comes up, joints hold where they are
    WAITING = 1  # holds, no targets yet
    FOLLOWING = 2  # follows the targets
    HOLDING = 3  # holds the last command
    SITTING = 4  # on the way to the pose "sit"
    SAT = 5  # sits, torque on
    OFF = 6  # torque off
    BUS_DOWN = 7  # no servo answers or is reached
    CLOSED = 8  # shut down


class Reaction(IntEnum):
    """What a rung of the ladder demands; the greatest of all rungs is done."""

    NONE = 0
    WARN = 1
    DERATE = 2  # less torque
    HOLD = 3
    SIT = 4
    SIT_AND_OFF = 5
    OFF = 6


class Rung(NamedTuple):
    """One step of the ladder that is in force."""

    #: ``setpoint``, ``targets``, ``servo_lost``, ``without``, ``bus_down``,
    #: ``heat``, ``heat_shutdown``, ``overload``, ``voltage``,
    #: ``emergency_stop``, ``torque_off``, ``restarted``
    key: str
    reaction: Reaction  #: What it demands
    since: float  #: Port's time, s
    latched: bool  #: Whether only `MotorDriver.rearm` ends it
    text: str  #: Why, and what to do


@dataclass(frozen=True)
class Ladder:
    """Where the safety ladder stands."""

    phase: Phase = Phase.STARTING  #: What the robot does
    reaction: Reaction = Reaction.NONE  #: The greatest of the rungs' demands
    rungs: Tuple[Rung, ...] = ()  #: All in force, the gravest first
    torque_fraction: float = 0.0  #: Torque limit of the whole robot, 0 to 1 (single legs may have less)
    needs_rearm: bool = False  #: Whether motion waits for `MotorDriver.rearm`
    text: str = ""  #: One sentence for the operator; empty while all is well

    @property
    def may_move(self) -> bool:
        """Whether targets are followed, or will be as soon as they come; if not, walking must stop."""
        return self.phase in (Phase.WAITING, Phase.FOLLOWING)

    def rung(self, key: str) -> Optional[Rung]:
        """Return the rung of a key, or None."""
        return next((rung for rung in self.rungs if rung.key == key), None)
