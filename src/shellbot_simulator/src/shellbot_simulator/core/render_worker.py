# SPDX-License-Identifier: MIT
"""The child of `RenderProcess`: reads positions from standard input, writes pictures to standard output.

Run as a script with MUJOCO_GL set; needs nothing of the package, so that it starts quickly.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
from typing import Any, BinaryIO, Dict, Tuple

import numpy as np

_LEVEL = np.eye(3).ravel()
_GHOST = (0.75, 0.85, 1.0, 0.25)  # red, green, blue, alpha
_SIZES = 3  # of pictures for which a renderer stays: cameras take turns, a window is drawn to ever new sizes


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until the parent closes the pipe.

    The first request is (pickled model, nice), answered by "ready" or the reason of a failure; the others are
    (qpos, width, height, view, name of a camera or None, marks, ghost or None), answered by the bytes of the picture.
    """
    try:
        pickled, nice = pickle.load(requests)
        import mujoco  # chooses the OpenGL library by MUJOCO_GL: not before the pipe is set up

        model = pickle.loads(pickled)
        if not nice:
            model.vis.quality.offsamples = 0
        data = mujoco.MjData(model)
        mujoco.Renderer(model, 16, 16).close()  # fails here if at all
    except EOFError:
        return
    except Exception as error:  # any failure of a foreign OpenGL stack must reach the parent as words
        _answer(answers, f"{type(error).__name__}: {error}".splitlines()[0][:300])
        return
    _answer(answers, "ready")
    renderers: Dict[Tuple[int, int], Any] = {}
    second: Any = None
    while True:
        try:
            qpos, width, height, view, marks, ghost = pickle.load(requests)
        except EOFError:
            return
        if (width, height) not in renderers:
            if len(renderers) >= _SIZES:
                renderers.pop(next(iter(renderers))).close()
            model.vis.global_.offwidth, model.vis.global_.offheight = width, height
            renderers[width, height] = mujoco.Renderer(model, height, width)
        renderer = renderers[(width, height)]
        _put(mujoco, model, data, qpos)
        camera = view or "follow"
        if isinstance(view, tuple):
            camera = mujoco.MjvCamera()
            camera.type = mujoco.mjtCamera.mjCAMERA_FREE
            camera.lookat[:], camera.distance, camera.azimuth, camera.elevation = view
        renderer.update_scene(data, camera=camera)
        if ghost is not None:
            if second is None:
                second = mujoco.MjData(model)
            _put(mujoco, model, second, ghost)
            _add_ghost(mujoco, model, second, renderer.scene)
        for mark in marks:
            _add_mark(mujoco, renderer.scene, *mark)
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = nice
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
        _answer(answers, renderer.render().tobytes())


def _put(mujoco: Any, model: Any, data: Any, qpos: Any) -> None:
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_camlight(model, data)


def _add_ghost(mujoco: Any, model: Any, data: Any, scene: Any) -> None:
    first = scene.ngeom
    moving = int(mujoco.mjtCatBit.mjCAT_DYNAMIC)  # not the floor once more
    mujoco.mjv_addGeoms(model, data, mujoco.MjvOption(), mujoco.MjvPerturb(), moving, scene)
    for geom in scene.geoms[first : scene.ngeom]:
        geom.rgba[:] = _GHOST


def _add_mark(mujoco: Any, scene: Any, kind: str, points: Any, size: float, colour: Any, text: str) -> None:
    """Add one mark to a scene, as far as there is room; see `Mark`."""
    geoms = mujoco.mjtGeom

    def add(shape: Any, scale: Any = (1.0, 1.0, 1.0), place: Any = (0.0, 0.0, 0.0), axes: Any = None) -> Any:
        if scene.ngeom >= scene.maxgeom:
            return None
        geom = scene.geoms[scene.ngeom]
        mujoco.mjv_initGeom(
            geom, shape, np.array(scale), np.array(place), _LEVEL if axes is None else axes, np.float32(colour)
        )
        geom.emission = 0.4  # seen in the shade, too
        scene.ngeom += 1
        return geom

    radius = 0.5 * size
    if kind in ("line", "arrow"):
        shape = geoms.mjGEOM_LINE if kind == "line" else geoms.mjGEOM_ARROW
        for start, end in zip(points[:-1], points[1:]):
            geom = add(shape)
            if geom is not None:
                mujoco.mjv_connector(geom, shape, size, start, end)
    elif kind == "area":
        for a, b, c in points.reshape(-1, 3, 3):
            add(geoms.mjGEOM_TRIANGLE, place=a, axes=np.column_stack((b - a, c - a, (0.0, 0.0, 1.0))).ravel())
    else:
        for point in points:
            if kind == "sphere":
                add(geoms.mjGEOM_SPHERE, (radius,) * 3, point)
            elif kind == "disc":
                add(geoms.mjGEOM_CYLINDER, (radius, 0.0005, 0.0), point)
            elif kind == "text":
                geom = add(geoms.mjGEOM_LABEL, place=point)
                if geom is not None:
                    geom.label = text[:99]


def _answer(stream: BinaryIO, message: Any) -> None:
    pickle.dump(message, stream, protocol=pickle.HIGHEST_PROTOCOL)
    stream.flush()


def main() -> None:
    """Serve on the standard streams; what libraries print goes to standard error instead."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then closes the pipe
    os.nice(int(sys.argv[1]))  # the robot comes before its picture
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with contextlib.suppress(BrokenPipeError):  # the parent may be gone
        serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
