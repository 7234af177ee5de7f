# SPDX-License-Identifier: MIT
"""The contract between the bus and whatever carries its bytes: a serial port, a pty or an emulated line."""

from __future__ import annotations

from abc import ABC, abstractmethod


class Port(ABC):
    """A half-duplex line as the bus sees it. It owns the clock, so that an emulated line can run in virtual time.

    Attributes
    ----------
    name : str
        For messages.
    echoes : bool
        Whether everything sent comes back (single-wire wirings).
    reads_trusted : bool
        Whether replies can be relied on; if not, the bus refuses to read.
    """

    name: str = ""
    echoes: bool = False
    reads_trusted: bool = True

    @property
    @abstractmethod
    def baud(self) -> int:
        """Rate of the line."""

    @abstractmethod
    def set_baud(self, baud: int) -> None:
        """Change the rate of the line.

        Raises
        ------
        ax_bus.errors.PortError
            If the port cannot do it.
        """

    @abstractmethod
    def write(self, data: bytes) -> None:
        """Send, and leave the line in the direction of receiving.

        Raises
        ------
        ax_bus.errors.PortLostError
            If the port is gone.
        """

    @abstractmethod
    def read(self, timeout: float) -> bytes:
        """Return what has been received, at least one byte, or ``b""`` after ``timeout`` seconds.

        With ``timeout`` 0 only what is already here is returned.

        Raises
        ------
        ax_bus.errors.PortLostError
            If the port is gone.
        """

    @abstractmethod
    def now(self) -> float:
        """Return the port's monotonic time, s."""

    @abstractmethod
    def sleep(self, duration: float) -> None:
        """Let ``duration`` seconds of the port's time pass."""

    @abstractmethod
    def reopen(self) -> None:
        """Open the port again, by its stable name, after it was lost.

        Raises
        ------
        ax_bus.errors.PortError
            If it is not back yet.
        """

    @abstractmethod
    def close(self) -> None:
        """Release the port; closing twice is harmless."""

    def __enter__(self) -> Port:
        """Return the port itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()
