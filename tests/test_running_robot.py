# SPDX-License-Identifier: MIT
"""scripts/sim does not start a second robot that would push out the first."""

from __future__ import annotations

import contextlib
import sys
import threading
from pathlib import Path
from xmlrpc.server import SimpleXMLRPCServer

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts" / "lib"))

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
