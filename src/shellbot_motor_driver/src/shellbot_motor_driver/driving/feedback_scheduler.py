# SPDX-License-Identifier: MIT
"""How many servos can be read in a tick, and which: from the round trips that are measured, never from hopes."""

from __future__ import annotations

from collections import deque
from typing import Deque, List, Sequence

from ax_bus.statistics import percentile
from shellbot_motor_driver.driving.driver_config import Tick

_KEPT = 256  # READs: a fifth of a second at the rates of a UART
_RENEW = 8  # READs between two looks at the percentile
_BOOL = (False, True)
_CONVINCED = 4  # slow replies in a row that make it so
_DOUBT = 3  # misses of the whole bus in a row that were cut short, after which the link itself may have become slow


class _Cost:
    """What 50 and 95 of 100 READs of one kind keep, s; NaN while too few were measured."""

    def __init__(self, kept: int) -> None:
        self._values: Deque[float] = deque(maxlen=kept)
        self._since = 0
        self.p50 = self.p95 = float("nan")

    def extend(self, values: Sequence[float]) -> None:
        self._values.extend(values)
        self.p50, self.p95 = percentile(self._values, 50), percentile(self._values, 95)

    def record(self, value: float) -> None:
        self._values.append(value)
        self._since += 1
        if self._since >= _RENEW:
            self._since = 0
            self.p50, self.p95 = percentile(self._values, 50), percentile(self._values, 95)

    def clear(self) -> None:
        self._values.clear()
        self._since = 0
        self.p50 = self.p95 = float("nan")


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
        What 95 of 100 READs of the feedback keep, s, but for the first of a tick.
    booked : float
        Share of the tick booked so far.
    is_forced : bool
        Whether the first READ of the last plan may be longer than the tick has room for. If every other is, its turn
        comes after the ticks whose room it takes (`is_slow`); if only some are, it is made in each tick, and cut short.
    is_patient : bool
        Whether what was measured is in doubt, because nobody answered in time: READs are given, and booked with, their
        whole time-out until one is answered.
    """

    def __init__(self, servos: int, config: Tick, guess: float) -> None:
        self._servos, self._config = servos, config
        # An adapter with a latency timer makes the first READ of a tick wait longer than those after it, which begin
        # when the timer has just run out, and hides that a check is longer: so each kind has its own figure.
        self._costs = {
            (first, check): _Cost(_KEPT if not first and not check else 64) for first in _BOOL for check in _BOOL
        }
        self._guess = guess
        self._turn = 0
        self._credit = 0.0
        self.booked = 0.0
        self.is_forced = self.is_patient = False
        self._cut = self._slow = 0

    @property
    def p95(self) -> float:
        """What 95 of 100 READs of the feedback keep, s, but for the first of a tick."""
        return self._known(False, False, self._known(True, False, self._guess))

    @property
    def _p50_first(self) -> float:
        found = self._costs[True, False].p50
        return found if found == found else self._known(True, False, self.p95)

    def seed(self, costs: Sequence[float]) -> None:
        """Begin with round trips that were measured before the first tick, s."""
        if costs:
            self._costs[False, False].extend(costs)

    def _known(self, is_first: bool, is_check: bool, otherwise: float) -> float:
        found = self._costs[is_first, is_check].p95
        return found if found == found else otherwise

    @property
    def is_slow(self) -> bool:
        """Whether a READ may need the whole tick: then none is cut short."""
        return self.is_patient or self._p50_first > self._config.booked_share * self._config.period

    def missed(self) -> None:
        """Note a READ whose wait was cut short at the tick's end."""
        self._cut += 1
        self.is_patient = self.is_patient or self._cut >= _DOUBT

    def expect(self, is_first: bool, is_check: bool = False, extra: float = 0.0, timeout: float = 0.0) -> float:
        """Return what to book for a READ, s.

        Parameters
        ----------
        is_first : bool
            Whether it is the first of its tick.
        is_check : bool
            Whether the settings are read, too.
        extra : float
            s that these take on the wire.
        timeout : float
            s that a READ without an answer takes.
        """
        cost = self.p95
        if is_first:
            cost = self._known(True, False, cost)
        if is_check:
            cost = self._known(is_first, True, cost + extra)
        return max(cost, timeout + extra) if self.is_patient else cost

    def record(self, cost: float, is_first: bool = False, is_check: bool = False) -> None:
        """Note what a READ took, s."""
        self._cut = 0
        if self.is_patient:
            is_slow = cost > self._config.booked_share * self._config.period
            self._slow = self._slow + 1 if is_slow else 0
            self.is_patient = 0 < self._slow < _CONVINCED
            if self._slow >= _CONVINCED:  # the link has become slower, no mere stall: what was measured before is void
                for kind in self._costs.values():
                    kind.clear()
                self._guess, self._slow = cost, 0
        self._costs[is_first, is_check].record(cost)

    def plan(self, sending: float, extra: float, timeout: float = 0.0) -> int:
        """Return how many READs the tick has room for.

        Parameters
        ----------
        sending : float
            s of the tick that sending the goals takes.
        extra : float
            s that checks take beyond READs of the feedback.
        timeout : float
            s that a READ without an answer takes.
        """
        first, cost = self.expect(True, timeout=timeout), self.expect(False, timeout=timeout)
        period = self._config.period
        room = self._config.booked_share * period - sending - extra
        count = 0 if room < first else self._servos if cost <= 0.0 else 1 + int((room - first) / cost + 1e-9)
        count = min(self._servos, count)
        self.is_forced = False
        if count:
            self._credit = 0.0
        elif not self.is_patient and room >= self._p50_first:  # slow now and then: a shared machine, its emulator
            self.is_forced, self._credit, count = True, 0.0, self._servos
        else:  # a link so slow that a READ does not fit: one now and then is better than to be blind
            self._credit += max(room, 0.0)
            self.is_forced = self._credit >= first
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
