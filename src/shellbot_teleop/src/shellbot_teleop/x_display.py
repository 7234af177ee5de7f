# SPDX-License-Identifier: MIT
"""Does an X display answer? Asked before Qt, which aborts the process when it does not."""

from __future__ import annotations

import ctypes
import ctypes.util


def answers(display: str) -> bool:
    """Tell whether the X server of a display (such as ``:0`` or ``host:10.0``) accepts us.

    The connection stays open as long as the program: a server whose last client leaves starts anew (Xvfb does, by
    default) and would refuse Qt, which comes a moment later.
    """
    library = ctypes.util.find_library("X11")
    if library is None:
        return True  # nobody to ask: let Qt try
    x11 = ctypes.CDLL(library)
    x11.XOpenDisplay.restype = ctypes.c_void_p
    return bool(x11.XOpenDisplay(display.encode()))
