# SPDX-License-Identifier: MIT
"""The bus's monotonic time as stamps of the wall clock, which may be set while the robot runs."""

from __future__ import annotations

import math
import threading
from typing import Optional

from shellbot_common import GAP

# s; a wall clock that is slewed (NTP: at most 0.5 ms/s) is followed silently, one that is set by more is said
_SET = GAP


class StampClock:
    """Turn monotonic times into increasing stamps.

    Between two looks the difference of the clocks is kept, so that stamps are as even as the bus's ticks are. Any
    thread may call the methods.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._offset: Optional[float] = None
        self._last = -math.inf

    def look(self, monotonic: float, wall: float) -> str:
        """Compare the clocks, once a second or so; s.

        Returns
        -------
        str
            Message for the operator if the wall clock was set; else empty.
        """
        offset = wall - monotonic
        with self._lock:
            before, self._offset = self._offset, offset
            if before is None or abs(offset - before) < _SET:
                return ""
            self._last = -math.inf
        return (
            f"the wall clock was set by {offset - before:+.2f} s: stamps follow it, and the chain restarts from the "
            "measured joints"
        )

    def stamp(self, monotonic: float) -> float:
        """Return the stamp of a monotonic time, s of the wall clock; never less than before, unless the clock was set.

        Raises
        ------
        RuntimeError
            If `look` was never called.
        """
        with self._lock:
            if self._offset is None:
                raise RuntimeError("StampClock.look must be called before stamp")
            self._last = max(self._last, monotonic + self._offset)
            return self._last
