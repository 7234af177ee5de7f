# SPDX-License-Identifier: MIT
"""Which legs cannot be walked with, by the states of their servos."""

from __future__ import annotations

import re
from typing import Dict, Iterable, Tuple

_LEG = re.compile(r"lower_([1-6])_(?:coxa|femur|tibia)")
_SILENT = 1.0  # s without an answer after which a servo counts as dead
_DEAD_FOR = 1.0  # s that a servo is dead before its leg is lost: one that was overloaded may come back sooner
_ALIVE_FOR = 2.0  # s that all of a leg's servos are alive before it is walked with again
_MOST_LEGS = 2  # with more legs dead it is the bus, or the torque was switched off: what was lost before stays so


class LostServos:
    """Watches the servos of the lower legs."""

    def __init__(self) -> None:
        self._changed: Dict[int, Tuple[bool, float]] = {}  # leg: whether it is dead, and since when
        self._lost: Tuple[int, ...] = ()

    def update(self, t: float, servos: Iterable[Tuple[str, float, bool]]) -> Tuple[int, ...]:
        """Return the numbers of the legs that are lost now.

        Parameters
        ----------
        t : float
            Time of the states, s.
        servos : iterable of (str, float, bool)
            Joint, s since its servo answered, whether it has torque.
        """
        legs: Dict[int, bool] = {}
        for joint, age, has_torque in servos:
            match = _LEG.fullmatch(joint)
            if match:
                legs[int(match[1])] = legs.get(int(match[1]), False) or age > _SILENT or not has_torque
        if sum(legs.values()) > _MOST_LEGS:
            self._changed.clear()
            return self._lost
        lost = set(self._lost)
        for leg, is_dead in legs.items():
            before, since = self._changed.get(leg, (False, t))
            if is_dead != before or t < since:
                since = t
            self._changed[leg] = (is_dead, since)
            if is_dead and t - since >= _DEAD_FOR:
                lost.add(leg)
            elif not is_dead and t - since >= _ALIVE_FOR:
                lost.discard(leg)
        self._lost = tuple(sorted(lost))
        return self._lost
