# SPDX-License-Identifier: MIT
"""Offscreen pictures from a child process.

A process of its own, because software rendering takes tens of milliseconds that the physics loop must not wait for,
because an OpenGL library that fails may take its process with it, and because the choice between EGL and OSMesa can be
made only once per process.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, List, Optional, Sequence, Union

import mujoco
import numpy as np

from shellbot_common.view import Mark, View

from .errors import RenderError

BACKENDS = ("egl", "osmesa")


class RenderProcess:
    """A renderer for one model; started by the first picture.

    Parameters
    ----------
    model : mujoco.MjModel
        Copied to the child; later changes of the model do not show.
    nice : bool
        With shadows and smooth edges, for pictures to keep; without, five times as fast on a processor.
    niceness : int
        How far the child stands back behind other processes, 0 .. 19.
    """

    def __init__(self, model: mujoco.MjModel, nice: bool = True, niceness: int = 5) -> None:
        self._model = model
        self._nice = nice
        self._niceness = niceness
        self._process: Optional[subprocess.Popen] = None
        self._failure: Optional[str] = None

    def render(
        self,
        qpos: np.ndarray,
        width: int,
        height: int,
        view: Union[View, str, None] = None,
        marks: Sequence[Mark] = (),
        ghost: Optional[np.ndarray] = None,
    ) -> np.ndarray:
        """Return a picture of the model in a position.

        Parameters
        ----------
        qpos : (nq,) array
            Position of the whole model.
        width, height : int
            Pixels, 16 .. 2048.
        view : View or str, optional
            A free camera, or the link of one that the profile has; by default the camera that follows the robot.
        marks : sequence of Mark
            Drawn beside the model; what is not finite is left out.
        ghost : (nq,) array, optional
            Position in which the model is drawn once more, transparent.

        Returns
        -------
        (height, width, 3) uint8 array
            Red, green, blue.

        Raises
        ------
        RenderError
            If there is no such camera. If no picture can be made here: the same text again without another try.
        """
        if not (16 <= width <= 2048 and 16 <= height <= 2048):
            raise RenderError(f"picture of {width} x {height} pixels: each side must be within 16 .. 2048")
        if view and isinstance(view, str):
            cameras = [self._model.camera(number).name for number in range(self._model.ncam)]
            if view not in cameras:
                raise RenderError(f"there is no camera at {view!r}; there are: {', '.join(cameras)}")
        if self._failure:
            raise RenderError(self._failure)
        if self._process is None:
            self._start()
        try:
            plain = [tuple(mark) for mark in marks if np.isfinite(mark.points).all()]
            camera = view if view is None or isinstance(view, str) else tuple(view)
            pixels = self._call((np.array(qpos), width, height, camera, plain, ghost))
        except (OSError, EOFError, ValueError, pickle.UnpicklingError) as error:  # ValueError: closed meanwhile
            self.close()  # the next picture starts a new child
            raise RenderError(
                f"the rendering process ended unexpectedly ({error!r}); the next picture starts it again"
            ) from error
        return np.frombuffer(pixels, dtype=np.uint8).reshape(height, width, 3)

    def close(self) -> None:
        """End the child process."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):  # the child may be gone already
            if process.stdin:
                process.stdin.close()
        try:
            process.wait(timeout=2.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        # not before: another thread that waits for a picture holds this stream until the child is gone
        if process.stdout:
            process.stdout.close()

    def _start(self) -> None:
        chosen = os.environ.get("MUJOCO_GL", "").lower()
        reasons: List[str] = []
        for backend in (chosen,) if chosen in BACKENDS else BACKENDS:
            self._process = _spawn(backend, self._niceness)
            try:
                answer = self._call((pickle.dumps(self._model), self._nice))
            except (OSError, EOFError, pickle.UnpicklingError) as error:
                answer = f"the process ended ({error!r})"
            if answer == "ready":
                return
            reasons.append(f"{backend}: {answer}")
            self.close()
        self._failure = (
            "no offscreen rendering here ("
            + "; ".join(reasons)
            + "). Install libegl1 and libgl1-mesa-dri, or libosmesa6"
        )
        raise RenderError(self._failure)

    def _call(self, message: Any) -> Any:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise EOFError("no process")
        pickle.dump(message, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
        process.stdin.flush()
        return pickle.load(process.stdout)


def _spawn(backend: str, niceness: int) -> subprocess.Popen:
    environment = dict(os.environ, MUJOCO_GL=backend, PYOPENGL_PLATFORM=backend)
    # llvmpipe would take every core; one is left to the robot
    environment.setdefault("LP_NUM_THREADS", "1")
    source = str(Path(__file__).resolve().parents[2])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [source, environment.get("PYTHONPATH", "")]))
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("render_worker.py")), str(niceness)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    )
