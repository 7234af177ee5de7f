# SPDX-License-Identifier: MIT
"""An adapter between chain and host that hands over what it has only when its latency timer runs out (FTDI)."""

from __future__ import annotations

import math

from ax_emulator.chain import EmulatedChain


class LatencyTimerChain(EmulatedChain):
    """A chain behind such an adapter; parameters as of `EmulatedChain`.

    Attributes
    ----------
    frame : float
        Period of the timer, s; by default 1 ms by a crystal that is not the host's, so that ticks drift through it.
    phase : float
        When it runs out for the first time, s.
    """

    frame = 1.0007e-3
    phase = 0.0

    def _deliver(self, time: float, data: bytes) -> None:
        if data:
            frames = math.floor((time - self.phase) / self.frame) + 1
            self._inbox.append((frames * self.frame + self.phase, data))
