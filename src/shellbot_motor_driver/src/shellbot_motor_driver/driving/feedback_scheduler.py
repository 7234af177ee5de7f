# SPDX-License-Identifier: MIT
"""Which servos are read in a tick, and how many: two rules that cannot end in silence.

1. Every tick begins with one READ, of the servo queried least recently (or, at most every other tick, of a
   suspect or lost one). So each of n servos is queried at least once in 2 n ticks, whatever was measured before. On a
   link so slow that this READ delays the next goals, ticks are left out and goals go as often as READs.
2. Another READ is made if it still ends within ``tick.booked_fraction`` of the tick when it takes what half of the last
   READs took: a host that stalls now and then does not count, one that is slow in every other READ does, in proportion.
"""

from __future__ import annotations

from collections import deque
from typing import Deque, List, Optional, Sequence

from ax_bus.statistics import percentile
from shellbot_motor_driver.driving.driver_config import Tick

_WINDOW = 32  # READs: a fiftieth of a second on a UART, a second behind a latency timer of 16 ms
_RENEW = 4  # READs between two looks at the median


class FeedbackScheduler:
    """Plan READs.

    Parameters
    ----------
    config : Tick
        Shares of the tick.
    guess : float
        s that a READ takes beyond its wire time, before anything was measured.

    Attributes
    ----------
    overhead : float
        What half of the last READs took at most beyond their wire time, s.
    booked : float
        Fraction of the tick booked until now.
    """

    def __init__(self, config: Tick, guess: float) -> None:
        self._config = config
        self._overheads: Deque[float] = deque(maxlen=_WINDOW)
        self._new = 0
        self.overhead = guess
        self.booked = 0.0
        self._led_by_urgent = False

    def begin(self, sending: float) -> None:
        """Begin a tick whose goals take ``sending`` s."""
        self.booked = sending / self._config.period

    def order(self, regular: Sequence[int], urgent: Sequence[int]) -> List[int]:
        """Return the servos in the order in which they are to be read.

        Parameters
        ----------
        regular : sequence of int
            Indices, the servo queried least recently first.
        urgent : sequence of int
            Suspect and lost ones whose time has come, the most overdue first.
        """
        leads = bool(urgent) and not (self._led_by_urgent and regular)
        self._led_by_urgent = leads
        first = list(urgent[:1]) if leads else []
        return first + list(regular) + list(urgent[len(first) :])

    def fits(self, now: float, wire: float, start: float, last_end: float) -> bool:
        """Return whether a further READ is to be made, and book it.

        Parameters
        ----------
        now : float
            When it would begin, s.
        wire : float
            s that it takes on the wire.
        start, last_end : float
            Beginning of the tick, and when the next goals must not be delayed any more, s.
        """
        end = now + wire + self.overhead
        if end > min(start + self._config.booked_fraction * self._config.period, last_end):
            return False
        self.book(end - start)
        return True

    def book(self, until: float) -> None:
        """Note bus time up to ``until`` s after the beginning of the tick; no more than its fraction."""
        self.booked = max(self.booked, min(until / self._config.period, self._config.booked_fraction))

    def cut(self, now: float, wire: float, last_end: float) -> Optional[float]:
        """Return when a READ that begins at ``now`` is given up, s; None where READs usually take longer than that."""
        return last_end if now + wire + self.overhead <= last_end else None

    def record(self, overhead: float) -> None:
        """Note what a READ took beyond its wire time, s."""
        self._overheads.append(overhead)
        self._new += 1
        if self._new >= _RENEW:
            self._new = 0
            self.overhead = percentile(self._overheads, 50)
