# SPDX-License-Identifier: MIT
"""The publisher of steps speaks as Gazebo's transport does."""

from __future__ import annotations

import socket

import pytest
from gazebo_transport import Master, received

from shellbot_gazebo_connector.gazebo_steps import GazeboSteps


def test_it_advertises_the_worlds_control_and_sends_steps_and_pauses():
    master = Master()
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
