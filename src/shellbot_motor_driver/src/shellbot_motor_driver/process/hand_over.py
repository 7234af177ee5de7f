# SPDX-License-Identifier: MIT
"""How a bus process whose parent died gives its port to a successor, on the same machine, by the port's name."""

from __future__ import annotations

import hashlib
import os
import socket
from typing import Optional

_WORD = b"hand over"


class Door:
    """Where a successor requests the port.

    Parameters
    ----------
    port : str
        The port's name.
    """

    def __init__(self, port: str) -> None:
        self._port, self._address = port, ""
        self._socket: Optional[socket.socket] = None
        self._bind()

    def _bind(self) -> None:
        """Make the socket; there is none while a predecessor has it."""
        if self._socket is not None:
            self._socket.close()
        self._address, self._socket = _address(self._port), None
        door = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        door.setblocking(False)
        try:
            door.bind(self._address)
        except OSError:
            door.close()
        else:
            self._socket = door

    def is_requested(self) -> bool:
        """Return whether another bus process wants the port."""
        if self._socket is None or self._address != _address(self._port):  # plugged in again: another device
            self._bind()
        if self._socket is None:
            return False
        try:
            return self._socket.recv(64) == _WORD
        except OSError:
            return False


def request_port(port: str) -> bool:
    """Request the port from a bus process without parent; return whether there is one."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        try:
            sender.sendto(_WORD, _address(port))
        except OSError:
            return False
    return True


def _address(port: str) -> str:
    return "\0shellbot-bus-" + hashlib.sha256(os.path.realpath(port).encode()).hexdigest()[:24]
