# SPDX-License-Identifier: MIT
"""How many servos can be read in a tick, and which: from the round trips that are measured, never from hopes."""

from __future__ import annotations

from collections import deque
from typing import Deque, List, Sequence

from shellbot_motor_driver.driver_config import Tick
from shellbot_motor_driver.statistics import percentile

_KEPT = 256  # READs: a fifth of a second at the rates of a UART
_RENEW = 16  # READs between two looks at the percentile


class FeedbackScheduler:
    """Plan READs.

    Parameters
    ----------
    servos : int
        How many there are.
    config : Tick
        Shares of the tick.
    guess : float
        s of a READ before anything was measured.

    Attributes
    ----------
    p95 : float
        What 95 of 100 READs of the feedback keep, s.
    booked : float
        Share of the tick booked so far.
    is_forced : bool
        Whether the one READ of the last plan is longer than the tick has room for: its turn comes after the ticks whose
        room it takes.
    """

    def __init__(self, servos: int, config: Tick, guess: float) -> None:
        self._servos, self._config = servos, config
        self._costs: Deque[float] = deque(maxlen=_KEPT)
        self._since = 0
        self._turn = 0
        self._credit = 0.0
        self.p95 = guess
        self.booked = 0.0
        self.is_forced = False

    def seed(self, costs: Sequence[float]) -> None:
        """Begin with round trips that were measured before the first tick, s."""
        if costs:
            self._costs.extend(costs)
            self.p95 = percentile(self._costs, 95)

    def record(self, cost: float) -> None:
        """Note what a READ took, s."""
        self._costs.append(cost)
        self._since += 1
        if self._since >= _RENEW:
            self._since = 0
            self.p95 = percentile(self._costs, 95)

    def plan(self, sending: float, extra: float) -> int:
        """Return how many READs the tick has room for.

        Parameters
        ----------
        sending : float
            s of the tick that sending the goals takes.
        extra : float
            s that checks take beyond READs of the feedback.
        """
        period = self._config.period
        room = self._config.booked_share * period - sending - extra
        count = max(0, min(self._servos, int(room / self.p95 + 1e-9))) if self.p95 > 0.0 else self._servos
        self.is_forced = False
        if count:
            self._credit = 0.0
        else:  # a link so slow that a READ does not fit: one now and then is better than to be blind
            self._credit += max(room, 0.0)
            self.is_forced = self._credit >= self.p95
            self._credit = 0.0 if self.is_forced else self._credit
            count = int(self.is_forced)
        self.booked = sending / period
        return count

    def book(self, share: float) -> None:
        """Note up to which share of the tick bus time is booked."""
        self.booked = max(self.booked, share)

    def turns(self, candidates: Sequence[int], count: int) -> List[int]:
        """Return the next ``count`` of the servos ``candidates`` (indices, rising), in their turn."""
        if not candidates or count <= 0:
            return []
        start = next((k for k, index in enumerate(candidates) if index >= self._turn), 0)
        chosen = [candidates[(start + k) % len(candidates)] for k in range(min(count, len(candidates)))]
        return chosen

    def asked(self, index: int) -> None:
        """Note that a servo had its turn."""
        self._turn = index + 1 if index + 1 < self._servos else 0
