# SPDX-License-Identifier: MIT
"""Pictures of the operator's page from a scripted session: the real page and simulator, in headless Chromium."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import List, Optional

from roslib.packages import find_node

from shellbot_benchmarks.browser import Browser
from shellbot_benchmarks.launching import Launch
from shellbot_evaluation.errors import EvaluationError

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


def main(arguments: Optional[List[str]] = None) -> int:
    """Run the session; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where pictures go; made if it is missing")
    folder: Path = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    log = Path(tempfile.mkdtemp()) / "launch.log"
    try:
        with Launch("shellbot_bringup", "sim.launch", {"teleop": "none"}, log) as launch:
            command = [find_node("shellbot_teleop", "teleop_web")[0], "--port", "0"]
            environment = {**os.environ, "ROS_MASTER_URI": launch.master_uri}
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as node:
                try:
                    assert node.stdout is not None
                    play(node.stdout.readline().split()[-1], folder)
                finally:
                    node.terminate()
    except EvaluationError as error:
        sys.stderr.write(f"screenshots: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
