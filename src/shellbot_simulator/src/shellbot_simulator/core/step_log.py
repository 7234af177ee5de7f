# SPDX-License-Identifier: MIT
"""Torques and speeds of the joints in every physics step of a tick.

A command is held for a tick, and the servos spend most of their power in its first steps. At its end they have caught
up: a sample there is low by a third in power, and misses the greatest torque.
"""

from __future__ import annotations

import mujoco
import numpy as np


class StepLog:
    """What an engine's steps since the beginning of a tick were.

    Parameters
    ----------
    steps : int
        Physics steps of a tick, s.
    v_index : (n,) int array
        Where the joints are in the velocities of the data.

    Attributes
    ----------
    effort, velocity : (s, n) float32 array
        Of the last whole tick: servo torques, N m, and joint speeds in the middle of the step, rad/s, so that their
        product is the power. New arrays each tick; zeros before the first.
    """

    def __init__(self, steps: int, v_index: np.ndarray) -> None:
        self._steps, self._v_index = steps, v_index
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.effort = self.velocity = np.zeros((self._steps, len(self._v_index)), dtype=np.float32)
        self._count = 0

    def begin(self, data: mujoco.MjData) -> None:
        """Begin a tick of `data`; one that did not become whole is forgotten."""
        self._count = 0
        self._force, self._v = data.actuator_force, data.qvel  # MuJoCo's memory; to find it costs as much as to read
        self._efforts = np.empty(self.effort.shape, dtype=np.float32)
        self._velocities = np.empty((self._steps + 1, self._v.size), dtype=np.float32)
        self._velocities[0] = self._v

    def add(self) -> None:
        """Add the step that was just solved: forces are those in it, velocities those after it."""
        self._efforts[self._count] = self._force
        self._count += 1
        self._velocities[self._count] = self._v
        if self._count == self._steps:
            middle = self._velocities[1:] + self._velocities[:-1]
            middle *= 0.5
            self.effort, self.velocity = self._efforts, middle[:, self._v_index]
