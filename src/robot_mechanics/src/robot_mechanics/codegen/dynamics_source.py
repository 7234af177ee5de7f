# SPDX-License-Identifier: MIT
"""Source of one robot's dynamics: the kernels of `native.rigid_body`, traced, or for large robots with their table."""

from __future__ import annotations

from typing import List, Tuple

import numpy as np

from robot_mechanics.codegen.expressions import Value, Writer, code, snap
from robot_mechanics.codegen.traced import Memory, Number, Traced, traceable, value_of
from robot_mechanics.native import rigid_body as rb
from robot_mechanics.native.articulated import has_own_coordinates

KERNELS = ("inverse", "mass_matrix", "forward", "inverse_batch")
# bodies, the base included, up to which the source is straight: it is 3 to 9 times faster than the loop, but compiles
# in proportion to its length, and no kernel shall need more than some 3 s
LONGEST = 8
LANES = 64  # states that are computed side by side
_HEAD = """# Written by robot_mechanics.codegen for one robot; changes are overwritten.
import numpy as np

from robot_mechanics.errors import ShapeError
from robot_mechanics.native import rigid_body as rb
from robot_mechanics.native.articulated import articulated
from robot_mechanics.native.jit import bare_kernel, lane_kernel, stack_floats
from robot_mechanics.native.lanes import get, prefer_wide_vectors, put, sincos_flat
from robot_mechanics.native.angles import sincos

"""
_TABLE = """TABLE = np.array({rows!r})
ABOVE = np.array({above!r})


"""
_KERNEL = '''
def {name}(block):
    """See CompiledDynamics."""
    if block.shape[0] != {size}:
        raise ShapeError("the block of {name} has a wrong length; expected {size}")
'''
_WORK = """    work = stack_floats({bodies} * {columns}).reshape(({bodies}, {columns}))
    q = block[:{nq}]
"""
_LOOPS = {
    "inverse": """    v, a = block[{nq} : {nq} + {nv}], block[{nq} + {nv} : {given}]
    rb.inverse_dynamics(TABLE, q, v, a, block[{given} :], work)
""",
    "mass_matrix": """    rb.mass_matrix(TABLE, q, block[{given} :].reshape(({nv}, {nv})), work)
""",
    "forward": """    v, a = block[{nq} : {nq} + {nv}], block[{given} :]
    for c in range({nv}):
        a[c] = block[{nq} + {nv} + c]
    M = stack_floats({nv} * {nv}).reshape(({nv}, {nv}))
    return {forward}(TABLE, ABOVE, q, v, stack_floats(0).reshape((0, 6)), a, M, work)
""",
}
# of many states, in columns; the lanes' loop is one over rows at fixed places, which LLVM turns into SIMD code
_LANES = '''

@lane_kernel
def inverse_lanes(w, n):
    prefer_wide_vectors()
    for i in range(n):
{loop}


@lane_kernel
def copy_lanes(source, target):
    for i in range(target.shape[0]):
        target[i] = source[i]


def inverse_batch(block):
    """See CompiledDynamics."""
    if block.shape[0] != {size}:
        raise ShapeError("the block of inverse_batch has a wrong number of rows; expected {size}")
    prefer_wide_vectors()
    w = stack_floats({size} * {lanes})
    count = block.shape[1]
    for first in range(0, count, {lanes}):
        n = min({lanes}, count - first)
        for row in range({given}):
            copy_lanes(block[row, first : first + n], w[row * {lanes} : row * {lanes} + n])
        inverse_lanes(w, n)
        for row in range({given}, {size}):
            copy_lanes(w[row * {lanes} : row * {lanes} + n], block[row, first : first + n])
'''
_ONE_BY_ONE = '''

inverse_once = bare_kernel(inverse)


def inverse_batch(block):
    """See CompiledDynamics."""
    if block.shape[0] != {size}:
        raise ShapeError("the block of inverse_batch has a wrong number of rows; expected {size}")
    state = stack_floats({size})
    for k in range(block.shape[1]):
        for row in range({given}):
            state[row] = block[row, k]
        inverse_once(state)
        for row in range({given}, {size}):
            block[row, k] = state[row]
'''


def lengths(nq: int, nv: int, name: str) -> Tuple[int, int]:
    """Return how many numbers of the block of a kernel are given, and how many it writes behind them."""
    return (nq, nv * nv) if name == "mass_matrix" else (nq + 2 * nv, nv)


def is_straight(rows: np.ndarray) -> bool:
    """Return whether the source for a table of bodies is straight: no loop, no table."""
    return len(rows) <= LONGEST


def dynamics_source(rows: np.ndarray, above: np.ndarray, name: str) -> str:
    """Return the source of a module with a kernel for one robot.

    Parameters
    ----------
    rows : (bodies, BODY) array
        The table of bodies of `rigid_body`.
    above : (nv,) array
        Of each coordinate of velocity the next one on the way to the base, -1 at its end.
    name : str
        One of KERNELS.
    """
    nq, nv = _sizes(rows, above)
    given, made = lengths(nq, nv, name)
    if is_straight(rows):
        return _HEAD + (_lanes(rows, above, given) if name == "inverse_batch" else _straight(rows, above, name, given))
    one = "inverse" if name == "inverse_batch" else name
    text = _TABLE.format(rows=rows.tolist(), above=above.tolist()) + _KERNEL.format(name=one, size=given + made)
    forward = "articulated" if has_own_coordinates(rows, nv) else "rb.forward_dynamics"
    text += (_WORK + _LOOPS[one]).format(bodies=len(rows), columns=rb.WORK, nq=nq, nv=nv, given=given, forward=forward)
    return _HEAD + text + (_ONE_BY_ONE.format(given=given, size=given + made) if name == "inverse_batch" else "")


def regrouped(rows: np.ndarray) -> np.ndarray:
    """Return a table of the same dynamics with fewer numbers: what a joint does not move is its parent's.

    A body behind a revolute joint gives away its mass, the first moment along the axis and as much of its tensor as is
    alike about all lines across the axis, so that three of its ten numbers are 0. What is left is no physical body, but
    makes the same forces and the same mass matrix: Gautier and Khalil, Direct Calculation of Minimum Set of Inertial
    Parameters of Serial Robots, IEEE Transactions on Robotics and Automation 6(3), 1990.

    Parameters
    ----------
    rows : (bodies, BODY) array
        The table of bodies of `rigid_body`, which is left as it is.
    """
    rows = rows.copy()
    work = np.zeros((len(rows), rb.WORK))
    work[:, rb.ROT : rb.ROT + 9], work[:, rb.ORG : rb.ORG + 3] = rows[:, rb.R : rb.R + 9], rows[:, rb.P : rb.P + 3]
    inertias, moved = rows[:, rb.MASS : rb.MASS + 10], work[:, rb.COMPOSITE : rb.COMPOSITE + 10]
    for i in range(len(rows) - 1, 0, -1):
        if rows[i, rb.KIND] == rb.REVOLUTE:
            parent, across = int(rows[i, rb.PARENT]), rows[i, rb.I + 3]
            moved[i] = rows[i, rb.MASS], 0.0, 0.0, rows[i, rb.H + 2], across, 0.0, 0.0, across, 0.0, 0.0
            moved[parent] = inertias[parent]
            rb.add_composite(rows, work, i)
            inertias[i] -= moved[i]
            inertias[parent] = moved[parent]
    return rows


def _straight(rows: np.ndarray, above: np.ndarray, name: str, given: int) -> str:
    w = Writer()
    w.otherwise = list(range(len(above) - 1, -1, -1))
    values, end = _traced(w, rows, above, name, "block[{}]")
    for i, value in enumerate(values):
        w.line(f"block[{given + i}] = {code(value)}")
    w.line(f"return {end}")
    return _KERNEL.format(name=name, size=given + len(values)) + "\n".join(w.lines) + "\n"


def _lanes(rows: np.ndarray, above: np.ndarray, given: int) -> str:
    w = Writer("", sincos="sincos_flat")
    values, _ = _traced(w, rows, above, "inverse", f"get(w, {{}} * {LANES}, i)")
    for i, value in enumerate(values):
        w.line(f"put(w, {(given + i) * LANES}, i, {code(value)})")
    loop = "\n".join(f"        {line}" for line in w.lines)
    return _LANES.format(loop=loop, lanes=LANES, given=given, size=given + len(values))


def _sizes(rows: np.ndarray, above: np.ndarray) -> Tuple[int, int]:
    return len(above) + (rows[0, rb.KIND] == rb.FLOATING_BASE), len(above)


def _traced(w: Writer, rows: np.ndarray, above: np.ndarray, name: str, place: str) -> Tuple[List[Value], object]:
    """Write a kernel whose arguments are at `place`, a format of an index; return what it makes and returns."""
    nq, nv = _sizes(rows, above)
    kernels = traceable(rb, _sincos=lambda angle: _sincos(w, angle), sign=lambda rate: _sign(w, rate))
    if name != "forward":  # which tells a mass matrix that is singular by the inertias that it is made of
        rows = regrouped(rows)
    table, work, first = np.vectorize(snap)(rows), Memory(w, len(rows), rb.WORK), 0
    arguments: List[Memory] = []
    for size in (nq, nv, nv) if name != "mass_matrix" else (nq,):
        arguments.append(Memory(w, size))
        for i in range(size):
            arguments[-1][i] = _named(w, w.name(place.format(first + i)))
        first += size
    made = Memory(w, nv) if name == "inverse" else Memory(w, nv, nv)
    if name == "inverse":
        end = kernels.inverse_dynamics(table, *arguments, made, work)
    elif name == "mass_matrix":
        end = kernels.mass_matrix(table, *arguments, made, work)
    else:
        q, v, a = arguments
        still = Memory(w, nv)
        for i in range(nv):
            still[i] = 0.0
        end = kernels.forward_within(table, above, q, v, Memory(w, 0, 6), a, made, work, still, Memory(w, nv))
        made = a
    return [value_of(made[at]) for at in sorted(made.numbers)], end


def _named(w: Writer, value: Value) -> Number:
    """Return the number that a variable holds, perhaps with a minus sign before it."""
    if isinstance(value, float):
        return value
    return Traced(w, {value.lstrip("-"): -1.0 if value.startswith("-") else 1.0})


def _sincos(w: Writer, angle: Number) -> Tuple[Number, Number]:
    sine, cosine = w.sincos(value_of(angle))
    return _named(w, sine), _named(w, cosine)


def _sign(w: Writer, rate: Number) -> Number:
    x = code(value_of(rate))
    return _named(w, w.name(f"(1.0 if {x} > 0.0 else -1.0 if {x} < 0.0 else 0.0)"))
