# SPDX-License-Identifier: MIT
"""Pictures of the operator's page from a scripted session: the real page and simulator, in headless Chromium."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from roslib.packages import find_node

from shellbot_benchmarks.browser import Browser
from shellbot_benchmarks.launching import Launch

_DESKTOP, _PHONE = (1280, 800), (390, 844)  # pixels
_WALK_S = 3.0


def play(address: str, folder: Path) -> None:
    """Walk a curve on a desktop by keys, then on a phone by the stick, with a picture of each."""
    for name, size, is_phone in (("page", _DESKTOP, False), ("page_phone", _PHONE, True)):
        page = Browser(address, *size, is_phone, "dark")
        try:
            page.until(lambda page=page: page.text("mode") == "hexapod", "the robot is not ready to walk")  # type: ignore[misc]
            page.take_control()
            if is_phone:
                page.push("stick", 14, -34)
            else:
                page.click_text("tabs", "Actions")
                page.hold("w")
                page.hold("q")
            time.sleep(_WALK_S)
            file = folder / f"{name}.png"
            page.picture().quantize(256).save(file, optimize=True)
            sys.stdout.write(f"{file}\n")
        finally:
            page.close()


def take(folder: Path, log: Path) -> None:
    """Run the session; its pictures go into the folder, what its robot prints into the log."""
    with Launch({"teleop": "none"}, log) as launch:
        command = [find_node("shellbot_teleop", "teleop_web")[0], "--port", "0"]
        environment = {**os.environ, "ROS_MASTER_URI": launch.master_uri}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as node:
            try:
                assert node.stdout is not None
                play(node.stdout.readline().split()[-1], folder)
            finally:
                node.terminate()
