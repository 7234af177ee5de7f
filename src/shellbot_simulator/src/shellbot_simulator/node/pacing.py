# SPDX-License-Identifier: MIT
"""Keeping simulated time in step with the wall clock, and measuring how well."""

from __future__ import annotations

import collections
import math
from typing import Deque, Tuple

from shellbot_common import TICK

_MAX_LAG = 0.2  # s of wall time that the schedule may be behind before the rest is given up
_WINDOW = 2.0  # s of wall time over which the factor is measured
_SHORTEST = 1.0  # s of wall time below which one late tick would count for too much


class Pacer:
    """An absolute schedule of ticks: no drift, and lateness is caught up only as far as `_MAX_LAG`.

    The wall clock is passed in (s, any origin), so that it can be tested without waiting.

    Parameters
    ----------
    rtf : float
        Wanted real-time factor; 0 means as fast as possible.
    """

    def __init__(self, rtf: float) -> None:
        self.rtf = rtf
        self._next = -math.inf  # wall time of the next tick

    def restart(self, now: float) -> None:
        """Begin a new schedule at `now`: after a pause or a long wait nothing is to be caught up."""
        self._next = now

    def delay(self, now: float, at_most_real_time: bool) -> float:
        """Return how long to sleep until the next tick is due, s.

        Parameters
        ----------
        now : float
            Wall time, s.
        at_most_real_time : bool
            Whether a factor above 1 (or 0) is to be taken as 1 for now.
        """
        return max(0.0, self._next - now) if self._factor(at_most_real_time) else 0.0

    def ticked(self, now: float, at_most_real_time: bool) -> None:
        """Tell that a tick has begun at `now`, s; sets the time of the next."""
        factor = self._factor(at_most_real_time)
        if not factor:
            self._next = now
            return
        self._next = max(self._next, now - _MAX_LAG) + TICK / factor

    def _factor(self, at_most_real_time: bool) -> float:
        if at_most_real_time:
            return min(self.rtf, 1.0) if self.rtf else 1.0
        return self.rtf


class RateMeter:
    """The real-time factor over the last seconds of wall time, however few ticks they had; begin anew after a pause."""

    def __init__(self) -> None:
        self._samples: Deque[Tuple[float, int]] = collections.deque()
        self._ticks = 0

    def ticked(self, now: float) -> None:
        """Count a tick at wall time `now`, s."""
        self._ticks += 1
        if not self._samples or now - self._samples[-1][0] >= 0.1:
            self._samples.append((now, self._ticks))
        while len(self._samples) > 1 and now - self._samples[1][0] >= _WINDOW:
            self._samples.popleft()

    def factor(self, now: float) -> float:
        """Return simulated over wall time in the window; not a number while that is too short to measure it."""
        if not self._samples or now - self._samples[0][0] < _SHORTEST:
            return math.nan
        start, ticks = self._samples[0]
        return (self._ticks - ticks) * TICK / (now - start)
