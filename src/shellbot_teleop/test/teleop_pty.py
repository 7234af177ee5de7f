# SPDX-License-Identifier: MIT
"""A program on a pseudo terminal: what it shows, what is typed, and whether it leaves the terminal as it was."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import threading
import time

import pyte


class TerminalProcess:
    def __init__(self, command, environment=None, size=(40, 110)):
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.execve(command[0], command, {**os.environ, "TERM": "xterm", **(environment or {})})
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        self.before = termios.tcgetattr(self.descriptor)
        self.output = b""
        self._screen = pyte.Screen(size[1], size[0])
        self._stream = pyte.ByteStream(self._screen)
        self.status = None
        self._ends = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        while not self._ends:
            if not select.select([self.descriptor], [], [], 0.05)[0]:
                continue
            try:
                data = os.read(self.descriptor, 65536)
            except OSError:
                return
            if not data:
                return
            self._stream.feed(data)
            self.output += data

    @property
    def text(self):
        """Everything that was written; of what is drawn anew only what has changed."""
        return self.output.decode(errors="replace")

    @property
    def shown(self):
        """The lines that are seen now."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    def type(self, data):
        os.write(self.descriptor, data)

    def vanish(self):
        """Close the terminal, as a connection that breaks does."""
        self._ends = True
        self._reader.join()
        os.close(self.descriptor)
        self.descriptor = None

    def wait_for(self, words, timeout):
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if words in self.text or words in self.shown:
                return True
            time.sleep(0.02)
        return False

    def wait(self, timeout):
        """Exit status, or None while it runs."""
        deadline = time.monotonic() + timeout
        while self.status is None and time.monotonic() < deadline:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
            else:
                time.sleep(0.02)
        return self.status

    def restored(self):
        """True when modes and screen are as before: a shell would work here again."""
        try:
            modes = termios.tcgetattr(self.descriptor)
        except termios.error:
            modes = self.before
        last = {mode: self.text.rfind(f"\x1b[?{mode}") for mode in ("1049h", "1049l", "25l", "25h")}
        return modes == self.before and last["1049l"] > last["1049h"] and last["25h"] > last["25l"]

    def close(self):
        if self.wait(0.0) is None:
            os.kill(self.pid, signal.SIGINT)
            if self.wait(10.0) is None:
                os.kill(self.pid, signal.SIGKILL)
                self.wait(5.0)
        if self.descriptor is not None:
            self.vanish()
