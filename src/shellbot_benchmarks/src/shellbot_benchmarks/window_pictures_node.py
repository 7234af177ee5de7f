# SPDX-License-Identifier: MIT
"""Pictures of the operator's window from a scripted session: the real window and simulator on a virtual display."""

from __future__ import annotations

import math
import os
import sys
import time
from pathlib import Path
from typing import Any, Callable, List, Optional, Tuple

import numpy as np
import rospy
from nav_msgs.msg import Odometry
from PIL import Image
from Xlib import X

from robot_evaluation.errors import EvaluationError
from robot_evaluation.pictures import save_gif
from shellbot_benchmarks.launching import Launch
from shellbot_benchmarks.virtual_display import XKeyboard, virtual_display
from shellbot_msgs.msg import Mode

TITLE = "Shellbot"
LARGE, SMALL = (1360, 850), (800, 600)  # pixels
ROBOT, CAMERA, PLOTS, GAINS = (380, 72), (448, 72), (597, 72), (1192, 72)  # tabs, in the large window
THEME = (1286, 817)  # a button there
PATIENCE = 120.0  # s
SETTLED = 2.0  # s of wall clock after a change of the window
LOOK = 0.1  # s of wall clock between two looks at robot and window
FILM_STEP, SHOWN = 0.4, 0.1  # s of the robot's time between two pictures of the film; s for which each is shown
FILM_WIDTH = 680  # pixels


class Session:
    """A simulated robot with its operator's window, and what an operator does to them.

    Parameters
    ----------
    display : str
        Such as ``:7``; its server shows nothing else.
    launch : Launch
        The running robot.
    folder : pathlib.Path
        Where pictures go.
    """

    def __init__(self, display: str, launch: Launch, folder: Path) -> None:
        self._launch, self._folder = launch, folder
        self._keyboard = XKeyboard(display)
        self._mode: Optional[Mode] = None
        self._now = 0.0  # s, the robot's time
        self._film: Optional[List[Tuple[str, np.ndarray]]] = None  # caption and picture, while one is made
        self._filmed = -math.inf  # the time of its last picture
        os.environ["ROS_MASTER_URI"] = launch.master_uri
        self.wait(self._find_master, "a ROS master")
        rospy.init_node("window_pictures", anonymous=True, disable_rostime=True, disable_signals=True)
        self._subscribers = [
            rospy.Subscriber("mode", Mode, self._on_mode),
            rospy.Subscriber("odom", Odometry, self._on_odometry),
        ]
        self.wait(lambda: self._keyboard.window(TITLE) is not None, "the window")

    def _find_master(self) -> bool:
        try:
            rospy.get_master().getPid()
        except OSError:
            return False
        return True

    def _on_mode(self, message: Mode) -> None:
        self._mode = message

    def _on_odometry(self, message: Odometry) -> None:
        self._now = message.header.stamp.to_sec()

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until something is true; raises EvaluationError when it does not become so."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            self._launch.check()
            if time.monotonic() > deadline:
                raise EvaluationError(f"no {what} within {PATIENCE:g} s")
            self._look()

    def work(self, seconds: float) -> None:
        """Let robot and window work for a while of wall clock."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._look()

    def _look(self) -> None:
        """Wait a moment, and take the picture of the film that is due."""
        time.sleep(LOOK)
        if self._film is None or self._now < self._filmed + FILM_STEP:
            return
        self._filmed = self._now
        picture = self._grab()
        size = (FILM_WIDTH, round(FILM_WIDTH * picture.height / picture.width))
        caption = f"{self._now:5.1f} s" + (f"   {self._mode.text}" if self._mode is not None else "")
        self._film.append((caption, np.asarray(picture.resize(size, Image.LANCZOS))))

    def begin_film(self) -> None:
        """Take pictures from now on, as the robot's time goes on."""
        self._film = []

    def end_film(self, name: str) -> None:
        """Write the pictures to a GIF file."""
        film, self._film = self._film, None
        file = self._folder / f"{name}.gif"
        save_gif(file, film or [], SHOWN, colours=160)
        sys.stdout.write(f"{file}\n")

    def rest_in(self, mode: str) -> None:
        """Wait until the robot is in a mode."""
        self.wait(lambda: self._mode is not None and self._mode.name == self._mode.target == mode, f"mode {mode}")

    def tap(self, key: str) -> None:
        """Press and release a key."""
        self._keyboard.press(key)
        self._keyboard.release(key)
        self.work(SETTLED)

    def hold(self, keys: str, seconds: float, name: str) -> None:
        """Hold keys for a while, and take a picture before they are released."""
        for key in keys:
            self._keyboard.press(key)
        self.work(seconds)
        self.picture(name)
        for key in keys:
            self._keyboard.release(key)
        self.work(SETTLED)

    def click(self, place: Tuple[int, int]) -> None:
        """Click on a place of the window, in pixels."""
        self._keyboard.click(TITLE, place)
        self.work(SETTLED)

    def resize(self, size: Tuple[int, int]) -> None:
        """Give the window another size, in pixels."""
        window = self._shown()
        window.configure(width=size[0], height=size[1])
        window.display.flush()
        self.work(SETTLED)

    def picture(self, name: str) -> None:
        """Write what the window shows to a PNG file."""
        file = self._folder / f"{name}.png"
        self._grab().quantize(128).save(file, optimize=True)
        sys.stdout.write(f"{file}\n")

    def _grab(self) -> Image.Image:
        window = self._shown()
        geometry = window.get_geometry()
        size = (geometry.width, geometry.height)
        data = window.get_image(0, 0, *size, X.ZPixmap, 0xFFFFFFFF).data
        return Image.frombytes("RGB", size, data, "raw", "BGRX")

    def _shown(self) -> Any:
        window = self._keyboard.window(TITLE)
        if window is None:
            raise EvaluationError("the operator's window has gone")
        return window


def play(session: Session) -> None:
    """Play what a newcomer does: a film of a walk, closing, rolling and opening, and pictures of each part."""
    session.rest_in("hexapod")
    session.resize(LARGE)
    session.begin_film()
    session.hold("wq", 3.0, "window")
    session.tap("0")
    session.rest_in("shell")
    session.hold("w", 3.0, "ball")
    session.tap("1")
    session.rest_in("hexapod")
    session.end_film("session")
    session.tap("F1")
    session.picture("keys")
    session.tap("F1")
    session.click(PLOTS)
    session.hold("w", 8.0, "plots")
    session.click(ROBOT)
    session.click(THEME)
    session.hold("w", 3.0, "light")
    session.click(THEME)
    session.resize(SMALL)
    session.picture("small")
    session.resize(LARGE)
    session.click(CAMERA)
    session.click(GAINS)
    session.tap("Escape")
    session.picture("gains")


def take(folder: Path, log: Path) -> None:
    """Run the session; its pictures go into the folder, what its robot prints into the log."""
    with virtual_display() as display:
        environment = {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
        with Launch({"teleop": "window"}, log, environment) as launch:
            play(Session(display, launch, folder))
