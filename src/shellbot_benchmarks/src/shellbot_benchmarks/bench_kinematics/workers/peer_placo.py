# SPDX-License-Identifier: MIT
"""Placo: the tick of six legs as one quadratic programme."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any, Dict

import numpy as np
import placo
import problem
from worker import Case, cycle

VERSIONS = {name: importlib.metadata.version(name) for name in ("placo", "numpy")}


def cases(options: Dict[str, Any]) -> Dict[str, Case]:
    """Return what is timed of placo."""
    folder = Path(options["folder"]) / "placo_robot"
    folder.mkdir(parents=True, exist_ok=True)
    text = problem.urdf("six", problem.LEG_BASE, problem.LEG, [(-6.3, 6.3)] * 4, legs=6)
    (folder / "robot.urdf").write_text(text, encoding="utf-8")
    robot = placo.RobotWrapper(str(folder), placo.Flags.ignore_collisions)
    solver = placo.KinematicsSolver(robot)
    solver.mask_fbase(True)
    feet, _, start = problem.gait()
    for k in range(6):
        for j in range(4):
            robot.set_joint(f"joint_{k + 1}_{j}", float(start[4 * k + j]))
    robot.update_kinematics()
    error = max(np.abs(robot.get_T_world_frame(f"tip_{k + 1}")[:3, 3] - feet[0, k] * [1, 0, 1]).max() for k in (0,))
    tasks = []
    for k in range(6):
        task = solver.add_position_task(f"tip_{k + 1}", feet[0, k])
        task.configure(f"foot_{k}", "soft", 1.0)
        tasks.append(task)
    state = {"k": 0}

    def tick() -> None:
        k = state["k"]
        for task, target in zip(tasks, feet[k]):
            task.target_world = target
        solver.solve(True)
        robot.update_kinematics()
        state["k"] = (k + 1) % len(feet)

    for _ in range(len(feet)):
        tick()
    last = feet[state["k"] - 1]
    left = max(np.linalg.norm(robot.get_T_world_frame(f"tip_{k + 1}")[:3, 3] - last[k]) for k in range(6))
    return {
        "clik_tick": Case(
            cycle(tick, [()]),
            facts={"error": 0.0 if error < 0.05 else float(error), "worst_error_mm": 1e3 * float(left)},
        )
    }
