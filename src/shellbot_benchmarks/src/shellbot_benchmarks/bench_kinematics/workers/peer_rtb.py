# SPDX-License-Identifier: MIT
"""Robotics Toolbox for Python: its C++ forward kinematics and Levenberg-Marquardt (Chan, restarts)."""

from __future__ import annotations

import importlib.metadata
from typing import Any, Dict, Sequence

import numpy as np
import problem
from roboticstoolbox import ET
from worker import Case, cycle

VERSIONS = {name: importlib.metadata.version(name) for name in ("roboticstoolbox-python", "numpy")}


def chain(base: problem.Row, rows: Sequence[problem.Row]) -> Any:
    """Return the chain as an elementary transform sequence."""
    ets = ET.SE3(problem.row_transform(base)) * ET.Rz()
    for j, (alpha, a, _, d) in enumerate(rows):
        ets = ets * ET.tz(d) * ET.tx(a) * ET.Rx(alpha)
        if j + 1 < len(rows):
            ets = ets * ET.Rz()
    return ets


def cases(_options: Dict[str, Any]) -> Dict[str, Case]:
    """Return everything that is timed of the toolbox."""
    made: Dict[str, Case] = {}
    chains = {}
    for name, base, rows, home in problem.ARMS:
        ets = chains[name] = chain(base, rows)
        qs = home + np.random.default_rng(1).uniform(-0.5, 0.5, (1000, len(rows)))
        errors = [0.0, 0.0]
        for q in qs[:50]:
            errors[0] = max(errors[0], np.abs(ets.eval(q) - problem.forward(base, rows, q)[0]).max())
            errors[1] = max(errors[1], np.abs(ets.jacob0(q) - problem.jacobian(base, rows, q)).max())
        made[f"{name}_fk"] = Case(cycle(ets.eval, [(q,) for q in qs]), facts={"error": errors[0]})
        made[f"{name}_jacobian"] = Case(cycle(ets.jacob0, [(q,) for q in qs]), facts={"error": errors[1]})
    position, orientation = np.array([1.0, 1, 1, 0, 0, 0]), np.array([0.0, 0, 0, 1, 1, 1])
    enough = 0.5 * problem.TOLERANCE**2  # the toolbox compares half the square of the error
    for kind in ("W", "F"):
        targets = problem.leg_targets(kind)
        poses = np.tile(np.eye(4), (len(targets), 1, 1))
        poses[:, :3, 3] = targets
        made[f"lm_{kind.lower()}"] = _inverse(
            chains["leg"], poses, problem.HOME, position, enough, problem.ARMS[0], targets
        )
    poses = problem.ur5_targets()
    made["arm_pose"] = _inverse(chains["arm"], poses, problem.UR5_HOME, np.ones(6), enough, problem.ARMS[1], poses)
    made["arm_orientation"] = _inverse(chains["arm"], poses, problem.UR5_HOME, orientation, enough, None, poses)
    return made


def _inverse(
    ets: Any, poses: np.ndarray, home: np.ndarray, mask: np.ndarray, enough: float, arm: Any, targets: np.ndarray
) -> Case:
    def solve(pose: np.ndarray) -> Any:
        return ets.ik_LM(
            pose, q0=home, ilimit=30, slimit=100, tol=enough, mask=mask, joint_limits=False, k=1.0, method="chan"
        )

    facts: Dict[str, Any] = {}
    answers = [solve(pose) for pose in poses[:2000]]
    if arm is not None:
        good = problem.reached(arm[1], arm[2], np.array([a[0] for a in answers]), targets[:2000])
        facts = {"success": int(good.sum()), "of": len(good)}
    else:
        facts = {"success": int(sum(a[1] for a in answers)), "of": len(answers)}
    return Case(cycle(solve, [(pose,) for pose in poses]), facts=facts)
