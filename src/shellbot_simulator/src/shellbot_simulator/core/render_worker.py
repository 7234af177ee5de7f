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


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until the parent closes the pipe.

    The first request is (pickled model, nice), answered by "ready" or the reason of a failure; the others are
    (qpos, width, height, view or None), answered by the bytes of the picture.
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
    while True:
        try:
            qpos, width, height, view = pickle.load(requests)
        except EOFError:
            return
        if (width, height) not in renderers:
            for old in renderers.values():
                old.close()
            model.vis.global_.offwidth, model.vis.global_.offheight = width, height
            renderers = {(width, height): mujoco.Renderer(model, height, width)}
        renderer = renderers[(width, height)]
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_camlight(model, data)
        camera: Any = "follow"
        if view is not None:
            camera = mujoco.MjvCamera()
            camera.type = mujoco.mjtCamera.mjCAMERA_FREE
            camera.lookat[:], camera.distance, camera.azimuth, camera.elevation = view
        renderer.update_scene(data, camera=camera)
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = nice
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
        _answer(answers, renderer.render().tobytes())


def _answer(stream: BinaryIO, message: Any) -> None:
    pickle.dump(message, stream, protocol=pickle.HIGHEST_PROTOCOL)
    stream.flush()


def main() -> None:
    """Serve on the standard streams; what libraries print goes to standard error instead."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then closes the pipe
    os.nice(5)  # the robot comes before its picture
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with contextlib.suppress(BrokenPipeError):  # the parent may be gone
        serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
