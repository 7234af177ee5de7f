# SPDX-License-Identifier: MIT
"""A port into an emulated chain, in this process and in virtual time: nothing waits, every run repeats."""

from __future__ import annotations

from ax_bus.errors import PortError, PortLostError
from ax_bus.port import Port
from ax_emulator.chain import EmulatedChain


class VirtualPort(Port):
    """The bus's port to a chain.

    Parameters
    ----------
    chain : EmulatedChain
        Who is at the other end.
    host_time : float
        s that each write and each read of the host takes: 40 us each make 80 us a READ.
    reads_trusted : bool
        As the direction control of the wiring says.
    """

    def __init__(self, chain: EmulatedChain, host_time: float = 0.0, reads_trusted: bool = True) -> None:
        self.chain = chain
        self.name = "emulated chain"
        self.echoes = chain.echoes
        self.reads_trusted = reads_trusted
        self._host_time = host_time
        self._now = chain.time
        self._is_open = True

    @property
    def baud(self) -> int:
        """Rate of the line."""
        return self.chain.baud

    def set_baud(self, baud: int) -> None:
        """Change the host's rate."""
        self.chain.baud = baud

    def write(self, data: bytes) -> None:
        """Send, beginning now."""
        self._check()
        self._now += self._host_time
        self.chain.advance(self._now)
        self.chain.transmit(self._now, data)
        stall = self.chain.faults.strike("host_stall", self._now)
        if stall is not None:
            self._now += stall.amount

    def read(self, timeout: float) -> bytes:
        """Let time pass until something arrives."""
        self._check()
        deadline = self._now + max(timeout, 0.0)
        while True:
            self.chain.advance(self._now)
            data = self.chain.take(self._now)
            if data:
                self._now += self._host_time
                return data
            following = self.chain.next_time()
            if following is None or following > deadline:
                self._now = deadline
                self.chain.advance(deadline)
                return b""
            self._now = max(self._now, following)

    def now(self) -> float:
        """Return the virtual time."""
        return self._now

    def sleep(self, duration: float) -> None:
        """Let virtual time pass."""
        self._now += max(duration, 0.0)
        self.chain.advance(self._now)

    def reopen(self) -> None:
        """Open again, if the fault is over."""
        self.chain.drop_input()
        if self.chain.faults.strike("port_error", self._now) is not None:
            raise PortError(f"{self.name} is not back yet; try again a little later")
        self._is_open = True

    def close(self) -> None:
        """Close."""
        self._is_open = False

    def _check(self) -> None:
        if self._is_open and self.chain.faults.strike("port_error", self._now) is not None:
            self._is_open = False
        if not self._is_open:
            raise PortLostError(f"{self.name} is gone (Input/output error); open it again")
