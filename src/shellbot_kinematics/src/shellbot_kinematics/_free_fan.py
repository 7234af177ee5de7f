# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
# ruff: noqa: UP018 - int(0), bool(1): numba compiles a kernel anew for every constant it is called with
"""A foot's inverse over all four joints: the fan turns as little as it takes. Complete: what can be met is met.

For a given point the leg depends on the fan only through the distance of coxa axis and point. The fan angles at which
the point can be met are intervals, and where one ends a joint is at a limit or the knee is stretched or folded. So
these ends are computed, and of those that work the one nearest to the given fan is taken.
"""

from __future__ import annotations

import math

from shellbot_kinematics._angles import angle, sincos
from shellbot_kinematics._axes import in_axes
from shellbot_kinematics._jit import bare_kernel, stack_floats
from shellbot_kinematics._layout import (
    G_A0,
    G_FAN,
    G_HIGH,
    G_L,
    G_L2,
    G_LOW,
    G_OFF,
    G_ROT,
    G_SF,
    G_SFAN,
    G_ST,
    G_TIP,
    G_ZF,
    REACHED,
)
from shellbot_kinematics._lower_inverse import lower_inverse
from shellbot_kinematics._planar import wrap

MET = 1e-3 * REACHED


@bare_kernel
def _add(ends, count, turn):
    ends[count] = turn
    return count + 1


@bare_kernel
def _turns_for(P, o, h, s, around, distance, arm, ends, count):
    """Add the two fan turns that bring the coxa axis as far from the point as the reach s says."""
    cosine = (distance * distance + arm * arm - s * s - h * h) / (2.0 * distance * arm)
    if not abs(cosine) <= 1.0 + 1e-9:
        return count
    cosine = max(-1.0, min(1.0, cosine))
    theta = angle(math.sqrt((1.0 - cosine) * (1.0 + cosine)), cosine)
    count = _add(ends, count, around - theta)
    return _add(ends, count, around + theta)


@bare_kernel
def fan_ends(P, o, tip, px, py, pz, limited, ends):
    """Write the fan turns (rad, not yet signed) at which the point may begin or cease to be met; return how many."""
    k = o + G_TIP + 3 * tip
    h, l1, l2 = P[k], P[o + G_L], P[k + 1]
    x, y, z = in_axes(P, o + G_ROT, px - P[o + G_FAN], py - P[o + G_FAN + 1], pz - P[o + G_FAN + 2])
    w = z - P[o + G_OFF + 2] - P[o + G_ZF]
    offx, offy = P[o + G_OFF], P[o + G_OFF + 1]
    arm, distance = math.sqrt(offx * offx + offy * offy), math.sqrt(x * x + y * y)
    if distance == 0.0 or arm == 0.0:
        return 0
    around = angle(y, x) - angle(offy, offx)
    count = _add(ends, 0, around)  # the arm towards the point, and away from it: for points out of reach
    count = _add(ends, count, around + math.pi)
    for end in range(4 if limited else 2):
        if end == 0:
            radius2 = (l1 + l2) ** 2
        elif end == 1:
            radius2 = (l1 - l2) ** 2
        else:
            _, cosine = sincos(P[k + 2] - P[o + G_A0] - P[o + G_ST] * P[o + (G_LOW if end == 2 else G_HIGH) + 3])
            radius2 = l1 * l1 + l2 * l2 + 2.0 * l1 * l2 * cosine
        u2 = radius2 - w * w
        if u2 >= 0.0:
            u = math.sqrt(u2)
            count = _turns_for(P, o, h, P[o + G_L2] + u, around, distance, arm, ends, count)
            count = _turns_for(P, o, h, P[o + G_L2] - u, around, distance, arm, ends, count)
    # no reach at all: the coxa axis as near to the point as the leg's lateral offset
    count = _turns_for(P, o, h, 0.0, around, distance, arm, ends, count)
    if not limited:
        return count
    for end in range(2):
        column = o + (G_LOW if end == 0 else G_HIGH)
        # the femur at its limit: the tip on a circle about the knee
        sa, ca = sincos(P[o + G_A0] - P[o + G_SF] * P[column + 2])
        u2 = l2 * l2 - (w - l1 * sa) ** 2
        if u2 >= 0.0:
            u = math.sqrt(u2)
            count = _turns_for(P, o, h, P[o + G_L2] + l1 * ca + u, around, distance, arm, ends, count)
            count = _turns_for(P, o, h, P[o + G_L2] + l1 * ca - u, around, distance, arm, ends, count)
        # the coxa at its limit: |OFF + R(q2) (s, h)| is the distance from the fan axis
        sc, cc = sincos(P[column + 1])
        k1, k2 = offx * cc + offy * sc, offy * cc - offx * sc
        root2 = k1 * k1 - (h * h + arm * arm - distance * distance + 2.0 * h * k2)
        if root2 >= 0.0:
            for sign in (-1.0, 1.0):
                s = -k1 + sign * math.sqrt(root2)
                count = _add(ends, count, angle(y, x) - angle(offy + s * sc + h * cc, offx + s * cc - h * sc))
        count = _add(ends, count, P[o + G_SFAN] * P[column])
    return count


@bare_kernel
def foot_free(P, o, tip, px, py, pz, limited, q, j):
    """Write all four joints; q[j : j + 4] holds where the leg is. Return the distance left (m)."""
    last = stack_floats(4)
    ends = stack_floats(40)
    for r in range(4):
        last[r] = q[j + r]
    start, no = int(0), bool(0)  # no constants: they would be compiled into variants of what is called
    low, high = P[o + G_LOW], P[o + G_HIGH]
    fan = last[0]
    if limited:
        fan = max(low, min(high, fan))
    q[j] = fan
    best, _ = lower_inverse(P, o, tip, px, py, pz, last, start, limited, no, q, j)
    if best <= MET:
        return best
    b0, b1, b2, b3 = q[j], q[j + 1], q[j + 2], q[j + 3]
    count = fan_ends(P, o, tip, px, py, pz, limited, ends)
    for _ in range(count):
        # the nearest of those that are left
        nearest, pick = math.inf, 0
        for e in range(count):
            turn = abs(ends[e] if not math.isfinite(ends[e]) else wrap(P[o + G_SFAN] * ends[e] - fan, 0.0))
            if turn < nearest:
                nearest, pick = turn, e
        if not math.isfinite(nearest):
            break
        value = fan + wrap(P[o + G_SFAN] * ends[pick] - fan, 0.0)
        ends[pick] = math.inf
        if limited:
            value = wrap(value, 0.5 * (low + high))
            if value < low - 1e-12 or value > high + 1e-12:
                continue
            value = max(low, min(high, value))
        q[j] = wrap(value, 0.0) if not limited else value
        left, _ = lower_inverse(P, o, tip, px, py, pz, last, start, limited, no, q, j)
        if left < best - 1e-9:
            best = left
            b0, b1, b2, b3 = q[j], q[j + 1], q[j + 2], q[j + 3]
            if best <= MET:
                break
    q[j], q[j + 1], q[j + 2], q[j + 3] = b0, b1, b2, b3
    return best
