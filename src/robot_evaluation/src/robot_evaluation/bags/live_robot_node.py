# SPDX-License-Identifier: MIT
"""Whether a robot runs at a master, which a replay would command, and whose description it would replace."""

from __future__ import annotations

from typing import Sequence

import psutil
import rosgraph

from robot_evaluation.console import run_tool, say
from robot_evaluation.errors import EvaluationError


def refuse_a_live_robot(master_uri: str, own_name: str) -> None:
    """Raise EvaluationError if something else publishes what the bag would: joints and clock of a robot that runs.

    Parameters
    ----------
    master_uri : str
        Of the ROS master; where there is none, no robot runs.
    own_name : str
        Of the node that asks.
    """
    names = (rosgraph.names.ns_join(rosgraph.names.get_ros_namespace(), "joint_states"), "/clock")
    try:
        publishers = rosgraph.Master(own_name, master_uri=master_uri).getSystemState()[0]
    except OSError:
        return
    others = sorted({node for topic, nodes in publishers if topic in names for node in nodes} - {own_name})
    if others:
        raise EvaluationError(
            f"a robot runs here ({', '.join(others)}), and the bag would command it: play the bag on a ROS master of "
            "its own, roslaunch -p 11399 shellbot_bringup replay.launch ..."
        )


def master_of(words: Sequence[str]) -> str:
    """Return the URI of the master of a roslaunch, given the words of its command: of -p, or of the environment."""
    for option, value in zip(words, words[1:]):
        if option in ("-p", "--port"):
            return f"http://localhost:{value}"
    ports = [word.split("=", 1)[1] for word in words if word.startswith("--port=")]
    return f"http://localhost:{ports[0]}" if ports else str(rosgraph.get_master_uri())


def main() -> int:
    """Print ``true`` if no robot runs; returns 0, or 2 with the reason. For roslaunch, before it sets parameters."""

    def run() -> int:
        parent = psutil.Process().parent()  # roslaunch, which does not hand its option -p on
        refuse_a_live_robot(master_of(parent.cmdline() if parent is not None else ()), "/replay")
        say("true")
        return 0

    return run_tool(run)
