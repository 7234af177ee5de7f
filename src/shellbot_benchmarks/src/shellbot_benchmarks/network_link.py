# SPDX-License-Identifier: MIT
"""A network between robot and operator on one machine, to be cut: a network namespace joined by a pair of veths."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from typing import Dict, Iterator, List
from urllib.parse import urlparse

from robot_evaluation.errors import EvaluationError

_SPACE, _HOST_END, _OPERATOR_END = "shellbot_operator", "shellbot_veth0", "shellbot_veth1"
_HOST, _OPERATOR = "10.231.77.1", "10.231.77.2"  # of a private network of two
WITHIN: List[str] = ["ip", "netns", "exec", _SPACE]  #: What a command begins with that is to run on the operator's side


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise EvaluationError(
            f"ip {' '.join(arguments)}: {done.stderr.strip()}; if a bench that was killed has left its network: "
            f"ip netns delete {_SPACE}"
        )


@contextlib.contextmanager
def network_link() -> Iterator[None]:
    """Make the network; whatever ROS starts meanwhile in this environment is reached over it.

    Raises
    ------
    EvaluationError
        If the user may not make one, or there is one already.
    """
    if os.geteuid() != 0 or shutil.which("ip") is None:
        raise EvaluationError(
            "a network namespace needs root and the program ip (package iproute2): run this as root, or measure "
            "operators that are killed and frozen, without --netns"
        )
    _ip("netns", "add", _SPACE)
    before = os.environ.get("ROS_IP")
    try:
        _ip("link", "add", _HOST_END, "type", "veth", "peer", "name", _OPERATOR_END, "netns", _SPACE)
        _ip("address", "add", f"{_HOST}/30", "dev", _HOST_END)
        _ip("link", "set", _HOST_END, "up")
        _ip("-netns", _SPACE, "address", "add", f"{_OPERATOR}/30", "dev", _OPERATOR_END)
        _ip("-netns", _SPACE, "link", "set", "lo", "up")
        _ip("-netns", _SPACE, "link", "set", _OPERATOR_END, "up")
        os.environ["ROS_IP"] = _HOST
        yield
    finally:
        os.environ.pop("ROS_IP", None)
        if before is not None:
            os.environ["ROS_IP"] = before
        _ip("netns", "delete", _SPACE)  # with it both ends


class NetworkSwitch:
    """Cuts the network and joins it again. Connections stay open on both sides, but nothing passes any longer.

    It holds a program ready, so that the cut comes at once and not after a program has started.
    """

    def __init__(self) -> None:
        command = ["ip", "-netns", _SPACE, "-force", "-batch", "-"]
        self._ip = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)

    def turn(self, is_on: bool) -> None:
        """Join the network, or cut it."""
        assert self._ip.stdin is not None
        self._ip.stdin.write(f"link set {_OPERATOR_END} {'up' if is_on else 'down'}\n")
        self._ip.stdin.flush()

    def close(self) -> None:
        """End the program."""
        self._ip.communicate()


def operator_environment(master_uri: str) -> Dict[str, str]:
    """Return the variables of ROS on the operator's side, for the master on the robot's."""
    return {"ROS_MASTER_URI": f"http://{_HOST}:{urlparse(master_uri).port}", "ROS_IP": _OPERATOR}
