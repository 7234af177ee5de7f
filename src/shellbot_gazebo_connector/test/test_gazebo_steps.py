# SPDX-License-Identifier: MIT
"""The publisher of steps speaks as Gazebo's transport does; bytes as Gazebo 11's own library makes them."""

from __future__ import annotations

import socket
import threading

import pytest

from shellbot_gazebo_connector.gazebo_steps import GazeboSteps


def frame(data):
    return b"%08x" % len(data) + data


def received(connection):
    return connection.recv(int(connection.recv(8, socket.MSG_WAITALL), 16), socket.MSG_WAITALL)


def packet(kind, data):
    stamp = bytes([0x0A, 0x04, 0x08, 0x05, 0x10, 0x07])
    return frame(stamp + bytes([0x12, len(kind)]) + kind + bytes([0x1A, len(data)]) + data)


class Master(threading.Thread):
    """Greets as Gazebo's master does, and connects as the world does."""

    def __init__(self, namespaces):
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
        port, shift = 0, 0
        for byte in self.advertised[self.advertised.rindex(b"\x20") + 1 :]:
            port, shift = port | (byte & 0x7F) << shift, shift + 7
        self.world = socket.create_connection(("127.0.0.1", port))
        self.world.sendall(packet(b"sub", b""))


def test_it_advertises_the_worlds_control_and_sends_steps_and_pauses():
    master = Master(b"\x0a\x0aflat_floor\x0a\x07/gazebo")
    steps = GazeboSteps(master.uri)
    for text in (b"advertise", b"/gazebo/flat_floor/world_control", b"gazebo.msgs.WorldControl", b"127.0.0.1"):
        assert bytes([len(text)]) + text in master.advertised
    steps.pause(True)
    steps.make(10)
    steps.make(300)
    steps.pause(False)
    expected = [b"\x08\x01", b"\x18\x0a", b"\x18\xac\x02", b"\x08\x00"]
    assert [received(master.world) for _ in expected] == expected
    master.world.close()


def test_no_gazebo_is_an_error_of_the_system():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(OSError):
        GazeboSteps(f"http://127.0.0.1:{port}")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # the stand-in is left alone
def test_a_gazebo_without_a_world_is_one_to_connect_to_again():
    for namespaces in (b"\x0a\x07/gazebo", b""):
        with pytest.raises(OSError, match="has not loaded its world yet"):
            GazeboSteps(Master(namespaces).uri)
