# SPDX-License-Identifier: MIT
"""scripts/sim starts no second robot that would push out the first; scripts/teleop has the keys of that which runs."""

from __future__ import annotations

import contextlib
import http.server
import socket
import sys
import threading
from pathlib import Path
from xmlrpc.server import SimpleXMLRPCServer

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts" / "lib"))

import robot_keymap  # noqa: E402
import running_robot  # noqa: E402


@contextlib.contextmanager
def server(**functions):
    """An XML-RPC server, as the ROS master and each node are; gives its address."""
    with SimpleXMLRPCServer(("localhost", 0), logRequests=False) as made:
        for name, function in functions.items():
            made.register_function(function, name)
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://localhost:{made.server_address[1]}"
        finally:
            made.shutdown()
            thread.join()


def master_that_knows(nodes):
    def lookup(_caller, name):
        return [1, "", nodes[name]] if name in nodes else [-1, f"unknown node [{name}]", ""]

    return server(lookupNode=lookup)


def test_a_node_that_answers_is_found():
    with server(getPid=lambda _caller: [1, "", 7]) as node, master_that_knows({"/action_manager": node}) as master:
        assert running_robot.running_node(master) == "/action_manager"
        assert running_robot.running_node(master, "/robot_2/") == "", "another namespace is another robot"


def test_a_node_that_died_does_not_count():
    with server() as gone:
        pass
    with master_that_knows({"/action_manager": gone, "/simulator": gone}) as master:
        assert running_robot.running_node(master) == ""


def test_no_master_is_no_robot():
    with server() as gone:
        pass
    assert running_robot.running_node(gone) == ""


@pytest.mark.parametrize(
    ("arguments", "environment", "master"),
    [
        ([], "", "http://localhost:11311"),
        (["rtf:=0"], "http://robot:11500", "http://robot:11500"),
        (["-p", "11312"], "", "http://localhost:11312"),
        (["--port=11312"], "http://localhost:11500", "http://localhost:11312"),
    ],
)
def test_master(arguments, environment, master):
    assert running_robot.master_of(arguments, environment) == master


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ""),
        (["-p", "11312"], ""),
        (["-p"], "-p: give the port"),
        (["-p", "80808"], "-p 80808: give the port"),
        (["--port=0"], "-p 0: give the port"),
        (["-p", "rtf:=0"], "-p rtf:=0: give the port"),
    ],
)
def test_a_wrong_port_is_said(arguments, words):
    assert running_robot.wrong_port(arguments)[: len(words) or None] == words


@pytest.mark.parametrize("uri", ["http://localhost:99999", "http://localhost:abc", "localhost:11311", "http://:0", "x"])
def test_a_wrong_master_is_said(uri, monkeypatch, capsys):
    monkeypatch.setenv("ROS_MASTER_URI", uri)
    monkeypatch.setattr(sys, "argv", ["running_robot.py"])
    assert running_robot.main() == 1
    assert f"ROS_MASTER_URI={uri} is no address" in capsys.readouterr().err


@pytest.mark.parametrize("uri", ["", "http://localhost:11311", "http://192.168.1.20:11311/", "http://robot"])
def test_a_master_that_may_be_is_not_refused(uri):
    assert running_robot.wrong_master(uri) == ""


def test_a_free_port_is_no_trouble():
    with server() as gone:
        pass
    assert running_robot.taken_port(gone, own=True) == ""
    assert running_robot.taken_port(gone, own=False) == ""


def test_a_master_that_is_there_is_used_but_not_started_again():
    with server(getUri=lambda _caller: [1, "", ""]) as master:
        assert running_robot.taken_port(master, own=False) == ""
        assert f"ROS_MASTER_URI={master} scripts/sim" in running_robot.taken_port(master, own=True)


@pytest.mark.parametrize("own", [True, False])
def test_another_program_on_the_port_is_told(own):
    class Quiet(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_arguments):
            pass

    with http.server.HTTPServer(("localhost", 0), Quiet) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            port = made.server_address[1]
            assert f"port {port} of localhost is taken" in running_robot.taken_port(f"http://localhost:{port}", own)
            assert running_robot.running_node(f"http://localhost:{port}") == ""
        finally:
            made.shutdown()
            thread.join()


def test_a_program_that_does_not_speak_http_is_told():
    with socket.create_server(("localhost", 0)) as listener:
        port = listener.getsockname()[1]

        def answer():
            with contextlib.suppress(OSError):  # the test has ended
                while True:
                    connection, _address = listener.accept()
                    with connection, contextlib.suppress(OSError):  # one that only knocked may have gone
                        connection.sendall(b"220 mail\r\n")

        threading.Thread(target=answer, daemon=True).start()
        assert f"port {port} of localhost is taken" in running_robot.taken_port(f"http://localhost:{port}", True)


@pytest.mark.parametrize(
    ("profile", "package"),
    [
        ("name: snake\nbase: {link: head}\n", "snake_bringup"),
        ("name: humanoid\n", "humanoid_bringup"),
        ("name: shellbot\n", ""),
        ("name: unheard_of\n", ""),
        ("limbs:\n  name: snake\n", ""),
        (7, ""),
    ],
)
def test_the_robot_that_is_loaded_has_keys_of_its_own_or_those_of_teleop(profile, package):
    with server(
        getParam=lambda _caller, name: [1, "", profile] if name == "/robot_2/robot_profile" else [-1, "", 0]
    ) as it:
        found = robot_keymap.keymap_at(it, "/robot_2/")
        assert robot_keymap.keymap_at(it) is None, "another namespace is another robot"
    expected = robot_keymap.SOURCE / package / "config" / "keymap.yaml"
    assert found == (expected if package else None)


def test_the_keys_are_teleops_own_without_a_master():
    with server() as stranger:
        assert robot_keymap.keymap_at(stranger) is None
    assert robot_keymap.keymap_at(stranger) is None
