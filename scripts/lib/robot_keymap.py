# SPDX-License-Identifier: MIT
"""Print the key map of the robot that is loaded at the ROS master: keymap.yaml of its bringup package, if any."""

from __future__ import annotations

import os
import re
import socket
import sys
import xmlrpc.client
from pathlib import Path
from typing import Optional, Sequence

from running_robot import NO_ANSWER, master_of

SOURCE = Path(__file__).resolve().parents[2] / "src"


def keymap_at(master: str, namespace: str = "") -> Optional[Path]:
    """Return the key map of the robot in a namespace of a master; None: teleop's own, also where no robot is loaded."""
    path = "/" + "/".join(filter(None, [namespace.strip("/"), "robot_profile"]))
    try:
        _, _, profile = xmlrpc.client.ServerProxy(master).getParam("/shellbot_teleop", path)
    except (*NO_ANSWER, TypeError, ValueError):
        return None
    name = re.search(r"^name: *(\w+)", str(profile), re.MULTILINE)
    file = SOURCE / f"{name.group(1)}_bringup" / "config" / "keymap.yaml" if name else None
    return file if file and file.is_file() else None


def main(arguments: Sequence[str]) -> None:
    """Print the path, or nothing; the arguments are those of scripts/teleop, of which __ns:=NAME is looked at."""
    socket.setdefaulttimeout(2.0)
    given = [word[len("__ns:=") :] for word in arguments if word.startswith("__ns:=")]
    namespace = given[-1] if given else os.environ.get("ROS_NAMESPACE", "")
    sys.stdout.write(str(keymap_at(master_of([], os.environ.get("ROS_MASTER_URI", "")), namespace) or ""))


if __name__ == "__main__":
    main(sys.argv[1:])
