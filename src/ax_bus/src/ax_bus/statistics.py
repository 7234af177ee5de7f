# SPDX-License-Identifier: MIT
"""What happened on the bus, counted."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Deque, Dict, Sequence

_WINDOW = 2048  # exchanges whose times are kept for percentiles


@dataclass
class BusStatistics:
    """Counters since the start or the last `clear`; times in s."""

    #: exchanges, replies: Instructions that expect a reply, and those that got one (retries are not counted again)
    exchanges: int = 0
    replies: int = 0
    sync_writes: int = 0  #: SYNC WRITE packets
    retries: int = 0  #: Repeated instructions
    timeouts: int = 0  #: Tries that ended without a valid reply
    #: bad_checksums, bad_lengths, foreign_ids: Candidates that were no reply to this instruction, by reason
    bad_checksums: int = 0
    bad_lengths: int = 0
    foreign_ids: int = 0
    stale_replies: int = 0  #: Whole replies that arrived after their time and were thrown away
    noise_bytes: int = 0  #: Bytes thrown away that belonged to no packet
    unexpected_echoes: int = 0  #: Own packets heard on a wiring that should not echo
    collisions: int = 0  #: Echoes that differed from what was sent
    garbled_instructions: int = 0  #: Servos that reported a wrong checksum
    fences: int = 0  #: READs sent only to tell a late reply from the next one
    round_trips: Deque[float] = field(default_factory=lambda: deque(maxlen=_WINDOW), repr=False)
    overheads: Deque[float] = field(default_factory=lambda: deque(maxlen=_WINDOW), repr=False)

    def snapshot(self) -> Dict[str, float]:
        """Return all counters, and percentiles of round trip and of overhead over wire time, in s."""
        figures: Dict[str, float] = {name: value for name, value in vars(self).items() if isinstance(value, int)}
        for name, values in (("round_trip", self.round_trips), ("overhead", self.overheads)):
            for percent in (50, 95, 99):
                figures[f"{name}_p{percent}"] = percentile(values, percent)
        return figures

    def clear(self) -> None:
        """Start from zero."""
        self.__init__()  # type: ignore[misc]


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the value that ``percent`` percent of ``values`` do not exceed; NaN if there are none."""
    if not values:
        return float("nan")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100.0))]
