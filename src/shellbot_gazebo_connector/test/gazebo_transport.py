# SPDX-License-Identifier: MIT
"""Gazebo's master and the connection of its world, for gazebo_steps; bytes as Gazebo 11's library makes them."""

from __future__ import annotations

import socket
import threading


def frame(data):
    return b"%08x" % len(data) + data


def received(connection):
    size = connection.recv(8, socket.MSG_WAITALL)
    return connection.recv(int(size, 16), socket.MSG_WAITALL) if size else b""


def packet(kind, data):
    stamp = bytes([0x0A, 0x04, 0x08, 0x05, 0x10, 0x07])
    return frame(stamp + bytes([0x12, len(kind)]) + kind + bytes([0x1A, len(data)]) + data)


class Master(threading.Thread):
    """Greets as Gazebo's master does, and connects as the world does."""

    def __init__(self, namespaces=b"\x0a\x0aflat_floor\x0a\x07/gazebo"):
        super().__init__(daemon=True)
        self.server = socket.create_server(("127.0.0.1", 0))
        self.uri = f"http://127.0.0.1:{self.server.getsockname()[1]}"
        self.namespaces, self.advertised, self.world = namespaces, b"", None
        self.start()

    def run(self):
        master, _ = self.server.accept()
        greeting = packet(b"version_init", b"\x0a\x0bgazebo 11.1")
        greeting += packet(b"topic_namepaces_init", self.namespaces) + packet(b"publishers_init", b"")
        for byte in greeting:  # as slowly as a network may be
            master.sendall(bytes([byte]))
        self.advertised = received(master)
        if not self.advertised:
            return  # it hung up: the greeting was not that of its world
        port, shift = 0, 0
        for byte in self.advertised[self.advertised.rindex(b"\x20") + 1 :]:
            port, shift = port | (byte & 0x7F) << shift, shift + 7
        self.world = socket.create_connection(("127.0.0.1", port))
        self.world.sendall(packet(b"sub", b""))
