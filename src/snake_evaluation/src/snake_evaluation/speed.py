# SPDX-License-Identifier: MIT
"""How fast the simulation runs: CPU time of physics, and of all that runs in one process, against simulated time."""

from __future__ import annotations

import copy
import time
from dataclasses import replace
from typing import Callable, Dict, List, Sequence

import mujoco
import numpy as np

from robot_evaluation.tables import markdown_table
from shellbot_common import TICK, check_number

from .snake_run import Setup, SnakeRun

_BEGIN = 3.0  # s until a gait has begun
_MOTION_TICKS = 1000


def speed_table(modules: Sequence[int], gaits: Sequence[str], setup: Setup, seconds: float) -> str:
    """Return a Markdown table of simulated over CPU time, self-collision on, and of what a tick costs without physics.

    Parameters
    ----------
    modules, gaits : sequence
        Cases.
    setup : Setup
        The rest of the robot, and its floor.
    seconds : float
        Simulated time of each measurement.

    Raises
    ------
    EvaluationError
        If a robot cannot do a gait.
    SettingsError
        If the simulated time is out of its range.
    """
    check_number("seconds", seconds, TICK, 1000.0, "s")
    return markdown_table([_case(replace(setup, modules=count), gait, seconds) for count in modules for gait in gaits])


def _case(setup: Setup, gait: str, seconds: float) -> Dict[str, str]:
    run = SnakeRun(setup)
    run.run(0.1)
    run.request(gait)
    run.run(_BEGIN)
    simulator, start = run.simulator, copy.copy(run.simulator.data)
    contacts: List[int] = []
    commands: List[np.ndarray] = []

    def observe() -> None:
        contacts.append(simulator.data.ncon)
        commands.append(simulator.applied_command)

    run.observer = observe
    run.run(seconds)
    run.observer = None  # which takes a few us a tick
    whole = _cpu(lambda: run.run(seconds))
    return {
        "modules": str(setup.modules),
        "gait": gait,
        "contacts": f"{np.mean(contacts):.0f}",
        "all, x real time": f"{seconds / whole:.1f}",
        "physics alone": f"{seconds / _replay(run, start, commands):.1f}",
        "engine and odometry, ms a tick": f"{_motion(run):.3f}",
    }


def _replay(run: SnakeRun, start: mujoco.MjData, commands: Sequence[np.ndarray]) -> float:
    """Return the CPU time, s, of the physics engine alone on the same commands; `start` moves on."""
    simulator = run.simulator
    model, steps = simulator.model, simulator.config.steps_per_tick

    def replay() -> None:
        for command in commands:
            start.ctrl[:] = command
            mujoco.mj_step(model, start, steps)

    return _cpu(replay)


def _motion(run: SnakeRun) -> float:
    """Return the CPU time of engine and odometry, ms a tick."""
    simulator = run.simulator
    t, q, attitude, effort = simulator.time, simulator.joint_position, simulator.imu_orientation, simulator.joint_effort

    def step() -> None:
        for tick in range(_MOTION_TICKS):
            run.core.step(t + tick * TICK, q, attitude, effort)

    return 1e3 * _cpu(step) / _MOTION_TICKS


def _cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun
