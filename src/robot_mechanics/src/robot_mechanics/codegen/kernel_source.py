# SPDX-License-Identifier: MIT
"""Source of all kernels of one chain, by name."""

from __future__ import annotations

from dataclasses import replace
from typing import List

import numpy as np

from robot_mechanics.codegen import table_source
from robot_mechanics.codegen.chain_source import Pose, write_jacobian, write_pose
from robot_mechanics.codegen.chain_tables import unit_length, whole_turns
from robot_mechanics.codegen.expressions import Vector, Writer, code
from robot_mechanics.codegen.inverse_source import Source, inverse_source
from robot_mechanics.codegen.options import KernelOptions
from robot_mechanics.models.parameters import ChainParameters

# Moving joints up to which each kernel is straight-line source (of clik: its fk_jacobian). That is 2 to 5 times faster
# than tables, but compiles in proportion to its length, about 2 ms a statement, and no kernel shall need more than 2 s.
LONGEST = {
    "fk": 12,
    "jacobian": 12,
    "fk_jacobian": 12,
    "ik": 9,
    "ik_limited": 9,
    "ik_pose": 7,
    "ik_pose_limited": 7,
    "clik": 0,
}
_VECTOR, _MATRIX = "float64[::1]", "float64[:, ::1]"
SIGNATURES = {
    "fk": f"void({_VECTOR}, {_MATRIX})",
    "jacobian": f"void({_VECTOR}, {_MATRIX})",
    "fk_jacobian": f"void({_VECTOR}, {_MATRIX}, {_MATRIX})",
    "ik": f"int64({_VECTOR}, {_VECTOR})",
    "ik_limited": f"int64({_VECTOR}, {_VECTOR})",
    "ik_pose": f"int64({_MATRIX}, {_VECTOR})",
    "ik_pose_limited": f"int64({_MATRIX}, {_VECTOR})",
    "clik": f"float64({_MATRIX}, {_VECTOR}, float64)",
}
HEAD = """# Written by robot_mechanics.codegen for one chain; changes are overwritten.
import math

from robot_mechanics.native.straight import stay_scalar
from robot_mechanics.native.angles import sincos, turn
from robot_mechanics.native.lanes import sincos_flat
from robot_mechanics.errors import ShapeError


"""


CLIK = """

from robot_mechanics.native.jit import scalar_kernel, stack_array, stack_pointer
from robot_mechanics.native.lm_kernels import clik_step

fk_jacobian = scalar_kernel(fk_jacobian)


def clik(task, q, dt):
    if task.shape[0] != 3 or task.shape[1] != 3:
        raise ShapeError("expected task (3, 3): position, velocity, gain")
    T, J = stack_array(stack_pointer(16), (4, 4)), stack_array(stack_pointer({n6}), (6, {n}))
    fk_jacobian(q, T, J)
    return clik_step(task, q, dt, T, J)
"""


def straight_line(p: ChainParameters, name: str) -> bool:
    """Return whether the kernel `name` is straight-line source: no loops over tables, no arrays of its own."""
    return int(np.count_nonzero(p.kind != 2)) <= LONGEST[name]


def kernel_source(p: ChainParameters, o: KernelOptions, name: str) -> str:
    """Return the source of a module with the kernel `name`, one of SIGNATURES."""
    if name == "clik":
        return kernel_source(p, o, "fk_jacobian") + CLIK.format(n=p.n, n6=6 * p.n)
    if not straight_line(p, name):
        return table_source.sources(p, o)[name]
    if name.startswith("ik"):
        pose, limited = "pose" in name, "limited" in name
        scale = unit_length(p) if pose else 1.0
        return HEAD + inverse_source(name, scaled_lengths(p, scale), whole_turns(p), pose, limited, scale, o)
    return HEAD + _forward(p, name, "fk" in name, "jacobian" in name)


def scaled_lengths(p: ChainParameters, scale: float) -> ChainParameters:
    """Return the chain with all lengths divided by `scale`; coordinates of prismatic joints keep their unit."""
    pre, post = p.pre.copy(), p.post.copy()
    pre[:, :3, 3] /= scale
    post[:, :3, 3] /= scale
    factor = np.where(p.kind == 1, 1.0 / scale, 1.0)
    return replace(p, pre=pre, post=post, ratio=p.ratio * factor, offset=p.offset * factor)


def _forward(p: ChainParameters, name: str, pose: bool, jacobian: bool) -> str:
    arguments = ["q", *(["T"] if pose else []), *(["J"] if jacobian else [])]
    source = Source(f"def {name}({', '.join(arguments)}):", "See CompiledChain.")
    n = p.n
    shapes = ["T.shape[0] != 4 or T.shape[1] != 4"] * pose + [f"J.shape[0] != 6 or J.shape[1] != {n}"] * jacobian
    source.enter(f"if q.shape[0] != {n} or {' or '.join(shapes)}:")
    expected = ["T (4, 4)"] * pose + [f"J (6, {n})"] * jacobian
    source.add(f'raise ShapeError("expected q ({n},) and {" and ".join(expected)}")').leave()
    source.add(*(f"q{i} = q[{i}]" for i in range(n)))
    if n:
        source.enter(f"if not math.isfinite({' + '.join(f'q{i}' for i in range(n))}):")
        source.add('raise ShapeError("q holds NaN or infinity; expected finite numbers")').leave()
    w = Writer("")
    at = write_pose(w, p, [f"q{i}" for i in range(n)], rotation=pose)
    rows = write_jacobian(w, at, n, 6) if jacobian else []
    source.add(*w.lines)
    if pose:
        source.add(*_stores(at))
    source.add(*(f"J[{r}, {i}] = {code(rows[r][i])}" for r in range(len(rows)) for i in range(n)))
    return source.text()


def _stores(at: Pose) -> List[str]:
    columns: List[Vector] = [*at.columns, at.p]
    lines = [f"T[{r}, {c}] = {code(columns[c][r])}" for r in range(3) for c in range(4)]
    return [*lines, "T[3, 0] = T[3, 1] = T[3, 2] = 0.0", "T[3, 3] = 1.0"]
