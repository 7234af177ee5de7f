# SPDX-License-Identifier: MIT
"""Pinocchio from Python, its inverse as a loop in Python, and EAIK's closed forms (full pose given)."""

from __future__ import annotations

import importlib.metadata
from typing import Any, Dict, List, Sequence, Tuple

import numpy as np
import pinocchio as pin
import problem
from numpy_loops import clik, levenberg_marquardt
from worker import Case, cycle

VERSIONS = {name: importlib.metadata.version(name) for name in ("pin", "EAIK", "numpy")}


def model_of(chains: Sequence[Tuple[problem.Row, List[problem.Row]]]) -> Tuple[Any, List[int]]:
    """Return a model of chains side by side, and the frames of their tips."""
    model, tips = pin.Model(), []
    for k, (base, rows) in enumerate(chains):
        parent, T = 0, problem.row_transform(base)  # noqa: N806
        for j, row in enumerate(rows):
            parent = model.addJoint(parent, pin.JointModelRZ(), pin.SE3(T), f"joint_{k}_{j}")
            T = problem.row_transform(row)  # noqa: N806
        tips.append(model.addFrame(pin.Frame(f"tip_{k}", parent, 0, pin.SE3(T), pin.FrameType.OP_FRAME)))
    return model, tips


def cases(_options: Dict[str, Any]) -> Dict[str, Case]:
    """Return everything that is timed of Pinocchio and EAIK."""
    made: Dict[str, Case] = {}
    aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    for name, base, rows, home in problem.ARMS:
        model, (tip,) = model_of([(base, rows)])
        data = model.createData()
        qs = home + np.random.default_rng(1).uniform(-0.5, 0.5, (1000, len(rows)))
        errors = [0.0, 0.0]
        for q in qs[:50]:
            J = pin.computeFrameJacobian(model, data, q, tip, aligned)  # noqa: N806
            pin.framesForwardKinematics(model, data, q)
            errors[0] = max(errors[0], np.abs(data.oMf[tip].homogeneous - problem.forward(base, rows, q)[0]).max())
            errors[1] = max(errors[1], np.abs(J - problem.jacobian(base, rows, q)).max())
        made[f"{name}_fk"] = Case(
            cycle(pin.framesForwardKinematics, [(model, data, q) for q in qs]), facts={"error": errors[0]}
        )
        made[f"{name}_jacobian"] = Case(
            cycle(pin.computeFrameJacobian, [(model, data, q, tip, aligned) for q in qs]), facts={"error": errors[1]}
        )
    made.update(_inverse(aligned))
    made["clik_tick"] = _tick(aligned)
    made.update(_eaik())
    return made


def _inverse(aligned: Any) -> Dict[str, Case]:
    model, (tip,) = model_of([(problem.LEG_BASE, problem.LEG)])
    data = model.createData()

    def evaluate(q: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        J = pin.computeFrameJacobian(model, data, q, tip, aligned)  # noqa: N806
        pin.updateFramePlacement(model, data, tip)
        return data.oMf[tip].translation.copy(), J[:3]

    solve, made = levenberg_marquardt(evaluate, problem.HOME, problem.TOLERANCE), {}
    for kind in ("W", "F"):
        targets = problem.leg_targets(kind, 1000)
        good = problem.reached(problem.LEG_BASE, problem.LEG, np.array([solve(t) for t in targets]), targets)
        made[f"lm_{kind.lower()}"] = Case(
            cycle(solve, [(t,) for t in targets]), facts={"success": int(good.sum()), "of": 1000}
        )
    return made


def _tick(aligned: Any) -> Case:
    model, tips = model_of([(problem.LEG_BASE, problem.LEG)] * 6)
    data = model.createData()
    feet, rates, start = problem.gait()
    p, J = np.empty((6, 3)), np.empty((6, 3, 4))  # noqa: N806

    def evaluate(q: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        for k, tip in enumerate(tips):
            p[k] = data.oMf[tip].translation
            J[k] = pin.getFrameJacobian(model, data, tip, aligned)[:3, 4 * k : 4 * k + 4]
        return p, J

    tick = clik(evaluate, feet, rates, start)
    return Case(cycle(tick, [()]))


def _eaik() -> Dict[str, Case]:
    from eaik.IK_DH import DhRobot

    made = {}
    q, poses = problem.leg_pose_targets(1000)
    # coxa, femur, tibia: what the fan's frame sees
    fan = np.linalg.inv(problem.forward(problem.LEG_BASE, problem.LEG[:1], np.zeros((1, 1)))[0])
    arms = (("closed_w", problem.LEG[1:], fan @ poses), ("arm_closed", problem.UR5, problem.ur5_targets(1000)))
    for name, rows, targets in arms:
        alpha, a, _, d = (np.array(column) for column in zip(*rows))
        robot = DhRobot(alpha, a, d)
        targets = [np.ascontiguousarray(T) for T in targets]
        good = sum(_exact(robot.IK(T).Q, rows, T) for T in targets)
        made[name] = Case(cycle(robot.IK, [(T,) for T in targets]), facts={"success": int(good), "of": len(targets)})
    return made


def _exact(solutions: Any, rows: Sequence[problem.Row], target: np.ndarray) -> bool:
    """Whether one of the solutions meets the pose."""
    still = (0.0, 0.0, 0.0, 0.0)
    return any(np.abs(problem.forward(still, rows, np.asarray(q))[0] - target).max() < 1e-6 for q in solutions)
