# SPDX-License-Identifier: MIT
"""How well the bus loop keeps its time: histograms that cost a lookup each and can be plotted at any moment."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Dict, List, Mapping, Tuple

# s; a quarter of an octave each from 1 us to 1 s: percentiles are right to 19 %
EDGES: Tuple[float, ...] = tuple(1e-6 * 2.0 ** (i / 4.0) for i in range(81))
BINS = len(EDGES) + 1


@dataclass(frozen=True)
class Histogram:
    """Counts of durations."""

    #: ``counts[i]`` lie from ``EDGES[i - 1]`` to ``EDGES[i]``; the first below ``EDGES[0]``, the last above all
    counts: Tuple[int, ...] = (0,) * BINS

    @property
    def total(self) -> int:
        """How many there were."""
        return sum(self.counts)

    def percentile(self, percent: float) -> float:
        """Return the upper edge of the bin that holds ``percent`` of all values, s; NaN if there is nothing."""
        total = self.total
        if not total:
            return float("nan")
        rank, seen = total * percent / 100.0, 0
        for i, count in enumerate(self.counts):
            seen += count
            if seen >= rank and seen:
                return EDGES[min(i, len(EDGES) - 1)]
        return EDGES[-1]

    def minus(self, earlier: Histogram) -> Histogram:
        """Return what came since ``earlier``, for a plot of the last minutes."""
        return Histogram(tuple(max(0, a - b) for a, b in zip(self.counts, earlier.counts)))


class HistogramCounter:
    """Counts durations; `frozen` gives them away."""

    def __init__(self) -> None:
        self.counts: List[int] = [0] * BINS

    def add(self, duration: float) -> None:
        """Count one, s."""
        self.counts[bisect_right(EDGES, duration)] += 1

    def frozen(self) -> Histogram:
        """Return the counts so far."""
        return Histogram(tuple(self.counts))


@dataclass(frozen=True)
class BusTiming:
    """Figures of the bus loop since its start."""

    #: ticks, late_ticks: Ticks, and those that began more than half a period late or were left out
    ticks: int = 0
    late_ticks: int = 0
    #: lateness, tick_time, round_trip, overhead: Start of a tick after it was due; from its start to its end; of a
    #: READ; of that over the wire's time. s.
    lateness: Histogram = Histogram()
    tick_time: Histogram = Histogram()
    round_trip: Histogram = Histogram()
    overhead: Histogram = Histogram()
    reads_per_tick: float = 0.0  #: READs booked for a tick
    booked_fraction: float = 0.0  #: Fraction of the tick planned as bus time, at most ``tick.booked_fraction``
    used_fraction: float = 0.0  #: Fraction of the tick used when its work ended, mean of the last second
    feedback_hz: float = 0.0  #: Valid replies per second and servo, mean of the last second
    booked_overhead: float = float("nan")  #: What the scheduler books for a READ beyond the wire's time, s
    cpu_per_tick: float = float("nan")  #: CPU time of a tick, mean of the last second, s (NaN in virtual time)
    #: Counters of the bus (`BusStatistics`): retries, timeouts, bad_checksums, stale_replies, ..
    counters: Mapping[str, int] = field(default_factory=dict)

    def figures(self) -> Dict[str, float]:
        """Return the figures as one flat mapping for diagnostics: durations in us, fractions in percent."""
        figures: Dict[str, float] = {
            "ticks": self.ticks,
            "late_ticks": self.late_ticks,
            "reads_per_tick": self.reads_per_tick,
            "booked_percent": 100.0 * self.booked_fraction,
            "used_percent": 100.0 * self.used_fraction,
            "feedback_hz": self.feedback_hz,
            "cpu_us_per_tick": 1e6 * self.cpu_per_tick,
        }
        for name in ("lateness", "tick_time", "round_trip", "overhead"):
            histogram: Histogram = getattr(self, name)
            for percent in (50.0, 99.0, 99.9):
                figures[f"{name}_us_p{percent:g}"] = 1e6 * histogram.percentile(percent)
        figures.update(self.counters)
        return figures
