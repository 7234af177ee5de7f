# SPDX-License-Identifier: MIT
"""Say whether a Shellbot runs at the ROS master already.

Nodes of one name push each other out: a second scripts/sim beside the first would end both.
"""

from __future__ import annotations

import os
import socket
import sys
import xmlrpc.client
from typing import Any, Sequence
from urllib.parse import urlparse

NODES = ("action_manager", "gazebo_connector", "simulator", "motor_driver")


def master_of(arguments: Sequence[str], environment: str) -> str:
    """Return the address of the master that roslaunch would use: its option -p wins over ROS_MASTER_URI."""
    uri = environment or "http://localhost:11311"
    for k, argument in enumerate(arguments):
        port = ""
        if argument in ("-p", "--port"):
            port = arguments[k + 1] if k + 1 < len(arguments) else ""
        elif argument.startswith("--port="):
            port = argument[len("--port=") :]
        elif argument.startswith("-p") and argument[2:].isdigit():
            port = argument[2:]
        if port:
            uri = f"http://{urlparse(uri).hostname or 'localhost'}:{port}"
    return uri


def running_node(master: str, namespace: str = "") -> str:
    """Return the name of a node of ours that answers at this master; empty if there is none, or no master."""
    for name in NODES:
        path = "/" + "/".join(filter(None, [namespace.strip("/"), name]))
        try:
            code, _, address = _call(xmlrpc.client.ServerProxy(master).lookupNode("/shellbot_start", path))
            # a node that was killed stays in the master's list
            if code == 1 and _call(xmlrpc.client.ServerProxy(str(address)).getPid("/shellbot_start"))[0] == 1:
                return path
        except (OSError, xmlrpc.client.Error):
            continue
    return ""


def _call(answer: Any) -> Sequence[Any]:
    if not isinstance(answer, (list, tuple)) or len(answer) != 3:
        raise xmlrpc.client.ResponseError(f"not a ROS answer: {answer!r}")
    return answer


def main() -> int:
    """Complain on stderr; returns the exit status: 1 if a robot runs already."""
    socket.setdefaulttimeout(2.0)
    master = master_of(sys.argv[1:], os.environ.get("ROS_MASTER_URI", ""))
    found = running_node(master, os.environ.get("ROS_NAMESPACE", ""))
    if found:
        sys.stderr.write(
            f"a Shellbot runs already at {master} ({found}): drive it with scripts/teleop, or end it first;"
            " a second one needs a ROS master of its own: scripts/sim -p 11312\n"
        )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
