# SPDX-License-Identifier: MIT
"""An X server without a screen and a keyboard on it whose events go the way of real ones."""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import os
import shutil
import subprocess
from typing import Iterator, List

from shellbot_teleop.errors import TeleopError

_KEYSYMS = {
    "Space": "space",
    "PageUp": "Prior",
    "PageDown": "Next",
    "Plus": "KP_Add",
    "Minus": "minus",
    "Enter": "Return",
    "Backspace": "BackSpace",
}


class DisplayError(TeleopError, RuntimeError):
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
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-noreset", "-displayfd", str(writer), "-screen", "0", size, "-nolisten", "tcp"],
        pass_fds=[writer],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writer)
    try:
        with os.fdopen(reader) as pipe:
            number = pipe.readline().strip()
        if not number:
            raise DisplayError("Xvfb ended before it had a display; run it by hand to see why.")
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


class XKeyboard:
    """Presses keys of an X display through its XTEST extension, so that focus and auto-repeat are the server's own.

    Parameters
    ----------
    display : str
        Such as ``:7``.

    Raises
    ------
    DisplayError
        libX11 or libXtst is missing, or the display does not answer.
    """

    def __init__(self, display: str) -> None:
        names = [ctypes.util.find_library(name) for name in ("X11", "Xtst")]
        if None in names:
            raise DisplayError("libX11 or libXtst is missing: install the packages libx11-6 and libxtst6.")
        self._x11, self._xtst = (ctypes.CDLL(name) for name in names)
        self._x11.XOpenDisplay.restype = ctypes.c_void_p
        self._x11.XStringToKeysym.restype = ctypes.c_ulong
        self._x11.XKeysymToKeycode.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
        self._x11.XKeysymToKeycode.restype = ctypes.c_ubyte
        self._x11.XFlush.argtypes = self._x11.XCloseDisplay.argtypes = [ctypes.c_void_p]
        self._x11.XDefaultRootWindow.argtypes = [ctypes.c_void_p]
        self._x11.XDefaultRootWindow.restype = ctypes.c_ulong
        self._x11.XQueryTree.argtypes = [ctypes.c_void_p, ctypes.c_ulong, *[ctypes.c_void_p] * 4]
        self._xtst.XTestFakeKeyEvent.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_ulong]
        self._display = self._x11.XOpenDisplay(display.encode())
        if not self._display:
            raise DisplayError(f"the display {display} does not answer.")

    def _codes(self, key: str) -> List[int]:
        """Key codes of a key map name, or of an X keysym such as ``KP_8``; modifiers first."""
        parts = ["Control_L", key[-1].lower()] if key.startswith("Ctrl+") else [_KEYSYMS.get(key, key)]
        codes = [self._x11.XKeysymToKeycode(self._display, self._x11.XStringToKeysym(part.encode())) for part in parts]
        if 0 in codes:
            raise DisplayError(f"the display's keyboard has no key {key!r}.")
        return codes

    def _send(self, codes: List[int], down: bool) -> None:
        for code in codes if down else reversed(codes):
            self._xtst.XTestFakeKeyEvent(self._display, code, int(down), 0)
        self._x11.XFlush(self._display)

    def press(self, key: str) -> None:
        """Push a key down; after a while the server repeats it as a real keyboard does."""
        self._send(self._codes(key), True)

    def release(self, key: str) -> None:
        """Let a key come up."""
        self._send(self._codes(key), False)

    def window_count(self) -> int:
        """Count the windows on the display: more than before when a program has opened its own."""
        root, parent, count = ctypes.c_ulong(), ctypes.c_ulong(), ctypes.c_uint()
        children = ctypes.POINTER(ctypes.c_ulong)()
        self._x11.XQueryTree(
            self._display,
            self._x11.XDefaultRootWindow(self._display),
            ctypes.byref(root),
            ctypes.byref(parent),
            ctypes.byref(children),
            ctypes.byref(count),
        )
        if children:
            self._x11.XFree(children)
        return count.value

    def close(self) -> None:
        """Leave the display."""
        self._x11.XCloseDisplay(self._display)
