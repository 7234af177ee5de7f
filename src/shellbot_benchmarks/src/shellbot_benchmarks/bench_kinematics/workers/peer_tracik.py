# SPDX-License-Identifier: MIT
"""TRAC-IK (pytracik): full poses of the 6-DoF arm, two threads of its own, timed by the wall."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any, Dict

import numpy as np
import problem
from trac_ik import TracIK
from worker import Case, cycle

VERSIONS = {name: importlib.metadata.version(name) for name in ("pytracik", "numpy")}


def cases(options: Dict[str, Any]) -> Dict[str, Case]:
    """Return what is timed of TRAC-IK."""
    file = Path(options["folder"]) / "ur5.urdf"
    file.write_text(problem.urdf("ur5", problem.UR5_BASE, problem.UR5, [(-6.3, 6.3)] * 6), encoding="utf-8")
    solver = TracIK("world", "tip_1", str(file), timeout=0.005, epsilon=problem.TOLERANCE, solver_type="Speed")
    poses, home = problem.ur5_targets(500), problem.UR5_HOME
    items = [(np.ascontiguousarray(T[:3, 3]), np.ascontiguousarray(T[:3, :3]), home) for T in poses]
    answers = [solver.ik(*item) for item in items]
    joints = np.array([np.full(6, np.nan) if a is None else a for a in answers])
    good = problem.reached(problem.UR5_BASE, problem.UR5, joints, poses)
    return {"arm_pose": Case(cycle(solver.ik, items), facts={"success": int(good.sum()), "of": len(good)}, wall=True)}
