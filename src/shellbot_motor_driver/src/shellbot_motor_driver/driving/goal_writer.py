# SPDX-License-Identifier: MIT
"""Goals of every tick: with moving speeds while these are in doubt, without while all servos are seen to hold them."""

from __future__ import annotations

import functools
from typing import Optional, Sequence, Tuple

import numpy as np

from ax_bus.bus import Bus
from ax_bus.sync_writer import SyncWriter

Array = np.ndarray
_GOAL = 30  # registers 30 and 31, moving speed is 32 and 33
_UNKNOWN = -1
_CACHED = 32  # combinations of servos whose packets are kept ready


class GoalWriter:
    """SYNC WRITE goals, with moving speeds while any servo may not hold the commanded one.

    A speed counts as held only once a READ of the servo's settings, sent after the speed was last written, has returned
    it. Until then the speed of a servo that missed a reply, was brought back, or had its speed written otherwise is
    unknown (`doubt`). While one addressed servo's speed is unknown, speeds go to all.

    Parameters
    ----------
    bus : Bus
        Where.
    servo_ids : sequence of int
        All n servos.
    interval : float
        s after which speeds are sent at the latest, even if all are known; 0: with every goal.
    """

    def __init__(self, bus: Bus, servo_ids: Sequence[int], interval: float) -> None:
        self._bus, self._ids, self._interval = bus, tuple(servo_ids), interval
        self._held = np.full(len(self._ids), _UNKNOWN)
        self._due = -np.inf
        self._writer = functools.lru_cache(maxsize=_CACHED)(self._new_writer)

    def doubt(self, indices: Optional[Sequence[int]] = None) -> None:
        """Count the speeds of servos as unknown; by default of all."""
        self._held[slice(None) if indices is None else list(indices)] = _UNKNOWN

    def note_speed(self, index: int, speed: int) -> None:
        """Note the moving speed read from a servo, register value."""
        self._held[index] = speed

    def send(self, goals: Array, speeds: Array, indices: Tuple[int, ...], now: float) -> None:
        """Send.

        Parameters
        ----------
        goals, speeds : (n,) array of int
            Goal position and moving speed of each servo, registers.
        indices : tuple of int
            Who gets them, at least one.
        now : float
            s.
        """
        chosen = slice(None) if len(indices) == len(self._ids) else list(indices)
        is_held = self._held[chosen] == speeds[chosen]
        if now < self._due and bool(is_held.all()):
            self._writer(indices, 1)(goals[chosen])
            return
        # the speed that a servo was last read to hold is void once another is commanded
        self._held[chosen] = np.where(is_held, self._held[chosen], _UNKNOWN)
        self._due = now + self._interval
        self._writer(indices, 2)(np.stack((goals, speeds), axis=1)[chosen])

    def _new_writer(self, indices: Tuple[int, ...], words: int) -> SyncWriter:
        return SyncWriter(self._bus, _GOAL, [self._ids[i] for i in indices], words)
