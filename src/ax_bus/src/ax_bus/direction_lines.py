# SPDX-License-Identifier: MIT
"""Hardware under the direction controls: the transmitter's state, kernel RS-485 and one GPIO line."""

from __future__ import annotations

import fcntl
import struct
import time
from typing import Any

from ax_bus.errors import PortError
from ax_bus.wire_time import bytes_time

TIOCSERGETLSR = 0x5459
TIOCSER_TEMT = 0x01
_POLL_LIMIT = 5e-3  # s; a transmitter that is not empty 5 ms after its time never will be


class TransmitterEmpty:
    """Wait until everything written has left the shift register.

    Waits for the computed wire time, then polls the UART. ``tcdrain`` is of no use here: it wakes once a jiffy. Ports
    that cannot be polled (pty, most USB chips) are trusted after their wire time.

    Parameters
    ----------
    fd : int
        The open port.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self.can_query = self._transmits() is not None

    def __call__(self, count: int, baud: int) -> None:
        """Return when ``count`` bytes, written just now, are out."""
        # A sleep of 80 us takes 94 us to 1.75 ms, the window is 222 us: this wait must spin.
        end = time.monotonic() + bytes_time(count, baud)
        while time.monotonic() < end:
            pass
        end += _POLL_LIMIT
        while self.can_query and not self._transmits() and time.monotonic() < end:
            pass

    def _transmits(self) -> Any:
        try:
            state = fcntl.ioctl(self._fd, TIOCSERGETLSR, struct.pack("i", 0))
        except OSError:
            return None
        return bool(struct.unpack("i", state)[0] & TIOCSER_TEMT)


def kernel_rs485(serial: Any) -> None:
    """Switch kernel RS-485 on at a pyserial port: RTS high while sending, no delays, receiver off while sending.

    Raises
    ------
    PortError
        If the port's driver has no such mode, or did not take it.
    """
    from serial import rs485

    settings = rs485.RS485Settings(rts_level_for_tx=True, rts_level_for_rx=False, loopback=False)
    try:
        serial.rs485_mode = settings
        answer = fcntl.ioctl(serial.fileno(), 0x542E, bytes(32))  # TIOCGRS485
    except (OSError, ValueError) as error:
        raise PortError(
            f"{serial.port} has no kernel RS-485 mode ({error}); FTDI, CP210x and CH34x have none: choose 'auto' with "
            "an adapter that turns the line itself, or an on-board UART whose driver has it"
        ) from error
    flags, before, after = struct.unpack("III", answer[:12])
    if not flags & 1 or before or after:
        raise PortError(
            f"{serial.port} did not take kernel RS-485 without delays (flags {flags:#x}, {before} and {after} ms); "
            "choose another direction control"
        )


class GpioLine:
    """One output line of a GPIO chip through libgpiod (Python module gpiod, version 1 or 2), opened once.

    Parameters
    ----------
    chip : str
        Device of the chip.
    offset : int
        The line's offset.

    Raises
    ------
    PortError
        If gpiod is not installed or the line cannot be had.
    """

    def __init__(self, chip: str, offset: int) -> None:
        try:
            import gpiod
        except ImportError as error:
            raise PortError(
                "direction control 'gpio' needs libgpiod's Python module; install it (Debian: python3-libgpiod) or "
                "choose another direction control"
            ) from error
        self._offset = offset
        try:
            if hasattr(gpiod, "LineSettings"):  # version 2
                self._values = (gpiod.line.Value.INACTIVE, gpiod.line.Value.ACTIVE)
                settings = gpiod.LineSettings(direction=gpiod.line.Direction.OUTPUT)
                self._request = gpiod.request_lines(chip, consumer="ax_bus", config={offset: settings})
                self._set = self._set_v2
            else:
                self._chip = gpiod.Chip(chip)
                self._request = self._chip.get_line(offset)
                self._request.request(consumer="ax_bus", type=gpiod.LINE_REQ_DIR_OUT, default_vals=[0])
                self._set = self._set_v1
        except (OSError, ValueError) as error:
            raise PortError(
                f"line {offset} of {chip} is not available ({error}); gpioinfo lists the lines, gpiofind finds names; "
                "check that you may open the chip (group gpio)"
            ) from error

    def set(self, high: bool) -> None:
        """Drive the line."""
        self._set(high)

    def close(self) -> None:
        """Give the line back."""
        self._request.release()

    def _set_v1(self, high: bool) -> None:
        self._request.set_value(int(high))

    def _set_v2(self, high: bool) -> None:
        self._request.set_value(self._offset, self._values[int(high)])
