# SPDX-License-Identifier: MIT
"""The picture of a limb: the robot held in the air in its pose, seen from beside the limb."""

from __future__ import annotations

import math
import threading
from typing import Callable, Dict, Optional

import numpy as np

from shellbot_common.view import View
from shellbot_description import driven_joint_names, expand, named_pose_array, robot_profile
from shellbot_simulator.core.errors import RenderError
from shellbot_simulator.core.render_process import RenderProcess
from shellbot_simulator.core.simulator import Simulator

_HEIGHT = 0.30  # m of the body: no leg reaches the floor
_UNSEEN_GROUP = 5  # MuJoCo draws groups 0 to 2
_BASE_Q = 7  # position and quaternion of the base


class LimbPicture:
    """Renders in a thread, the newest pose only.

    Parameters
    ----------
    variant : str
        walker or full.
    limb : str
        Which limb is in the middle.
    done : callable
        Called in the thread with each picture, (height, width, 3) uint8, or with the reason why there is none.
    """

    def __init__(self, variant: str, limb: str, done: Callable[[object], None]) -> None:
        physical = "simulation" if variant == "full" else variant
        self.names = list(driven_joint_names(physical))
        self.pose = dict(zip(self.names, named_pose_array("stand", physical)))
        self._simulator = Simulator(expand(physical), robot_profile(physical))
        self._q = self._simulator.data.qpos.copy()
        self._q[:_BASE_Q] = (0.0, 0.0, _HEIGHT, 1.0, 0.0, 0.0, 0.0)
        self._index = {name: self._simulator.model.joint(name).qposadr[0] for name in self.names}
        self._view = _view(limb)
        self._hide_other_limbs(limb)
        self._renderer = RenderProcess(self._simulator.model, nice=False)
        self._done = done
        self._condition = threading.Condition()
        self._next: Optional[np.ndarray] = None
        self._size = (480, 480)
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="limb picture", daemon=True)
        self._thread.start()

    def show(self, angles: Dict[str, float], width: int, height: int) -> None:
        """Ask for a picture with some joints at other angles than the pose, rad."""
        q = self._q.copy()
        for name, angle in {**self.pose, **angles}.items():
            q[self._index[name]] = angle
        if "lower_1_fan" in angles:  # one servo turns all six
            for name in self.names:
                if name.endswith("_fan"):
                    q[self._index[name]] = angles["lower_1_fan"]
        with self._condition:
            self._next, self._size = q, (width, height)
            self._condition.notify()

    def close(self) -> None:
        """End thread and renderer."""
        with self._condition:
            self._is_closed = True
            self._condition.notify()
        self._thread.join(5.0)
        self._renderer.close()
        self._simulator.close()

    def _hide_other_limbs(self, limb: str) -> None:
        model = self._simulator.model
        for geom in range(model.ngeom):
            body = model.body(model.geom_bodyid[geom]).name
            if body.startswith(("lower_", "upper_")) and not body.startswith(limb + "_"):
                model.geom_group[geom] = _UNSEEN_GROUP

    def _run(self) -> None:
        while True:
            with self._condition:
                while self._next is None and not self._is_closed:
                    self._condition.wait()
                q, self._next, size = self._next, None, self._size
                if self._is_closed or q is None:
                    return
            try:
                self._done(self._renderer.render(q, *size, view=self._view))
            except RenderError as error:
                self._done(str(error))


def _view(limb: str) -> View:
    """Return a camera that looks at a limb from its side: leg k of six stands at (k - 1) · 60 degrees."""
    half, _, number = limb.partition("_")
    bearing = (int(number) - 1) * 60.0
    radius, height = (0.17, _HEIGHT - 0.06) if half == "lower" else (0.10, _HEIGHT + 0.08)
    target = (radius * math.cos(math.radians(bearing)), radius * math.sin(math.radians(bearing)), height)
    return View(target, 0.55, bearing + 125.0, -12.0)
