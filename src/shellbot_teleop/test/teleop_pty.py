# SPDX-License-Identifier: MIT
"""A program on a pseudo terminal: what it shows, what is typed, and whether it leaves the terminal as it was."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import termios
import threading
import time


class TerminalProcess:
    def __init__(self, command, environment=None, size=(40, 110)):
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.execve(command[0], command, dict(os.environ, TERM="xterm", **(environment or {})))
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        self.before = termios.tcgetattr(self.descriptor)
        self.output = b""
        self.status = None
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        while True:
            try:
                data = os.read(self.descriptor, 65536)
            except OSError:
                return
            if not data:
                return
            self.output += data

    @property
    def text(self):
        return self.output.decode(errors="replace")

    def type(self, data):
        os.write(self.descriptor, data)

    def wait_for(self, words, timeout):
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if words in self.text:
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
        return modes == self.before and self.text.rstrip().endswith("\x1b[?25h\x1b[?1049l")

    def close(self):
        if self.wait(0.0) is None:
            os.kill(self.pid, signal.SIGINT)
            if self.wait(10.0) is None:
                os.kill(self.pid, signal.SIGKILL)
                self.wait(5.0)
        os.close(self.descriptor)
