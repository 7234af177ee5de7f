# SPDX-License-Identifier: MIT
"""Pinocchio's dynamics from Python: the same robots, the same states."""

from __future__ import annotations

import importlib.metadata
import math
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
        made[f"{name}_rnea"] = Case(cycle(pin.rnea, [(model, data, q, v, a)] * 100), facts={"answer": tau[at].tolist()})
        made[f"{name}_crba"] = Case(cycle(pin.crba, [(model, data, q)] * 100), facts={"answer": M.ravel().tolist()})
        made[f"{name}_forward"] = Case(
            cycle(pin.aba, [(model, data, q, v, tau)] * 100),
            facts={"answer": pin.aba(model, data, q, v, tau)[at].tolist()},
        )
    return made
