# SPDX-License-Identifier: MIT
"""An emulated chain behind a pseudo terminal: any program that uses a serial port can use it, in real time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import struct
import termios
import time
import tty
from pathlib import Path
from typing import Callable, Optional

from ax_emulator.chain import EmulatedChain
from ax_emulator.errors import EmulationError

_TCGETS2 = 0x802C542A  # also on the master's side it gives the settings that the other program chose
_SPIN = 150e-6  # s before an event from which the loop no longer sleeps: a sleep is late by 60 us or more
_IDLE = 0.05  # s


class PtyServer:
    """Serve a chain on a pty.

    Parameters
    ----------
    chain : EmulatedChain
        The servos.
    link : pathlib.Path, optional
        A stable name to make for the pty, as udev would; it follows when the fault ``port_error`` replaces the pty.
    precise : bool
        Whether to spin for the last microseconds before each reply. Without it replies are late by about 0.1 ms, and an
        idle core is not needed.
    start : float, optional
        `time.monotonic()` at which the chain's time is 0; by default its time is now.

    Raises
    ------
    EmulationError
        If the name is taken by something that is no link.
    """

    def __init__(
        self, chain: EmulatedChain, link: Optional[Path] = None, precise: bool = True, start: Optional[float] = None
    ) -> None:
        self.chain = chain
        self._link = link
        self._spin = _SPIN if precise else 0.0
        self._start = time.monotonic() - chain.time if start is None else start
        self._master = self._slave = -1
        self._open()

    @property
    def name(self) -> str:
        """The port for the other program: the link if there is one."""
        return str(self._link) if self._link is not None else os.ttyname(self._slave)

    def run(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Serve until ``stop()``, which is checked at least every 50 ms."""
        chain = self.chain
        while not stop():
            now = time.monotonic() - self._start
            if chain.faults.strike("port_error", now) is not None:
                self._unplug(stop)
                continue
            chain.advance(now)
            data = chain.take(now)
            if data:
                # Whoever does not read loses bytes, as at a UART whose buffer is full.
                with contextlib.suppress(BlockingIOError):
                    os.write(self._master, data)
            following = chain.next_time()
            wait = _IDLE if following is None else min(_IDLE, following - now - self._spin)
            if select.select((self._master,), (), (), max(wait, 0.0))[0]:
                data = os.read(self._master, 4096)
                chain.baud = self._baud()
                chain.transmit(time.monotonic() - self._start, data)
                stall = chain.faults.strike("host_stall", now)
                if stall is not None:
                    time.sleep(stall.amount)
            elif wait >= _IDLE:
                # A program that was killed leaves the port exclusive: a real one is freed when its last user has gone,
                # but here the slave stays open.
                fcntl.ioctl(self._slave, termios.TIOCNXCL)

    def close(self) -> None:
        """Take the pty away."""
        for fd in (self._master, self._slave):
            if fd >= 0:
                os.close(fd)
        self._master = self._slave = -1
        if self._link is not None and self._link.is_symlink():
            self._link.unlink()

    def _open(self) -> None:
        self._master, self._slave = os.openpty()
        # The slave stays open here, so that a program that leaves is no hang-up for the next.
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        if self._link is None:
            return
        if self._link.exists() and not self._link.is_symlink():
            raise EmulationError(f"{self._link} exists and is not a link; choose another name for the emulated port")
        if self._link.is_symlink():
            self._link.unlink()
        self._link.symlink_to(os.ttyname(self._slave))

    def _unplug(self, stop: Callable[[], bool]) -> None:
        """Close the pty as long as the fault lasts, and come back under another number, as a USB adapter does."""
        self.close()
        while not stop():
            time.sleep(0.01)
            now = time.monotonic() - self._start
            self.chain.advance(now)
            self.chain.drop_input()
            if self.chain.faults.strike("port_error", now) is None:
                break
        self._open()

    def _baud(self) -> int:
        """Return the rate that the other program set."""
        try:
            rate = struct.unpack("4I20B2I", fcntl.ioctl(self._master, _TCGETS2, bytes(44)))[-1]
        except (OSError, termios.error):
            return self.chain.baud
        return rate or self.chain.baud
