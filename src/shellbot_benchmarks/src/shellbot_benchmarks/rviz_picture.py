# SPDX-License-Identifier: MIT
"""The picture of RViz in docs/rviz.md: the real launch on a virtual display, while the robot walks a curve.

Run as ``python -m shellbot_benchmarks.rviz_picture docs/pictures/rviz.png``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image
from Xlib import X
from Xlib.display import Display

from shellbot_benchmarks.launching import Launch
from shellbot_benchmarks.virtual_display import virtual_display

SCREEN = (1400, 900)
RTF = 0.25  # RViz draws in software here, and is to keep up
START_S = 120.0  # wall clock, at most
WALK_S = 20.0  # wall clock, until the paths are as long as they get
TWIST = "{linear: {x: 0.15}, angular: {z: -0.22}}"


def screenshot(display: str) -> Image.Image:
    """Return what a display shows."""
    connection = Display(display)
    root = connection.screen().root
    raw = root.get_image(0, 0, *SCREEN, X.ZPixmap, 0xFFFFFFFF).data
    connection.close()
    return Image.frombytes("RGB", SCREEN, raw, "raw", "BGRX")


def take(file: Path) -> None:
    """Write the picture."""
    arguments = {"rtf": RTF, "gui": "false", "teleop": "none", "rviz": "true"}
    with virtual_display(f"{SCREEN[0]}x{SCREEN[1]}x24") as display, tempfile.TemporaryDirectory() as folder:
        environment = {"DISPLAY": display, "LIBGL_ALWAYS_SOFTWARE": "1"}
        with Launch(arguments, Path(folder) / "launch.log", environment) as launch:
            environment = dict(os.environ, ROS_MASTER_URI=launch.master_uri)
            end = time.monotonic() + START_S
            while "ready to walk" not in launch.last_words() and time.monotonic() < end:
                launch.check()
                time.sleep(1.0)
            command = ["rostopic", "pub", "-r", "20", "cmd_vel", "geometry_msgs/Twist", TWIST]
            walking = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
            time.sleep(WALK_S)
            picture = screenshot(display)
            walking.terminate()
            walking.wait()
    picture.crop(picture.convert("L").point(lambda grey: 255 * (grey > 0)).getbbox()).save(file, optimize=True)


if __name__ == "__main__":
    take(Path(sys.argv[1]))
