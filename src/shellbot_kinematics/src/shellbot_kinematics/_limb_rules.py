# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""What the rules of lower and upper limbs have in common (_lower_rules, _upper_rules). Arrays as in _tick."""

from __future__ import annotations

import math

from robot_mechanics.native.jit import bare_kernel
from shellbot_kinematics._layout import (
    AT_LIMIT,
    BAD_REFERENCE,
    O_RATES,
    OK,
    OUT_OF_REACH,
    R_FRAME,
    R_JOINT,
    R_P,
    R_RATE,
    R_RPY,
    REACHED,
    S_STEP,
    SPHERE_CENTRE,
    STOP_NONE,
)
from shellbot_kinematics._planar import clamp

_USABLE = 1e9  # m, rad, ...: beyond, squares overflow sooner or later, and nothing real is meant


@bare_kernel
def finite(row, first, count):
    """Return whether the entries first .. first + count are numbers that can be computed with."""
    for j in range(first, first + count):  # noqa: SIM110 - numba's generators are slow
        if not abs(row[j]) < _USABLE:
            return False
    return True


@bare_kernel
def is_plan(R, i):
    """Return whether lower limb i is led by its sphere centre's x, y and orientation, the height left free."""
    p = R_P + 3 * i
    return R[R_FRAME + i] == SPHERE_CENTRE and math.isnan(R[p + 2]) and finite(R, p, 2) and finite(R, R_RPY + 3 * i, 3)


@bare_kernel
def status_of(distance, stop):
    """Return OK, AT_LIMIT or OUT_OF_REACH."""
    if distance <= REACHED:
        return OK
    return AT_LIMIT if stop <= 8 else OUT_OF_REACH


@bare_kernel
def joint_reference(P, low, count, R, i, first, out):
    """Copy a JOINT reference within the limits; return status and stop. first: where its joints begin in `out`."""
    if not finite(R, R_JOINT + 3 * i, count):
        return BAD_REFERENCE, STOP_NONE, 0
    state, stop = OK, STOP_NONE
    for r in range(count):
        value = R[R_JOINT + 3 * i + r]
        lo, hi = P[low + r], P[low + (4 if count == 3 else 2) + r]
        bounded = clamp(value, lo, hi)
        out[first + r], out[O_RATES + first + r] = bounded, R[R_RATE + 3 * i + r]
        if bounded != value:
            state, stop = AT_LIMIT, 1 + 2 * (r + (1 if count == 3 else 0)) + (1 if bounded == hi else 0)
            out[O_RATES + first + r] = 0.0
    return state, stop, (0 if finite(R, R_RATE + 3 * i, count) else 1)


@bare_kernel
def bounded_step(S, m, out, j, count, P, low, high, speed):
    """Replace joints in `out` by one step of the rates there from the measured ones: all rates slowed down alike to
    what the joints can do (speed: where that begins in P), the joints kept within low .. high.
    """
    worst = 1.0
    for r in range(count):
        worst = max(worst, abs(out[O_RATES + j + r]) / P[speed + r])
    for r in range(count):
        out[O_RATES + j + r] /= worst
        out[j + r] = clamp(S[m + r] + S[S_STEP] * out[O_RATES + j + r], P[low + r], P[high + r])
