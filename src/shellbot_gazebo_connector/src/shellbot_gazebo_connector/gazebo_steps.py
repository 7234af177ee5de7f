# SPDX-License-Identifier: MIT
"""Steps of a paused Gazebo, by its own transport: gazebo_ros can pause it, but has no service that makes steps.

Each message is its length as eight hexadecimal digits and a protobuf message. Gazebo's master greets with three
packets, the second of which names the worlds. It hears of a publisher and passes that on to the world, which connects.
"""

from __future__ import annotations

import socket
import threading
import time
from typing import Dict, List, Tuple
from urllib.parse import urlparse

MASTER_URI = "http://localhost:11345"  # where Gazebo's master is unless GAZEBO_MASTER_URI says otherwise
TIMEOUT = 30.0  # s; Gazebo answers in milliseconds once its world is loaded


class GazeboSteps:
    """A publisher of Gazebo's topic ``~/world_control``.

    Parameters
    ----------
    master_uri : str
        As in GAZEBO_MASTER_URI.

    Raises
    ------
    OSError
        If Gazebo's master does not answer there, or its world does not connect.
    """

    def __init__(self, master_uri: str = MASTER_URI) -> None:
        url = urlparse(master_uri)
        self._master = socket.create_connection((url.hostname or "localhost", url.port or 11345), TIMEOUT)
        _read(self._master)
        namespaces = _fields(_fields(_read(self._master))[3][0]).get(1, [])
        _read(self._master)
        worlds = [name.decode() for name in namespaces if not name.startswith(b"/")]
        if not worlds:
            self._master.close()
            raise ConnectionError("Gazebo has not loaded its world yet")
        host = self._master.getsockname()[0]
        with socket.create_server((host, 0)) as server:
            server.settimeout(TIMEOUT)
            strings = [f"/gazebo/{worlds[0]}/world_control", "gazebo.msgs.WorldControl", host]
            publish = b"".join(_bytes(number, text.encode()) for number, text in enumerate(strings, 1))
            publish += _number(4, server.getsockname()[1])
            seconds = int(time.time())
            packet = _bytes(1, _number(1, seconds) + _number(2, 0)) + _bytes(2, b"advertise") + _bytes(3, publish)
            _write(self._master, packet)
            self._world, _ = server.accept()
            self._world.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _read(self._world)  # its subscription
        # the master goes on telling of publishers, and would wait for a reader
        threading.Thread(target=_drain, args=(self._master,), daemon=True).start()

    def pause(self, on: bool) -> None:
        """Pause physics, or let it run."""
        _write(self._world, _number(1, int(on)))

    def make(self, count: int) -> None:
        """Let a paused Gazebo make `count` steps; those that it has not made yet of the call before are dropped."""
        _write(self._world, _number(3, count))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    digits = bytearray()
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    digits.append(value)
    return bytes(digits)


def _read_varint(data: bytes, at: int) -> Tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return value, at


def _fields(data: bytes) -> Dict[int, List[bytes]]:
    """Return the strings and messages of a message, by the number of their field."""
    found: Dict[int, List[bytes]] = {}
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        length, at = _read_varint(data, at)  # of a number, the number itself
        if key & 7 == 2:
            found.setdefault(key >> 3, []).append(data[at : at + length])
            at += length
    return found


def _write(connection: socket.socket, data: bytes) -> None:
    connection.sendall(b"%08x" % len(data) + data)


def _read(connection: socket.socket) -> bytes:
    return _receive(connection, int(_receive(connection, 8), 16))


def _receive(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise ConnectionError("Gazebo closed the connection")
        data += part
    return data


def _drain(connection: socket.socket) -> None:
    connection.settimeout(None)
    try:
        while connection.recv(65536):
            pass
    except OSError:
        pass
