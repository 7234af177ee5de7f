# SPDX-License-Identifier: MIT
"""An X server without a screen, and a keyboard on it whose events take the path of a real one's."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from typing import Any, Iterator, List, Optional, Tuple

from Xlib import XK, X
from Xlib.display import Display
from Xlib.error import BadWindow
from Xlib.error import DisplayError as XDisplayError
from Xlib.ext import xtest

from robot_evaluation.errors import EvaluationError

_TRIES = 5
_KEYSYMS = {
    "Ctrl": "Control_L",
    "Alt": "Alt_L",
    "Space": "space",
    "PageUp": "Prior",
    "PageDown": "Next",
    "Plus": "KP_Add",
    "Minus": "minus",
    "Enter": "Return",
    "Backspace": "BackSpace",
    "Shift": "Shift_L",
}


class DisplayError(EvaluationError, RuntimeError):
    """No virtual display or no way to press its keys."""


@contextlib.contextmanager
def virtual_display(size: str = "1500x1000x24") -> Iterator[str]:
    """Start Xvfb on a free display number and end it afterwards.

    Parameters
    ----------
    size : str
        Width, height and depth.

    Yields
    ------
    str
        The display, such as ``:7``.

    Raises
    ------
    DisplayError
        Xvfb is not installed or did not start.
    """
    if shutil.which("Xvfb") is None:
        raise DisplayError("Xvfb is missing: install the package xvfb (scripts/setup does).")
    server, number = _started(size)
    try:
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


def _started(size: str) -> Tuple[subprocess.Popen, str]:
    """Return a server and its number; one that loses its number to another that starts meanwhile ends at once."""
    for _ in range(_TRIES):
        reader, writer = os.pipe()
        server = subprocess.Popen(
            ["Xvfb", "-noreset", "-displayfd", str(writer), "-screen", "0", size, "-nolisten", "tcp"],
            pass_fds=[writer],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(writer)
        with os.fdopen(reader) as pipe:
            number = pipe.readline().strip()
        if number:
            return server, number
        server.wait()
    raise DisplayError(f"Xvfb ended {_TRIES} times before it had a display; run it by hand to see why.")


def _title(window: Any) -> str:
    try:
        return str(window.get_wm_name())
    except BadWindow:
        return ""  # it was closed meanwhile: Qt opens some for a moment


class XKeyboard:
    """Presses keys and clicks through the XTEST extension of an X display, so that focus and auto-repeat are its own.

    Parameters
    ----------
    display : str
        Such as ``:7``.

    Raises
    ------
    DisplayError
        The display does not answer.
    """

    def __init__(self, display: str) -> None:
        try:
            self._display = Display(display)
        except (XDisplayError, OSError) as error:
            raise DisplayError(f"the display {display} does not answer: {error}") from None

    def _codes(self, key: str) -> List[int]:
        """Key codes of a key map name, or of an X keysym such as ``KP_8``; modifiers (``Ctrl+Shift+Tab``) first."""
        *modifiers, last = key.split("+")
        parts = [_KEYSYMS.get(part, part) for part in (*modifiers, last.lower() if len(last) == 1 else last)]
        codes = [self._display.keysym_to_keycode(XK.string_to_keysym(part)) for part in parts]
        if 0 in codes:
            raise DisplayError(f"the display's keyboard has no key {key!r}.")
        return codes

    def press(self, key: str) -> None:
        """Push a key down; the server repeats it after its repeat delay, as for a real keyboard."""
        self._send(self._codes(key), X.KeyPress)

    def release(self, key: str) -> None:
        """Let a key come up."""
        self._send(self._codes(key)[::-1], X.KeyRelease)

    def _send(self, codes: List[int], event: int) -> None:
        for code in codes:
            xtest.fake_input(self._display, event, code)
        self._display.flush()

    def window(self, title: str) -> Optional[Any]:
        """Return the window with a title; None while there is none."""
        return next((w for w in self._display.screen().root.query_tree().children if _title(w) == title), None)

    def click(self, title: str, place: Tuple[int, int]) -> None:
        """Click on a place of a window, in pixels; raises DisplayError if it is not there."""
        window = self.window(title)
        if window is None:
            raise DisplayError(f"there is no window {title!r} on the display")
        geometry = window.get_geometry()
        xtest.fake_input(self._display, X.MotionNotify, x=geometry.x + place[0], y=geometry.y + place[1])
        for event in (X.ButtonPress, X.ButtonRelease):
            xtest.fake_input(self._display, event, 1)
        self._display.sync()

    def close(self) -> None:
        """Leave the display."""
        self._display.close()
