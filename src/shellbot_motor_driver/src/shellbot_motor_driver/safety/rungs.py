# SPDX-License-Identifier: MIT
"""The steps of the ladder that are in force, and the words about everything that happens."""

from __future__ import annotations

from typing import Dict, List, Tuple

from shellbot_common import Level, Notice
from shellbot_motor_driver.safety.ladder import Ladder, Phase, Reaction, Rung

_MOST_NOTICES = 200  # if they are not fetched
_LEVELS = {Reaction.NONE: Level.INFO, Reaction.WARN: Level.WARN, Reaction.DERATE: Level.WARN}


class Rungs:
    """Set and clear steps; every change is reported once.

    Attributes
    ----------
    version : int
        Grows with every change.
    """

    def __init__(self) -> None:
        self._rungs: Dict[str, Rung] = {}
        self._notices: List[Notice] = []
        self.version = 0
        self._ladder = Ladder()
        self._shown: Tuple[int, Phase, float] = (-1, Phase.CLOSED, 0.0)

    def say(self, key: str, level: Level, text: str) -> None:
        """Note something for the operator."""
        self._notices.append(Notice(key, level, text))
        del self._notices[:-_MOST_NOTICES]

    def take_notices(self) -> Tuple[Notice, ...]:
        """Return and clear the notices."""
        taken, self._notices = tuple(self._notices), []
        return taken

    def set(self, key: str, reaction: Reaction, text: str, latched: bool, now: float) -> None:
        """Put a step in force; reported if it is new, or its reaction or text differs."""
        old = self._rungs.get(key)
        if old is not None and (old.reaction, old.text, old.latched) == (reaction, text, latched):
            return
        self._rungs[key] = Rung(key, reaction, old.since if old is not None else now, latched, text)
        self.version += 1
        self.say(key, _LEVELS.get(reaction, Level.ERROR), text)

    def clear(self, key: str, text: str = "") -> None:
        """End a step; ``text`` is reported if it was in force."""
        if self._rungs.pop(key, None) is not None:
            self.version += 1
            if text:
                self.say(key, Level.INFO, text)

    def get(self, key: str) -> Rung:
        """Return the step of a key, or one that demands nothing."""
        return self._rungs.get(key, _NOTHING)

    def __contains__(self, key: object) -> bool:
        return key in self._rungs

    @property
    def reaction(self) -> Reaction:
        """The greatest demand."""
        return max((rung.reaction for rung in self._rungs.values()), default=Reaction.NONE)

    @property
    def all(self) -> Tuple[Rung, ...]:
        """All in force, the gravest first, of equal ones the older."""
        return tuple(sorted(self._rungs.values(), key=lambda rung: (-rung.reaction, rung.since)))

    @property
    def latched(self) -> Tuple[Rung, ...]:
        """Those that wait for rearming."""
        return tuple(rung for rung in self.all if rung.latched)

    def ladder(self, phase: Phase, torque_fraction: float) -> Ladder:
        """Return where the ladder stands; the same object until it changes.

        Parameters
        ----------
        phase : Phase
            What the robot does.
        torque_fraction : float
            The greatest torque limit of a servo, 0 to 1.
        """
        fraction = round(torque_fraction, 2)
        shown = (self.version, phase, fraction)
        if shown != self._shown:
            self._shown, steps = shown, self.all
            waits = any(rung.latched and rung.reaction >= Reaction.HOLD for rung in steps)
            self._ladder = Ladder(phase, self.reaction, steps, fraction, waits, steps[0].text if steps else "")
        return self._ladder


_NOTHING = Rung("", Reaction.NONE, 0.0, False, "")
