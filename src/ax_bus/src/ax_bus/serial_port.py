# SPDX-License-Identifier: MIT
"""A serial port: pyserial opens and configures it, the bus reads and writes its file descriptor with poll."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import select
import termios
import time
from pathlib import Path
from typing import Any, Optional

import serial

from ax_bus.direction import AutoDirection, Direction
from ax_bus.errors import PortError, PortLostError, PortMissingError
from ax_bus.port import Port

_CHUNK = 512  # more than any reply
_STUCK = 0.2  # s without room for a byte; a full buffer of 4 kB empties in 40 ms at 1 Mbaud
_GONE = select.POLLHUP | select.POLLERR | select.POLLNVAL


class SerialPort(Port):
    """A UART, a USB adapter or a pty.

    Parameters
    ----------
    path : str
        Device, best a stable name (``/dev/serial/by-id/...``), which also finds the adapter again.
    baud : int
        Rate of the line.
    direction : Direction, optional
        Who turns the line; by default the adapter itself.

    Raises
    ------
    PortError
        If it does not exist, is in use, may not be opened or does not do the rate; the message says what to do.
    """

    baud: int = 0

    def __init__(self, path: str, baud: int = 1_000_000, direction: Optional[Direction] = None) -> None:
        self.name = str(path)
        self.direction = direction if direction is not None else AutoDirection()
        self._is_turned = type(self.direction).after_write is not Direction.after_write
        self.echoes = self.direction.echoes
        self.reads_trusted = self.direction.reads_trusted
        self.baud = baud
        self._serial: Any = None
        self._fd = -1
        self._open()

    def set_baud(self, baud: int) -> None:
        """Change the rate; the settings that pyserial knows as custom rates (400000, 250000, 200000) work, too."""
        try:
            self._serial.baudrate = baud
        except (OSError, ValueError, serial.SerialException) as error:
            raise PortError(
                f"{self.name} does not support {baud} baud ({error}); choose another rate or adapter"
            ) from error
        self.baud = baud

    def write(self, data: bytes) -> None:
        """Send all of ``data``."""
        try:
            if self._is_turned:
                self.direction.before_write()
            sent = os.write(self._fd, data)
        except OSError as error:
            sent = self._not_written(error)
        if sent < len(data):
            self._write_remaining(data[sent:])
        if self._is_turned:
            try:
                self.direction.after_write(len(data), self.baud)
            except OSError as error:
                raise self._lost(error) from error

    def read(self, timeout: float) -> bytes:
        """Return what has been received, at least one byte unless the time is over."""
        # poll counts whole milliseconds, rounded up: late by less than 1 ms, and only when a reply is missing.
        for _, event in self._poll.poll(timeout * 1e3):
            if event & select.POLLIN:
                try:
                    data = os.read(self._fd, _CHUNK)
                except BlockingIOError:
                    return b""
                except OSError as error:
                    raise self._lost(error) from error
                if data:
                    return data
            if event & _GONE:
                raise self._lost(OSError(errno.EIO, "hung up"))
        return b""

    now = staticmethod(time.monotonic)  # type: ignore[assignment] # one call less in every look at the clock

    def sleep(self, duration: float) -> None:
        """Sleep."""
        if duration > 0.0:
            time.sleep(duration)

    def reopen(self) -> None:
        """Close what is left and open the same name again."""
        self.close()
        self._open()

    def close(self) -> None:
        """Release the port."""
        if self._serial is None:
            return
        with contextlib.suppress(OSError):
            self.direction.release()
        # Whoever else still has the device open (an emulator does) would keep it closed to others.
        with contextlib.suppress(OSError):
            fcntl.ioctl(self._fd, termios.TIOCNXCL)
        # An unplugged adapter cannot be closed politely.
        with contextlib.suppress(OSError, serial.SerialException):
            self._serial.close()
        self._serial, self._fd = None, -1

    def latency_timer_ms(self) -> Optional[int]:
        """Return the latency timer of an FTDI adapter, ms (1 is best, 16 the default), or None if it has none."""
        device = Path(os.path.realpath(self.name)).name
        try:
            return int(Path("/sys/bus/usb-serial/devices", device, "latency_timer").read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None

    def _open(self) -> None:
        try:
            self._serial = serial.Serial(self.name, self.baud, timeout=0, write_timeout=0, exclusive=True)
        except (OSError, ValueError, serial.SerialException) as error:
            kind = PortError if os.path.exists(self.name) else PortMissingError
            raise kind(_open_words(self.name, self.baud, error)) from error
        self._fd = self._serial.fileno()
        # The lock of pyserial keeps out only programs that ask for one; this keeps out all, except those of root.
        with contextlib.suppress(OSError):
            fcntl.ioctl(self._fd, termios.TIOCEXCL)
        self._poll = select.poll()
        self._poll.register(self._fd, select.POLLIN)
        # Ptys and most USB chips have none; latency_timer_ms tells.
        with contextlib.suppress(OSError, ValueError, NotImplementedError):
            self._serial.set_low_latency_mode(True)
        try:
            self.direction.prepare(self._serial)
        except OSError as error:
            self.close()
            if isinstance(error, PortError):
                raise
            raise PortError(
                f"{self.name} cannot be turned by {self.direction.name!r} ({error.strerror or error}); "
                "choose another direction control"
            ) from error

    def _not_written(self, error: OSError) -> int:
        """Return 0, the bytes that went out, if the kernel's buffer is full."""
        if isinstance(error, BlockingIOError):
            return 0
        raise self._lost(error) from error

    def _write_remaining(self, data: bytes) -> None:
        """Wait for room in the kernel's buffer: rare, the largest packet has 142 bytes."""
        while data:
            if not select.select((), (self._fd,), (), _STUCK)[1]:
                raise PortError(f"{self.name} accepts no more bytes; the adapter hangs: unplug it and plug it in again")
            try:
                data = data[os.write(self._fd, data) :]
            except OSError as error:
                data = data[self._not_written(error) :]

    def _lost(self, error: OSError) -> PortLostError:
        return PortLostError(
            f"{self.name} is gone ({error.strerror or error}); plug it in again, it is found under the same name"
        )


def _open_words(name: str, baud: int, error: BaseException) -> str:
    """Say why a port does not open and what to do."""
    code = getattr(error, "errno", None)
    text = str(error)
    if code == errno.ENOENT or not os.path.exists(name):
        there = sorted(str(p) for folder in ("/dev/serial/by-id",) for p in Path(folder).glob("*"))
        there = there or sorted(str(p) for kind in ("ttyUSB*", "ttyACM*", "ttyTHS*") for p in Path("/dev").glob(kind))
        known = f"these do: {', '.join(there)}" if there else "no adapter was found: is it plugged in?"
        return f"port {name} does not exist; {known}"
    if code == errno.EACCES:
        return f"no permission to open port {name}; join its group (usually: adduser $USER dialout) and log in again"
    if code in (errno.EBUSY, errno.EAGAIN) or "exclusively lock" in text:
        return f"port {name} is in use by {_holders(name)}; stop it first"
    if "baud" in text.lower():
        return f"port {name} does not support {baud} baud ({text}); choose another rate or adapter"
    return f"port {name} cannot be opened ({text}); is it a serial port?"


def _holders(name: str) -> str:
    """Name the programs that have a device open, as far as this user may see."""
    device, found = os.path.realpath(name), []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if any(os.path.realpath(fd) == device for fd in (process / "fd").iterdir()):
                found.append(f"{(process / 'comm').read_text(encoding='utf-8').strip()} (process {process.name})")
    return ", ".join(found) or f"another program (sudo fuser -v {name} names it)"
