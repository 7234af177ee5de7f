# SPDX-License-Identifier: MIT
"""External pushes on links, for experiments."""

from __future__ import annotations

import dataclasses
import math
from typing import List, Tuple

import mujoco
import numpy as np

from .errors import CommandError
from .obstacles import BODY


@dataclasses.dataclass(frozen=True)
class Push:
    """A constant force (N, world frame) at a point of a link (m, link frame) from `start` (s) for `duration` (s)."""

    link: str
    force: Tuple[float, ...]
    at: Tuple[float, ...]
    start: float
    duration: float


class PushList:
    """Pushes in force, applied at the beginning of each tick."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self.model = model  # another one of the same robot may take its place
        self._pushes: List[Push] = []
        self._was_active = False

    def clear(self) -> None:
        """Forget all pushes."""
        self._pushes = []

    def add(self, push: Push) -> None:
        """Add a push; raises CommandError for an unknown link or numbers that are not finite."""
        numbers = (*push.force, *push.at, push.duration)
        if len(push.force) != 3 or len(push.at) != 3 or not all(math.isfinite(n) for n in numbers) or push.duration < 0:
            raise CommandError(f"push {push}: needs three finite forces, three coordinates and a duration >= 0 s")
        if mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, push.link) < 0:
            raise CommandError(f"push: unknown link {push.link!r}")
        if push.link.startswith(BODY):  # it may be deleted meanwhile
            raise CommandError(f"push: {push.link!r} is no link of the robot")
        self._pushes.append(push)

    def apply(self, data: mujoco.MjData, time: float) -> None:
        """Write the pushes in force at `time` (s) into the physics; a finished push is dropped."""
        self._pushes = [push for push in self._pushes if time < push.start + push.duration - 1e-9]
        if not self._pushes and not self._was_active:
            return
        data.qfrc_applied[:] = 0.0
        for push in self._pushes:
            body = self.model.body(push.link).id
            point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ np.array(push.at)
            mujoco.mj_applyFT(self.model, data, np.array(push.force), np.zeros(3), point, body, data.qfrc_applied)
        self._was_active = bool(self._pushes)
