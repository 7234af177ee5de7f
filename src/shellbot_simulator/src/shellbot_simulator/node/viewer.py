# SPDX-License-Identifier: MIT
"""The window on the robot, if there is a display."""

from __future__ import annotations

import copy
import os
import threading
import time
from typing import Any, ContextManager

import mujoco

from shellbot_simulator.core.errors import RenderError
from shellbot_simulator.core.simulator import Simulator

WINDOW_NAME = "robot_viewer"  # WM_CLASS instance, by which an operator's window on the same display finds this one
_PERIOD = 1.0 / 30.0  # s of wall time between pictures
_CAMERA = ("type", "trackbodyid", "lookat", "distance", "azimuth", "elevation")
_CLOSING = 3.0  # s of wall time that the window's thread gets to end


def opens_viewer(setting: str) -> bool:
    """Return whether to open a window: `true`, or `auto` where there is a display."""
    return setting == "true" or (
        setting == "auto" and bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    )


class Viewer:
    """MuJoCo's own viewer, fed from the loop.

    Parameters
    ----------
    simulator : Simulator
        What to show.

    Raises
    ------
    RenderError
        If no window can be opened.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._open(simulator)
        with self._handle.lock():
            camera = self._handle.cam
            camera.type = mujoco.mjtCamera.mjCAMERA_TRACKING
            camera.trackbodyid = 1
            camera.distance, camera.azimuth, camera.elevation = 1.1, 130.0, -25.0
        self._last = 0.0

    def follow(self, simulator: Simulator) -> None:
        """Show the simulator's present model; another one than before needs another window, with the same view."""
        if simulator.model is self._model or not self._handle.is_running():
            return
        with self._handle.lock():
            old = self._handle.cam
            view = {name: copy.copy(getattr(old, name)) for name in _CAMERA}
        self.close()
        self._open(simulator)
        with self._handle.lock():
            for name, value in view.items():
                setattr(self._handle.cam, name, value)

    def _open(self, simulator: Simulator) -> None:
        before = set(threading.enumerate())
        os.environ["RESOURCE_NAME"] = WINDOW_NAME  # read by GLFW
        if os.environ.get("DISPLAY"):
            # of GLFW's two builds, on a Wayland desktop, too: only X11 lets the operator's window take the keys
            os.environ.setdefault("PYGLFW_LIBRARY_VARIANT", "x11")
        try:
            import mujoco.viewer  # needs a display even to be imported on some machines: not at the top

            self._handle: Any = mujoco.viewer.launch_passive(
                simulator.model, simulator.data, show_left_ui=False, show_right_ui=False
            )
        except Exception as error:  # whatever the windowing system throws, the robot must run without it
            raise RenderError(f"no viewer ({error}); start with viewer:=false, or check DISPLAY") from error
        self._threads = [thread for thread in threading.enumerate() if thread not in before]
        self._model = simulator.model

    def lock(self) -> ContextManager[Any]:
        """Return the lock to hold while the physics state changes."""
        lock: ContextManager[Any] = self._handle.lock()
        return lock

    def refresh(self) -> bool:
        """Show the present state if it is time; False once the user has closed the window."""
        if not self._handle.is_running():
            self.close()
            return False
        now = time.monotonic()
        if now - self._last >= _PERIOD:
            self._last = now
            self._handle.sync()
        return True

    def close(self) -> None:
        """Close the window and wait for its thread: one that still draws while the program ends can hang it."""
        self._handle.close()
        end = time.monotonic() + _CLOSING
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
