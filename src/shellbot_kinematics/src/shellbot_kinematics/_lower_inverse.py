# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""A lower leg's closed-form inverse for its foot (tip 0) and its sphere centre (tip 1), the fan given.

Arrays as in _lower_leg. Formulas: docs/kinematics.md.
"""

from __future__ import annotations

import math

from robot_mechanics.native.angles import angle, sincos
from robot_mechanics.native.jit import bare_kernel, joined_kernel
from shellbot_kinematics._layout import (
    G_A0,
    G_HIGH,
    G_L,
    G_L2,
    G_LOW,
    G_SF,
    G_SFAN,
    G_ST,
    G_TIP,
    G_ZF,
    STOP_AXIS,
    STOP_NONE,
)
from shellbot_kinematics._lower_leg import to_coxa
from shellbot_kinematics._planar import STEADY, clamp, planar_limited, planar_nearby, planar_solve, wrap


@bare_kernel
def lower_branch(P, o, tip, x, y, z, side, knee):
    """Return coxa, femur, tibia (rad, unlimited), A and gamma, and the stop, for a target in the axes of the coxa.

    side: +1 the tip in front of the coxa axis, -1 behind it; knee: -1 up, +1 down. Formula: s = +-sqrt(x^2 + y^2 -
    h^2), q2 = atan2(y, x) - atan2(h, s), then the planar 2R from (s - l2, z).
    """
    k = o + G_TIP + 3 * tip
    h = P[k]
    s2 = x * x + y * y - h * h
    stop = STOP_NONE
    s = 0.0
    if s2 > 0.0:
        s = side * math.sqrt(s2)
    elif s2 < 0.0:
        stop = STOP_AXIS
    q2 = angle(y * s - x * h, x * s + y * h)
    A, gamma, planar_stop = planar_solve(s - P[o + G_L2], z - P[o + G_ZF], P[o + G_L], P[k + 1], knee)
    if planar_stop != STOP_NONE:
        stop = planar_stop
    return q2, P[o + G_SF] * (P[o + G_A0] - A), P[o + G_ST] * (P[k + 2] - P[o + G_A0] - gamma), A, gamma, stop


@bare_kernel
def lower_limited(P, o, tip, x, y, z, q2, A, gamma, side, q, j):
    """Write coxa, femur, tibia within their limits, nearest to the target as planar_limited says; return the stop."""
    k = o + G_TIP + 3 * tip
    lo, hi = o + G_LOW, o + G_HIGH
    stop = STOP_NONE
    unlimited = wrap(q2, 0.5 * (P[lo + 1] + P[hi + 1]))
    q[j + 1] = clamp(unlimited, P[lo + 1], P[hi + 1])
    zt = z - P[o + G_ZF]
    if q[j + 1] != unlimited:
        # the leg plane cannot turn to the target: go to the target's projection into the plane at the limit
        stop = 3 if q[j + 1] == P[lo + 1] else 4
        sc, cc = sincos(q[j + 1])
        s = x * cc + y * sc
        A, gamma, _ = planar_solve(s - P[o + G_L2], zt, P[o + G_L], P[k + 1], 1.0 if gamma > 0.0 else -1.0)
    else:
        s2 = x * x + y * y - P[k] * P[k]
        s = side * math.sqrt(s2) if s2 > 0.0 else 0.0
    q[j + 2], q[j + 3], planar_stop = planar_limited(
        s - P[o + G_L2], zt, P[o + G_L], P[k + 1], A, gamma, P[o + G_SF], P[o + G_ST], P[o + G_A0], P[k + 2],
        P[lo + 2], P[hi + 2], P[lo + 3], P[hi + 3],
    )  # fmt: skip
    if planar_stop != STOP_NONE:
        return planar_stop + 4
    return stop


@joined_kernel
def lower_nearby(P, o, tip, x, y, z, last, i, limited, q, j):
    """Write the solution on the branch of `last` and return True, if it is beyond doubt: reachable, within the limits,
    every joint less than 0.7 rad from `last`, every other branch farther. The short way of an ordinary tick.
    """
    k = o + G_TIP + 3 * tip
    h = P[k]
    s2 = x * x + y * y - h * h
    if not s2 > h * h:  # then the two sides are at least a right angle apart
        return False
    s = math.sqrt(s2)
    q2 = angle(y * s - x * h, x * s + y * h)
    q3, q4, other = planar_nearby(
        s - P[o + G_L2], z - P[o + G_ZF], P[o + G_L], P[k + 1], P[o + G_SF], P[o + G_ST], P[o + G_A0], P[k + 2],
        last[i + 3],
    )  # fmt: skip
    if limited:
        lo, hi = o + G_LOW, o + G_HIGH
        if q2 < P[lo + 1] or q2 > P[hi + 1] or q3 < P[lo + 2] or q3 > P[hi + 2] or q4 < P[lo + 3] or q4 > P[hi + 3]:
            return False
    elif abs(q3) > math.pi or abs(q4) > math.pi:
        return False
    change = max(abs(q2 - last[i + 1]), abs(q3 - last[i + 2]), abs(q4 - last[i + 3]))
    if not (change < STEADY and change < other):
        return False
    q[j + 1], q[j + 2], q[j + 3] = q2, q3, q4
    return True


@bare_kernel
def lower_inverse(P, o, tip, px, py, pz, last, i, limited, nearest, q, j):
    """Write the solution into q[j + 1 : j + 4] (q[j], the fan, is given); return the distance (m) to the target and
    the stop.

    limited: keep to the joint limits; else angles come in -pi .. pi. nearest True: the branch closest to `last`,
    whatever it reaches: a tick must not jump. False: the branch that comes nearest to the target, among equals the one
    closest to `last`. NaN in `last` counts as zero distance: then the first branch, in front, knee up.
    """
    sf, cf = sincos(P[o + G_SFAN] * q[j])
    return lower_inverse_at(P, o, tip, px, py, pz, sf, cf, last, i, limited, nearest, q, j)


@bare_kernel
def lower_inverse_at(P, o, tip, px, py, pz, sf, cf, last, i, limited, nearest, q, j):
    """As lower_inverse, with sine and cosine of the fan's turn given, so that six legs can share them."""
    x, y, z = to_coxa(P, o, px, py, pz, sf, cf)
    if lower_nearby(P, o, tip, x, y, z, last, i, limited, q, j):
        return 0.0, STOP_NONE
    if not math.isfinite(x + y + z):
        return math.nan, STOP_NONE
    k = o + G_TIP + 3 * tip
    last1, last2, last3 = last[i + 1], last[i + 2], last[i + 3]  # q may be the same array
    best_distance, best_cost, best_stop = math.inf, math.inf, STOP_NONE
    b1 = b2 = b3 = 0.0
    for branch in range(4):
        side = 1.0 if branch < 2 else -1.0
        knee = -1.0 if branch % 2 == 0 else 1.0
        q2, q3, q4, A, gamma, stop = lower_branch(P, o, tip, x, y, z, side, knee)
        m2 = m3 = m4 = 0.0
        if limited:
            m2 = 0.5 * (P[o + G_LOW + 1] + P[o + G_HIGH + 1])
            m3 = 0.5 * (P[o + G_LOW + 2] + P[o + G_HIGH + 2])
            m4 = 0.5 * (P[o + G_LOW + 3] + P[o + G_HIGH + 3])
        q2, q3, q4 = wrap(q2, m2), wrap(q3, m3), wrap(q4, m4)
        cost = 0.0
        for change in (abs(q2 - last1), abs(q3 - last2), abs(q4 - last3)):
            if change > cost:
                cost = change
        if nearest and not cost < best_cost - 1e-9:
            continue
        limit = STOP_NONE
        if limited:
            limit = lower_limited(P, o, tip, x, y, z, q2, A, gamma, side, q, j)
        else:
            q[j + 1], q[j + 2], q[j + 3] = q2, q3, q4
        distance = 0.0
        if limit != STOP_NONE or stop != STOP_NONE:
            sc, cc = sincos(q[j + 1])
            sa, ca = sincos(P[o + G_A0] - P[o + G_SF] * q[j + 2])
            sb, cb = sincos(P[k + 2] - P[o + G_SF] * q[j + 2] - P[o + G_ST] * q[j + 3])
            s = P[o + G_L2] + P[o + G_L] * ca + P[k + 1] * cb
            dx, dy = cc * s - sc * P[k] - x, sc * s + cc * P[k] - y
            dz = P[o + G_ZF] + P[o + G_L] * sa + P[k + 1] * sb - z
            distance = math.sqrt(dx * dx + dy * dy + dz * dz)
        better = distance < best_distance - 1e-9 or (distance < best_distance + 1e-9 and cost < best_cost - 1e-9)
        if nearest or better:
            best_distance, best_cost = distance, cost
            best_stop = limit if limit != STOP_NONE else stop
            b1, b2, b3 = q[j + 1], q[j + 2], q[j + 3]
    q[j + 1], q[j + 2], q[j + 3] = b1, b2, b3
    return best_distance, best_stop
