# SPDX-License-Identifier: MIT
"""The one wire of a half-duplex bus: which node sends when, and what remains where two send at once."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import List, Optional, Tuple

HOST = -1  # the sender that is no servo


@dataclass(order=True)
class Burst:
    """Bytes on the wire without a gap."""

    end: float  #: When the last bit has passed, s
    order: int  #: Of two that end together, the first one sent
    start: float = field(compare=False)  #: When the first start bit begins, s
    data: bytes = field(compare=False)  #: As sent
    sender: int = field(compare=False)  #: Servo, or ``HOST``


class Line:
    """Bursts in flight. Overlapping bytes of two senders are wired-AND: one byte of garbage is received for both."""

    def __init__(self) -> None:
        self._flying: List[Burst] = []
        self._landed: List[Burst] = []
        self._order = 0
        self.collisions = 0

    def send(self, start: float, data: bytes, sender: int, byte_time: float) -> Burst:
        """Put bytes on the wire."""
        self._order += 1
        burst = Burst(start + len(data) * byte_time, self._order, start, data, sender)
        heapq.heappush(self._flying, burst)
        return burst

    def next_end(self) -> Optional[float]:
        """Return when the next burst ends, or None."""
        return self._flying[0].end if self._flying else None

    def land(self, time: float) -> Optional[Tuple[Burst, bytes]]:
        """Return the next burst that has ended by ``time`` and what is received of it; None if there is none."""
        if not self._flying or self._flying[0].end > time:
            return None
        burst = heapq.heappop(self._flying)
        others = [o for o in self._flying + self._landed if o.start < burst.end and o.end > burst.start]
        received = self._mix(burst, others) if others else burst.data
        oldest = min((o.start for o in self._flying), default=burst.end)
        self._landed = [o for o in self._landed if o.end > oldest] + [burst]
        return burst, received

    def _mix(self, burst: Burst, others: List[Burst]) -> bytes:
        self.collisions += 1
        byte_time = (burst.end - burst.start) / len(burst.data)
        received = bytearray()
        for i, value in enumerate(burst.data):
            begin = burst.start + i * byte_time
            end = begin + byte_time
            mine = True
            for other in others:
                other_time = (other.end - other.start) / len(other.data)
                # to a thousandth of a byte: bursts that touch do not overlap
                first = int((begin - other.start) / other_time + 1e-3)
                last = int((end - other.start) / other_time - 1e-3)
                for k in range(max(0, first), min(len(other.data) - 1, last) + 1):
                    if end - other.start <= 1e-3 * other_time:
                        continue
                    value &= other.data[k]
                    start_k = other.start + k * other_time
                    # The byte that began first is the one that is received.
                    if start_k < begin - 1e-9 or (abs(start_k - begin) <= 1e-9 and other.order < burst.order):
                        mine = False
            if mine:
                received.append(value)
        return bytes(received)
