# SPDX-License-Identifier: MIT
"""A node name that no running node has, so that a second operator does not end the first one's program."""

from __future__ import annotations

import itertools
import socket
from typing import List, Tuple
from urllib.parse import urlparse

import rosgraph
import rospy

_PATIENCE = 0.5  # s
_NAME = "__name:="


def free_name(master: rosgraph.Master, name: str, argv: List[str]) -> Tuple[str, List[str]]:
    """
    Return a free name and the command line with which the node gets it.

    ROS ends a node when another one with its name starts. Two operators on two machines start the same program, so the
    second one gets a number: ``teleop_window_2``.

    Parameters
    ----------
    master : rosgraph.Master
        To be asked.
    name : str
        Preferred name; ``__name:=`` in `argv` has priority.
    argv : list of str
        Command line.

    Raises
    ------
    OSError
        The master does not answer.
    """
    base = next((argument[len(_NAME) :] for argument in argv if argument.startswith(_NAME)), name)
    others = [argument for argument in argv if not argument.startswith(_NAME)]
    for number in itertools.count(1):
        free = base if number == 1 else f"{base}_{number}"
        if not _lives(master, rospy.names.ns_join(rosgraph.names.get_ros_namespace(argv=argv), free)):
            break
    return free, [*others, f"{_NAME}{free}"]


def _lives(master: rosgraph.Master, name: str) -> bool:
    try:
        address = urlparse(master.lookupNode(name))
    except rosgraph.MasterError:
        return False  # it is not registered
    try:
        socket.create_connection((address.hostname or "", address.port or 0), _PATIENCE).close()
    except OSError:
        return False  # it was killed, and the master does not know
    return True
