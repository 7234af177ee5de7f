# SPDX-License-Identifier: MIT
"""Counts how well the loop keeps its time."""

from __future__ import annotations

from typing import Callable, Dict, Optional

from ax_bus.statistics import BusStatistics
from shellbot_motor_driver.driving.feedback_scheduler import FeedbackScheduler
from shellbot_motor_driver.driving.timing import BusTiming, HistogramCounter

_LATE = 0.5  # periods
_SMOOTH = 0.01  # weight of a new value in the means of about a second


class LoopTimer:
    """Figures of the loop.

    Parameters
    ----------
    statistics : BusStatistics
        The bus's.
    period : float
        s of a tick.
    servos : int
        How many are read in turn.
    cpu_clock : callable, optional
        Returns CPU time, s.
    """

    def __init__(
        self, statistics: BusStatistics, period: float, servos: int, cpu_clock: Optional[Callable[[], float]]
    ) -> None:
        self._statistics, self._period, self._servos, self._cpu_clock = statistics, period, servos, cpu_clock
        self.ticks = self.late_ticks = 0
        self.lateness, self.tick_time = HistogramCounter(), HistogramCounter()
        self.round_trip, self.overhead = HistogramCounter(), HistogramCounter()
        self.reads_per_tick = self.used_fraction = self.booked_fraction = 0.0
        self.booked_overhead = self.cpu_per_tick = float("nan")
        self.feedback_hz = 0.0
        self._cpu: Optional[float] = None
        self._seen = 0

    def begin(self, lateness: float, left_out: int) -> None:
        """Note that a tick begins so late, s, and that so many before it never did."""
        self.ticks += 1
        self.lateness.add(max(lateness, 0.0))
        self.late_ticks += left_out + (lateness > _LATE * self._period)

    def end(self, duration: float, scheduler: FeedbackScheduler, reads: int) -> None:
        """Note that a tick took ``duration`` s and read so many servos."""
        self.tick_time.add(duration)
        statistics = self._statistics
        new = min(statistics.replies - self._seen, len(statistics.round_trips))
        self._seen = statistics.replies
        for k in range(-new, 0):
            self.round_trip.add(statistics.round_trips[k])
            self.overhead.add(max(statistics.overheads[k], 0.0))
        smooth = max(_SMOOTH, 1.0 / self.ticks)
        self.reads_per_tick += smooth * (reads - self.reads_per_tick)
        self.used_fraction += smooth * (duration / self._period - self.used_fraction)
        self.booked_fraction, self.booked_overhead = scheduler.booked, scheduler.overhead
        self.feedback_hz += smooth * (new / self._servos / self._period - self.feedback_hz)
        if self._cpu_clock is not None:
            cpu = self._cpu_clock()
            if self._cpu is not None:
                used = cpu - self._cpu
                first = self.cpu_per_tick != self.cpu_per_tick
                self.cpu_per_tick = used if first else self.cpu_per_tick + smooth * (used - self.cpu_per_tick)
            self._cpu = cpu

    def counters(self) -> Dict[str, int]:
        """Return the bus's counters."""
        return {name: value for name, value in vars(self._statistics).items() if type(value) is int}

    def timing(self) -> BusTiming:
        """Return the figures."""
        return BusTiming(
            self.ticks, self.late_ticks, self.lateness.frozen(), self.tick_time.frozen(), self.round_trip.frozen(),
            self.overhead.frozen(), self.reads_per_tick, self.booked_fraction, self.used_fraction, self.feedback_hz,
            self.booked_overhead, self.cpu_per_tick, self.counters(),
        )  # fmt: skip
