# SPDX-License-Identifier: MIT
"""What a physics engine does for the simulator, and MuJoCo as one.

The model is MuJoCo's for each engine: it is what was read of the description, and gives sensors and pictures the
kinematics. An engine moves the robot: it solves a step and leaves positions and velocities in the data.
"""

from __future__ import annotations

import importlib
from typing import Any, Protocol

import mujoco

from .config import check_engine
from .ground import ContactSnapshot, GroundSensor
from .step_log import StepLog


class Engine(Protocol):
    """Integrates one robot; its servos' law and what pushes it are in model and data, as MuJoCo reads them."""

    def place(self) -> None:
        """Take positions and velocities over from the data, which were set by hand."""

    def solve(self, log: StepLog, steps: int = 1) -> None:
        """Advance positions and velocities by steps, each added to the log; `contacts` then belongs to the last one."""

    def update(self) -> None:
        """Bring everything that sensors read into line with the new positions and velocities."""

    def contacts(self) -> ContactSnapshot:
        """Return the contacts of the step just solved (call before `update`)."""

    def resume(self, former: Any) -> None:
        """Go on, with data that were copied, where an engine of the same kind was whose model had other obstacles."""


class MujocoEngine:
    """The engine that needs no second model.

    Parameters
    ----------
    model : mujoco.MjModel
        From `build_model`.
    data : mujoco.MjData
        Its state, which the engine moves on.
    ground : GroundSensor
        It reads the contacts.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, ground: GroundSensor) -> None:
        self._model, self._data, self._ground = model, data, ground

    def place(self) -> None:
        """Evaluate the data."""
        mujoco.mj_forward(self._model, self._data)

    def solve(self, log: StepLog, steps: int = 1) -> None:
        """Solve the forces and integrate; positions and velocities of the first step were evaluated by `update`."""
        model, data = self._model, self._data
        mujoco.mj_step2(model, data)
        log.add()
        for _ in range(steps - 1):
            mujoco.mj_step(model, data)
            log.add()

    def update(self) -> None:
        """Evaluate positions and velocities, which the next step does not do again."""
        mujoco.mj_step1(self._model, self._data)

    def contacts(self) -> ContactSnapshot:
        """Return the contacts of the step just solved."""
        return self._ground.snapshot(self._data)

    def resume(self, former: MujocoEngine) -> None:
        """Evaluate the data, which have all that the former engine knew."""
        self.update()


def create_engine(name: str, model: mujoco.MjModel, data: mujoco.MjData, ground: GroundSensor) -> Engine:
    """Return an engine by name.

    Parameters
    ----------
    name : str
        One of ENGINES.
    model, data, ground
        As of `MujocoEngine`.

    Raises
    ------
    ModelError
        If Bullet is not installed, or cannot take this model; the text says what to do.
    """
    if name == "mujoco":
        return MujocoEngine(model, data, ground)
    check_engine(name)
    module = importlib.import_module(".bullet_engine", __package__)
    engine: Engine = module.BulletEngine(model, data, ground)
    return engine
