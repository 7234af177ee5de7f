# SPDX-License-Identifier: MIT
"""Which keys are really down: X11 reports auto-repeat as releases, a terminal reports no release at all."""

from __future__ import annotations

from typing import Dict, List, Set


class ReleaseGrace:
    """Holds a release back for a moment, because an auto-repeat is a release and a press at once.

    Qt marks such pairs, but only when both are in its queue already; the grace covers the rest.

    Parameters
    ----------
    grace : float
        s that a release waits for a press of the same key.
    """

    def __init__(self, grace: float) -> None:
        self._grace = grace
        self._down: Set[str] = set()
        self._releases: Dict[str, float] = {}

    @property
    def waiting(self) -> bool:
        """True while a release is held back."""
        return bool(self._releases)

    def has_released(self, key: str) -> bool:
        """Tell whether a release of a key is held back."""
        return key in self._releases

    def press(self, key: str) -> bool:
        """Take a press; return True when the key was really up before."""
        new = key not in self._down
        self._down.add(key)
        self._releases.pop(key, None)
        return new

    def release(self, key: str, t: float) -> None:
        """Take a release; it becomes real when `due` returns it."""
        if key in self._down:
            self._releases[key] = t + self._grace

    def due(self, t: float) -> List[str]:
        """Return the keys whose release is real by now."""
        keys = [key for key, deadline in self._releases.items() if t >= deadline]
        for key in keys:
            del self._releases[key]
            self._down.discard(key)
        return keys

    def clear(self) -> None:
        """Forget everything."""
        self._down.clear()
        self._releases.clear()


class RepeatTracker:
    """Guesses releases from a terminal's stream of repeated characters.

    A key counts as held until `first_hold` after its first character (the keyboard's repeat delay must fit in), and
    until `repeat_hold` after each further one. After `block` a key that is still repeating stays out until it pauses.

    Parameters
    ----------
    first_hold, repeat_hold : float
        s.
    """

    def __init__(self, first_hold: float, repeat_hold: float) -> None:
        self._first_hold, self._repeat_hold = first_hold, repeat_hold
        self._deadlines: Dict[str, float] = {}
        self._blocked: Dict[str, float] = {}

    def feed(self, key: str, t: float) -> bool:
        """Take a character; return True when it is a new press."""
        if key in self._blocked:
            if t <= self._blocked[key]:
                self._blocked[key] = t + self._repeat_hold
                return False
            del self._blocked[key]
        new = key not in self._deadlines
        self._deadlines[key] = max(self._deadlines.get(key, t), t + (self._first_hold if new else self._repeat_hold))
        return new

    def expired(self, t: float) -> List[str]:
        """Return the keys that count as released by now."""
        keys = [key for key, deadline in self._deadlines.items() if t > deadline]
        for key in keys:
            del self._deadlines[key]
        return keys

    def block(self, t: float) -> None:
        """Drop all held keys and ignore their repeats until they pause: after a stop."""
        for key in self._deadlines:
            self._blocked[key] = t + self._repeat_hold
        self._deadlines.clear()
