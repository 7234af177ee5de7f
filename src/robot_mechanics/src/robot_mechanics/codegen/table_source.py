# SPDX-License-Identifier: MIT
"""Source of a long chain's kernels: its tables as constants, handed to the table-driven kernels.

Straight-line source compiles in proportion to its length; beyond some joints that is too long, while the loop over
tables has its price per joint and always the same few lines to compile.
"""

from __future__ import annotations

import math
from typing import Dict

import numpy as np

from robot_mechanics.codegen.chain_tables import chain_tables, unit_length, whole_turns
from robot_mechanics.codegen.options import DAMPING, DAMPING_LIMITED, FAILURE, SUCCESS, KernelOptions
from robot_mechanics.models.parameters import ChainParameters

_HEAD = """# Written by robot_mechanics.codegen for one chain; changes are overwritten.
import math

import numpy as np

from robot_mechanics.native.jit import stack_array, stack_pointer
from robot_mechanics.native.lm_kernels import search
from robot_mechanics.native.table_kernels import table_jacobian, table_pose
from robot_mechanics.errors import ShapeError

inf = math.inf
"""

_MEMORY = """    pose = stack_array(stack_pointer(12), (3, 4))
    axes = stack_array(stack_pointer({m6}), ({m}, 6))
"""
_POINT = """    pose = stack_array(stack_pointer(12), (3, 4))
    axes = stack_array(stack_pointer({m12}), ({m2}, 6))
"""
_FINITE = """    total = 0.0
    for i in range({n}):
        total += q[i]
    if not math.isfinite(total):
        raise ShapeError("q holds NaN or infinity; expected finite numbers")
"""
_POSE = "    table_pose(CONSTANTS, KIND, COLUMN, RATIO, OFFSET, q, pose, axes)\n"
_JACOBIAN = "    table_jacobian(KIND, COLUMN, RATIO, pose, axes, J)\n"
_STORE = """    for r in range(3):
        for c in range(4):
            T[r, c] = pose[r, c]
    T[3, 0] = T[3, 1] = T[3, 2] = 0.0
    T[3, 3] = 1.0
"""
_FORWARD = """
def {name}({arguments}):
    if q.shape[0] != {n} or {test}:
        raise ShapeError("expected q ({n},) and {expected}")
"""
_INVERSE = """
def {name}(target, q):
    if {test} or q.shape[0] != {n}:
        raise ShapeError("expected target {shape} and q ({n},)")
"""
_GOAL = """    goal = stack_array(stack_pointer(12), (3, 4))
    weight = stack_array(stack_pointer(6), 6)
    for r in range(3):
        for c in range(3):
            goal[r, c] = 1.0 if r == c else 0.0
        weight[r], weight[3 + r] = {scale}, 0.0
        goal[r, 3] = {position}
        if math.isnan(goal[r, 3]):
            weight[r], goal[r, 3] = 0.0, 0.0
    if not math.isfinite(goal[0, 3] + goal[1, 3] + goal[2, 3]):
        raise ShapeError("the target's position is infinite; expected metres, or NaN for a free row")
"""
_ROTATION = """    if not math.isnan(target[0, 0]):
        bad = 0.0
        for r in range(3):
            weight[3 + r] = 1.0
            for c in range(3):
                goal[r, c] = target[r, c]
                product = -1.0 if r == c else 0.0
                for k in range(3):
                    product += target[k, r] * target[k, c]
                bad += abs(product)
        if not bad < 1e-5:
            raise ShapeError("the target's rotation is no rotation matrix; NaN makes it free")
"""
_SEARCH = """    J = stack_array(stack_pointer({n6}), (6, {n}))
    work = stack_array(stack_pointer({n4}), (4, {n}))
    return search(
        CONSTANTS, KIND, COLUMN, RATIO, OFFSET, goal, weight, TOLERANCE, ACTIVE, LOW, HIGH, TURNS, SETTINGS,
        {attempts}, q, pose, axes, J, work,
    )
"""


def sources(p: ChainParameters, o: KernelOptions) -> Dict[str, str]:
    """Return the source of each kernel of `kernel_source.SIGNATURES`."""
    tables, n = chain_tables(p), p.n
    m, scale = len(tables.kind), unit_length(p)
    sizes = {"n": n, "m": m, "m2": 2 * m, "m6": 6 * m, "m12": 12 * m, "n6": 6 * n, "n4": 4 * n}
    head = _HEAD
    for name, array in zip(("CONSTANTS", "KIND", "COLUMN", "RATIO", "OFFSET"), tables):
        head += _constant(name, array)
    memory, finite = _MEMORY.format(**sizes), _FINITE.format(**sizes)
    pose_test, J_test = "T.shape[0] != 4 or T.shape[1] != 4", f"J.shape[0] != 6 or J.shape[1] != {n}"  # noqa: N806
    made = {}
    for name, arguments, test, expected, body in (
        ("fk", "q, T", pose_test, "T (4, 4)", _POSE + _STORE),
        ("jacobian", "q, J", J_test, f"J (6, {n})", _POSE + _JACOBIAN),
        ("fk_jacobian", "q, T, J", f"{pose_test} or {J_test}", f"T (4, 4) and J (6, {n})", _POSE + _STORE + _JACOBIAN),
    ):
        first = _FORWARD.format(name=name, arguments=arguments, test=test, expected=expected, n=n)
        made[name] = head + "\n" + first + finite + memory + body
    head += _constant("TOLERANCE", np.array([o.tolerance] * 3 + [o.angle_tolerance] * 3))
    head += _constant("ACTIVE", np.ones(n)) + _constant("TURNS", np.array(whole_turns(p), dtype=np.float64))
    free = np.full(n, math.inf)
    for name in ("ik", "ik_limited", "ik_pose", "ik_pose_limited"):
        pose, limited = "pose" in name, "limited" in name
        mu = DAMPING_LIMITED if limited else DAMPING
        limits = _constant("SETTINGS", np.array([mu, SUCCESS, FAILURE, float(o.steps), 1e-9]))
        limits += _constant("LOW", p.lower if limited else -free) + _constant("HIGH", p.upper if limited else free)
        test = "target.shape[0] != 4 or target.shape[1] != 4" if pose else "target.shape[0] != 3"
        first = _INVERSE.format(name=name, test=test, shape="(4, 4)" if pose else "(3,)", n=n)
        goal = _GOAL.format(scale=repr(1.0 / scale), position="target[r, 3]" if pose else "target[r]")
        sizes["attempts"] = o.pose_attempts if pose else o.attempts
        body = first + finite + _POINT.format(**sizes) + goal + (_ROTATION if pose else "") + _SEARCH.format(**sizes)
        made[name] = head + limits + "\n" + body
    return made


def _constant(name: str, array: np.ndarray) -> str:
    kind = "int64" if array.dtype.kind == "i" else "float64"
    return f"{name} = np.array({array.tolist()!r}, dtype=np.{kind})\n"
