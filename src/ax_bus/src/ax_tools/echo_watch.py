# SPDX-License-Identifier: MIT
"""Notice that the wiring began to give back what is sent, and say so in words."""

from __future__ import annotations

from ax_bus.bus import Bus

_RECENT = 5.0  # s after the last echo in which it counts as present


class EchoWatch:
    """Watch the bus's count of own packets that came back although they should not.

    Parameters
    ----------
    bus : Bus
        The bus; echoes before this moment do not count.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._start = bus.port.now()
        self._before = self._seen = bus.statistics.unexpected_echoes
        self._first = self._last = 0.0

    def look(self) -> str:
        """Return a sentence if what is sent came back within the last seconds, else nothing."""
        text = self.summary()
        return text if self._bus.port.now() - self._last <= _RECENT else ""

    def summary(self) -> str:
        """Return a sentence if what is sent has come back at all since the watch began, else nothing."""
        count = self._bus.statistics.unexpected_echoes
        if count > self._seen:
            now = self._bus.port.now()
            self._first = self._first if self._seen > self._before else now
            self._seen, self._last = count, now
        if count == self._before:
            return ""
        return (
            f"echo from {self._first - self._start:.1f} s on, {count - self._before} packets: what is sent comes back. "
            "Replies are still recognised, but direction control fails: check its wiring, or use --direction echo"
        )
