# SPDX-License-Identifier: MIT
"""Pictures of the operator's window from a scripted session: the real window and simulator on a virtual display."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any, Callable, Optional, Tuple

import rospy
from PIL import Image
from Xlib import X
from Xlib.display import Display
from Xlib.error import BadWindow
from Xlib.ext import xtest

from shellbot_benchmarks.launching import Launch
from shellbot_benchmarks.virtual_display import XKeyboard, virtual_display
from shellbot_evaluation.errors import EvaluationError
from shellbot_msgs.msg import Mode

TITLE = "Shellbot"
LARGE, SMALL = (1360, 850), (800, 600)  # pixels
ROBOT, CAMERA, PLOTS, GAINS = (380, 72), (448, 72), (597, 72), (1192, 72)  # tabs, in the large window
THEME = (1286, 817)  # a button there
PATIENCE = 120.0  # s
SETTLED = 2.0  # s of wall clock after a change of the window


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
        self._display, self._keyboard = Display(display), XKeyboard(display)
        self._mode: Optional[Mode] = None
        os.environ["ROS_MASTER_URI"] = launch.master_uri
        self.wait(self._find_master, "a ROS master")
        rospy.init_node("window_pictures", anonymous=True, disable_rostime=True, disable_signals=True)
        self._subscriber = rospy.Subscriber("mode", Mode, self._on_mode)
        self.wait(lambda: self._window() is not None, "the window")

    def _find_master(self) -> bool:
        try:
            rospy.get_master().getPid()
        except OSError:
            return False
        return True

    def _on_mode(self, message: Mode) -> None:
        self._mode = message

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until something is true; raises EvaluationError when it does not become so."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            self._launch.check()
            if time.monotonic() > deadline:
                raise EvaluationError(f"no {what} within {PATIENCE:g} s")
            time.sleep(0.1)

    def rest_in(self, mode: str) -> None:
        """Wait until the robot is in a mode."""
        self.wait(lambda: self._mode is not None and self._mode.name == self._mode.target == mode, f"mode {mode}")

    def tap(self, key: str) -> None:
        """Press and release a key."""
        self._keyboard.press(key)
        self._keyboard.release(key)
        time.sleep(SETTLED)

    def hold(self, keys: str, seconds: float, name: str) -> None:
        """Hold keys for a while, and take a picture before they are released."""
        for key in keys:
            self._keyboard.press(key)
        time.sleep(seconds)
        self.picture(name)
        for key in keys:
            self._keyboard.release(key)
        time.sleep(SETTLED)

    def click(self, place: Tuple[int, int]) -> None:
        """Click on a place of the window, in pixels."""
        geometry = self._shown().get_geometry()
        xtest.fake_input(self._display, X.MotionNotify, x=geometry.x + place[0], y=geometry.y + place[1])
        for event in (X.ButtonPress, X.ButtonRelease):
            xtest.fake_input(self._display, event, 1)
        self._display.sync()
        time.sleep(SETTLED)

    def resize(self, size: Tuple[int, int]) -> None:
        """Give the window another size, in pixels."""
        self._shown().configure(width=size[0], height=size[1])
        self._display.sync()
        time.sleep(SETTLED)

    def picture(self, name: str) -> None:
        """Write what the window shows to a PNG file."""
        window = self._shown()
        geometry = window.get_geometry()
        width, height = geometry.width, geometry.height
        data = window.get_image(0, 0, width, height, X.ZPixmap, 0xFFFFFFFF).data
        file = self._folder / f"{name}.png"
        Image.frombytes("RGB", (width, height), data, "raw", "BGRX").quantize(128).save(file, optimize=True)
        sys.stdout.write(f"{file}\n")

    def _shown(self) -> Any:
        window = self._window()
        if window is None:
            raise EvaluationError("the operator's window has gone")
        return window

    def _window(self) -> Optional[Any]:
        return next((w for w in self._display.screen().root.query_tree().children if _title(w) == TITLE), None)


def _title(window: Any) -> str:
    try:
        return str(window.get_wm_name())
    except BadWindow:
        return ""  # it was closed meanwhile: Qt opens some for a moment


def play(session: Session) -> None:
    """Play what a newcomer does, with a picture of each part."""
    session.rest_in("hexapod")
    session.resize(LARGE)
    session.hold("wq", 3.0, "window")
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
    session.tap("0")
    session.rest_in("shell")
    session.hold("w", 3.0, "ball")
    session.click(CAMERA)
    session.click(GAINS)
    session.tap("Escape")
    session.picture("gains")


def take(folder: Path, log: Path) -> None:
    """Run the session; its pictures go into the folder, what its robot prints into the log."""
    with virtual_display() as display:
        environment = {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
        with Launch("shellbot_bringup", "sim.launch", {"teleop": "window"}, log, environment) as launch:
            play(Session(display, launch, folder))
