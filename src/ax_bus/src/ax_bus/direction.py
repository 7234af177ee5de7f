# SPDX-License-Identifier: MIT
"""Who turns the half-duplex line from sending to receiving: choices of one interface, the sound ones first.

The window is short: an AX answers 22 us after a READ at return delay 0, at most 530 us. A switch by sleep and drain
calls misses it (tcdrain wakes once a jiffy, 4 to 10 ms), which loses the head of the reply.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from typing import Any, Callable, Dict, Optional

from ax_bus.direction_lines import GpioLine, TransmitterEmpty, kernel_rs485
from ax_bus.errors import PortError
from ax_bus.wire_time import bytes_time

_USB = ("ttyUSB", "ttyACM")


class Direction(ABC):
    """How one wiring switches.

    Attributes
    ----------
    name : str
        The word for it in parameters and tools.
    echoes : bool
        Whether the receiver receives what is sent.
    reads_trusted : bool
        Whether a reply can be relied on.
    advice : str
        What to do when replies do not arrive whole.
    """

    name: str = ""
    echoes: bool = False
    reads_trusted: bool = True
    advice: str = ""

    @abstractmethod
    def prepare(self, serial: Any) -> None:
        """Set up an open pyserial port.

        Raises
        ------
        PortError
            If the port or the machine does not offer what this wiring needs.
        """

    def before_write(self) -> None:  # noqa: B027 - most wirings have nothing to do here
        """Drive the line."""

    def after_write(self, count: int, baud: int) -> None:  # noqa: B027
        """Release the line as soon as ``count`` bytes, written just now, are out."""

    def release(self) -> None:  # noqa: B027
        """Give back what ``prepare`` took."""


class AutoDirection(Direction):
    """The adapter turns the line itself: U2D2, USB2Dynamixel, USB2AX, an FTDI whose TXDEN drives the 74LS241."""

    name = "auto"
    advice = (
        "check the servos' power and the common ground; a USB chip with a separate direction pin is not an automatic "
        "adapter: wire its TXDEN to the 74LS241, or use a U2D2"
    )

    def prepare(self, serial: Any) -> None:
        """Nothing to do."""


class SingleWireEcho(Direction):
    """TX and RX on one wire (open drain, diode or resistor): the echo shows when it is free, and collisions."""

    name = "echo"
    echoes = True
    advice = "no clean echo: check the diode or resistor from TX to the data wire and that RX is on the data wire"

    def prepare(self, serial: Any) -> None:
        """Nothing to do."""


class KernelRs485(Direction):
    """The UART's driver raises RTS while it sends (TIOCSRS485)."""

    name = "rs485"
    advice = "the kernel's delays must be 0; measure RTS against the data with a scope, or use an automatic adapter"

    def prepare(self, serial: Any) -> None:
        """Switch the mode on and read it back."""
        kernel_rs485(serial)


class RtsDirection(Direction):
    """RTS toggled from here. Over USB the order against the data is not guaranteed: for measurements only."""

    name = "rts"
    reads_trusted = False
    advice = "RTS from user space comes 0.1 ms to milliseconds late; use an automatic adapter, or kernel RS-485"

    def __init__(self, active_high: bool = True) -> None:
        self._active_high = active_high
        self._serial: Any = None
        self._empty: Callable[[int, int], None] = lambda count, baud: None

    def prepare(self, serial: Any) -> None:
        """Receive."""
        self._serial = serial
        self._empty = TransmitterEmpty(serial.fileno())
        serial.rts = not self._active_high

    def before_write(self) -> None:
        """Raise the line."""
        self._serial.rts = self._active_high

    def after_write(self, count: int, baud: int) -> None:
        """Wait until the shift register is empty, then drop the line."""
        self._empty(count, baud)
        self._serial.rts = not self._active_high


class GpioDirection(Direction):
    """A GPIO of the board beside an on-board UART. Needs return delay 100 (200 us) or more at the servos.

    Parameters
    ----------
    chip : str
        GPIO chip, such as ``/dev/gpiochip0``.
    line : int
        Offset of the line on the chip.
    active_high : bool
        Whether high means sending.
    is_usb : bool
        A USB UART with a GPIO is unsound at any delay (its sending times are unknown): replies are then not trusted.
    """

    name = "gpio"
    advice = (
        "set return_delay_time of every servo to 100 or more (ax-servo info shows it); on a USB UART no delay "
        "helps: wire the adapter's TXDEN to the 74LS241, use a U2D2, or drive write-only"
    )

    def __init__(
        self, chip: str = "/dev/gpiochip0", line: int = 0, active_high: bool = True, is_usb: bool = False
    ) -> None:
        self.reads_trusted = not is_usb
        self._chip, self._offset, self._active_high = chip, line, active_high
        self._line: Any = None
        self._empty: Callable[[int, int], None] = lambda count, baud: None

    def prepare(self, serial: Any) -> None:
        """Request the line once; receive."""
        self._line = GpioLine(self._chip, self._offset)
        self._empty = TransmitterEmpty(serial.fileno())
        self._line.set(not self._active_high)

    def before_write(self) -> None:
        """Drive the line."""
        self._line.set(self._active_high)

    def after_write(self, count: int, baud: int) -> None:
        """Wait until the shift register is empty, then receive."""
        self._empty(count, baud)
        self._line.set(not self._active_high)

    def release(self) -> None:
        """Give the GPIO back."""
        if self._line is not None:
            self._line.close()
            self._line = None


class WriteOnly(Direction):
    """A wiring that cannot be turned in time: the robot walks on SYNC WRITE alone, nothing is read.

    Parameters
    ----------
    inner : Direction, optional
        Who drives the line; it may hold it longer than needed.
    """

    name = "write-only"
    reads_trusted = False
    advice = "nothing is read in this mode; fit an automatic adapter (U2D2, FTDI with TXDEN) to get feedback"

    def __init__(self, inner: Optional[Direction] = None) -> None:
        self._inner = inner if inner is not None else AutoDirection()

    def prepare(self, serial: Any) -> None:
        """Prepare the driver of the line."""
        self._inner.prepare(serial)

    def before_write(self) -> None:
        """Drive the line."""
        self._inner.before_write()

    def after_write(self, count: int, baud: int) -> None:
        """Hold the line for the wire time, then release it."""
        time.sleep(bytes_time(count, baud))
        self._inner.after_write(0, baud)

    def release(self) -> None:
        """Release the driver of the line."""
        self._inner.release()


DIRECTIONS: Dict[str, Callable[..., Direction]] = {
    kind.name: kind for kind in (AutoDirection, KernelRs485, SingleWireEcho, GpioDirection, RtsDirection, WriteOnly)
}


def is_usb(port: str) -> bool:
    """Return whether a serial port is that of a USB adapter, by whichever of its names; for `GpioDirection`."""
    return os.path.basename(os.path.realpath(port)).startswith(_USB) or "usb" in port


def direction(name: str, **options: Any) -> Direction:
    """Return a direction control by its word.

    Parameters
    ----------
    name : str
        One of ``DIRECTIONS``.
    **options
        Its parameters, such as ``chip`` and ``line`` of ``gpio``.

    Raises
    ------
    PortError
        If the word or an option is unknown.
    """
    if name not in DIRECTIONS:
        raise PortError(f"direction control {name!r} does not exist; choose from {', '.join(DIRECTIONS)}")
    try:
        return DIRECTIONS[name](**options)
    except TypeError as error:
        raise PortError(f"direction control {name!r} does not take {sorted(options)}: {error}") from error
