# SPDX-License-Identifier: MIT
"""Say whether a Shellbot runs at the ROS master already, or something else is in its place.

Nodes of one name push each other out: a second scripts/sim beside the first would end both.
"""

from __future__ import annotations

import http.client
import os
import socket
import sys
import xml.parsers.expat
import xmlrpc.client
from typing import Any, Optional, Sequence
from urllib.parse import urlparse

NODES = ("action_manager", "gazebo_connector", "simulator", "motor_driver")
# what a port raises that is closed, silent, or speaks something else
NO_ANSWER = (OSError, http.client.HTTPException, xml.parsers.expat.ExpatError, xmlrpc.client.Error)


def port_option(arguments: Sequence[str]) -> Optional[str]:
    """Return the value of roslaunch's option -p; None where it is not given."""
    found = None
    for k, argument in enumerate(arguments):
        if argument in ("-p", "--port"):
            found = arguments[k + 1] if k + 1 < len(arguments) else ""
        elif argument.startswith("--port="):
            found = argument[len("--port=") :]
        elif argument.startswith("-p") and argument[2:].isdigit():
            found = argument[2:]
    return found


def master_of(arguments: Sequence[str], environment: str) -> str:
    """Return the address of the master that roslaunch would use: its option -p wins over ROS_MASTER_URI."""
    uri = environment or "http://localhost:11311"
    port = port_option(arguments)
    return f"http://{urlparse(uri).hostname or 'localhost'}:{port}" if port else uri


def wrong_port(arguments: Sequence[str]) -> str:
    """Return what is wrong with the value of -p, in words; empty if nothing is."""
    port = port_option(arguments)
    if port is None or (port.isdigit() and 1 <= int(port) <= 65535):
        return ""
    return (
        f"-p {port}".rstrip() + ": give the port of the new ROS master, a whole number from 1 to 65535, e.g. -p 11312"
    )


def wrong_master(environment: str) -> str:
    """Return what is wrong with ROS_MASTER_URI, in words; empty if nothing is, or it is not set."""
    place = urlparse(environment)
    try:
        fits = place.scheme == "http" and bool(place.hostname) and place.port != 0
    except ValueError:  # of the port
        fits = False
    if fits or not environment:
        return ""
    return f"ROS_MASTER_URI={environment} is no address of a ROS master; write it like http://localhost:11311"


def taken_port(master: str, own: bool) -> str:
    """Return why no master can be started where one is wanted, in words; empty if it can, or one is to be used.

    Parameters
    ----------
    master : str
        Address of the master.
    own : bool
        A new master is asked for with -p; without, one that is there is used.
    """
    place = urlparse(master)
    address = (place.hostname or "localhost", place.port or 80)
    try:
        socket.create_connection(address, timeout=2.0).close()
    except OSError:
        return ""
    try:
        is_master = _call(xmlrpc.client.ServerProxy(master).getUri("/shellbot_start"))[0] == 1
    except NO_ANSWER:
        is_master = False
    if not is_master:
        return (
            f"port {address[1]} of {address[0]} is taken by a program that is no ROS master; end it, or take another"
            " port: scripts/sim -p 11312"
        )
    if own:
        return (
            f"a ROS master runs already at {master}; to use it, leave -p out:"
            f" ROS_MASTER_URI={master} scripts/sim; for one of its own, take another port"
        )
    return ""


def running_node(master: str, namespace: str = "") -> str:
    """Return the name of a node of ours that answers at this master; empty if there is none, or no master."""
    for name in NODES:
        path = "/" + "/".join(filter(None, [namespace.strip("/"), name]))
        try:
            code, _, address = _call(xmlrpc.client.ServerProxy(master).lookupNode("/shellbot_start", path))
            # a node that was killed stays in the master's list
            if code == 1 and _call(xmlrpc.client.ServerProxy(str(address)).getPid("/shellbot_start"))[0] == 1:
                return path
        except NO_ANSWER:
            continue
    return ""


def _call(answer: Any) -> Sequence[Any]:
    if not isinstance(answer, (list, tuple)) or len(answer) != 3:
        raise xmlrpc.client.ResponseError(f"not a ROS answer: {answer!r}")
    return answer


def main() -> int:
    """Complain on stderr; returns the exit status: 1 if the robot cannot be started at this master."""
    socket.setdefaulttimeout(2.0)
    arguments = sys.argv[1:]
    environment = os.environ.get("ROS_MASTER_URI", "")
    words = wrong_port(arguments) or wrong_master(environment)
    if not words:
        master = master_of(arguments, environment)
        found = running_node(master, os.environ.get("ROS_NAMESPACE", ""))
        if found:
            words = (
                f"a Shellbot runs already at {master} ({found}): drive it with scripts/teleop, or end it first;"
                " a second one needs a ROS master of its own: scripts/sim -p 11312"
            )
        else:
            words = taken_port(master, own=port_option(arguments) is not None)
    if words:
        sys.stderr.write(f"{words}\n")
    return 1 if words else 0


if __name__ == "__main__":
    sys.exit(main())
