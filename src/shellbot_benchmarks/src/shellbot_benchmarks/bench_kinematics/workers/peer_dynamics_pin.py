# SPDX-License-Identifier: MIT
"""Pinocchio's dynamics from Python: the same robots, the same states."""

from __future__ import annotations

import importlib.metadata
import math
from pathlib import Path
from typing import Any, Dict

import numpy as np
import pinocchio as pin
from worker import Case, cycle

VERSIONS = {name: importlib.metadata.version(name) for name in ("pin", "numpy")}


def cases(options: Dict[str, Any]) -> Dict[str, Case]:
    """Return what is timed of each robot, with its forces and accelerations at one state as facts."""
    made: Dict[str, Case] = {}
    for name, robot in options["robots"].items():
        free = [pin.JointModelFreeFlyer()] if robot["floating"] else []
        model = pin.buildModelFromXML(robot["urdf"], *free)
        Path(options["models"], name).write_text(_joints(model), encoding="utf-8")
        # friction and rotors count in ours only where they are given; Pinocchio leaves the URDF's friction out of these
        data, first = model.createData(), 6 if robot["floating"] else 0
        q0, v0, a0 = (np.array(x) for x in robot["state"])
        q, at = pin.neutral(model), np.arange(model.nv)
        if first:
            q[:7] = q0[:7]
        for k, joint_name in enumerate(robot["joints"]):
            joint, value = model.joints[model.getJointId(joint_name)], q0[len(q0) - len(robot["joints"]) + k]
            q[joint.idx_q : joint.idx_q + joint.nq] = (math.cos(value), math.sin(value)) if joint.nq == 2 else value
            at[first + k] = joint.idx_v
        back = np.argsort(at)
        v, a = v0[back], a0[back]
        tau = pin.rnea(model, data, q, v, a).copy()
        M = np.array(pin.crba(model, data, q))  # noqa: N806
        M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(at, at)]  # noqa: N806
        made[f"{name}_inverse"] = Case(
            cycle(pin.rnea, [(model, data, q, v, a)] * 100), facts={"answer": tau[at].tolist()}
        )
        made[f"{name}_mass_matrix"] = Case(
            cycle(pin.crba, [(model, data, q)] * 100), facts={"answer": M.ravel().tolist()}
        )
        made[f"{name}_forward"] = Case(
            cycle(pin.aba, [(model, data, q, v, tau)] * 100),
            facts={"answer": pin.aba(model, data, q, v, tau)[at].tolist()},
        )
    return made


def _joints(model: Any) -> str:
    """Return the model as dynamics.cpp reads it."""
    lines = []
    for k in range(1, model.njoints):
        kind = model.joints[k].shortname()
        axis = {"JointModelFreeFlyer": "f", "JointModelRX": "x", "JointModelRY": "y", "JointModelRZ": "z"}[kind]
        place, body = model.jointPlacements[k], model.inertias[k]
        tensor = body.inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
        numbers = [*place.rotation.ravel(), *place.translation, body.mass, *body.lever, *tensor]
        lines.append(f"{model.parents[k]} {axis} {' '.join(f'{x:.17g}' for x in numbers)}")
    return "\n".join(lines)
