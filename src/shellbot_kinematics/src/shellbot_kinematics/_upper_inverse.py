# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""An upper leg's closed-form inverse for its sphere centre, by position or by height and orientation.

Arrays as in _upper_leg.
"""

from __future__ import annotations

import math

from robot_mechanics.native.angles import angle, sincos
from robot_mechanics.native.jit import bare_kernel, joined_kernel
from shellbot_kinematics._axes import carried
from shellbot_kinematics._layout import (
    STOP_FAR,
    STOP_NONE,
    STOP_PLANE,
    U_A0,
    U_B0,
    U_H,
    U_HIGH,
    U_L,
    U_LOW,
    U_M,
    U_ORG,
    U_ROT,
    U_SH,
    U_SS,
    U_XC,
)
from shellbot_kinematics._planar import STEADY, planar_limited, planar_nearby, planar_solve, wrap
from shellbot_kinematics._upper_leg import upper_plane, upper_pose


@bare_kernel
def upper_sum(P, u, roll, pitch, yaw):
    """Return the angle B (rad) of the outer link for the orientation of the sphere-centre frame in base_link.

    Only the turn about the leg's own axis can be followed; it is read from the frame's x axis projected into the leg
    plane.
    """
    x, _, z = carried(P, u + U_XC, u + U_ROT, roll, pitch, yaw)
    return P[u + U_B0] + angle(z, x)  # that vector points along the plane's x at zero


@bare_kernel
def upper_branch(P, u, x, z, B, by_height, branch):
    """Return A, gamma (rad), the target x, z in the plane, and the stop, of elbow 0 or 1.

    By position (x, z), or by the height z and the angle B of the outer link: sin A = (z - m sin B) / l.
    """
    if not by_height:
        A, gamma, stop = planar_solve(x, z, P[u + U_L], P[u + U_M], 1.0 if branch == 0 else -1.0)
        return A, gamma, x, z, stop
    stop = STOP_NONE
    sb, cb = sincos(B)
    sine = (z - P[u + U_M] * sb) / P[u + U_L]
    if abs(sine) > 1.0:
        sine, stop = (1.0 if sine > 0.0 else -1.0), STOP_FAR
    cosine = math.sqrt((1.0 - sine) * (1.0 + sine))
    if branch == 1:
        cosine = -cosine
    A = angle(sine, cosine)
    return A, B - A, P[u + U_L] * cosine + P[u + U_M] * cb, P[u + U_L] * sine + P[u + U_M] * sb, stop


@joined_kernel
def upper_nearby(P, u, x, z, last, i, limited, q, j):
    """Write the solution for x, z in the plane on the elbow of `last` and return True, if it is beyond doubt; as
    lower_nearby.
    """
    q0, q1, other = planar_nearby(
        x, z, P[u + U_L], P[u + U_M], P[u + U_SS], P[u + U_SH], P[u + U_A0], P[u + U_B0], last[i + 1]
    )
    if limited:
        if q0 < P[u + U_LOW] or q0 > P[u + U_HIGH] or q1 < P[u + U_LOW + 1] or q1 > P[u + U_HIGH + 1]:
            return False
    elif abs(q0) > math.pi or abs(q1) > math.pi:
        return False
    change = max(abs(q0 - last[i]), abs(q1 - last[i + 1]))
    if not (change < STEADY and change < other):
        return False
    q[j], q[j + 1] = q0, q1
    return True


@bare_kernel
def upper_inverse(P, u, px, py, pz, roll, pitch, yaw, last, i, limited, nearest, q, j):
    """Write shoulder and shell into q[j : j + 2]; return the distance (m) and the stop.

    With px, py, pz all given the sphere centre goes there (two elbows); with px or py NaN the height pz and the
    orientation decide (two elbows as well). `limited` and `nearest` as in lower_inverse.
    """
    by_height = math.isnan(px) or math.isnan(py)
    B = 0.0
    if by_height:
        B = upper_sum(P, u, roll, pitch, yaw)
        # the height alone, with the plane's z axis along base_link's
        x, y, z = 0.0, P[u + U_H], pz - P[u + U_ORG + 2]
    else:
        x, y, z = upper_plane(P, u, px, py, pz)
        if abs(y - P[u + U_H]) <= 1e-9 and upper_nearby(P, u, x, z, last, i, limited, q, j):
            return abs(y - P[u + U_H]), STOP_NONE
    if not math.isfinite(x + z + B):
        return math.nan, STOP_NONE
    m0 = m1 = 0.0
    if limited:
        m0, m1 = 0.5 * (P[u + U_LOW] + P[u + U_HIGH]), 0.5 * (P[u + U_LOW + 1] + P[u + U_HIGH + 1])
    zero = P[u + U_B0] - P[u + U_A0]
    last0, last1 = last[i], last[i + 1]  # q may be the same array
    best_distance, best_cost, best_stop = math.inf, math.inf, STOP_NONE
    b0 = b1 = 0.0
    for branch in range(2):
        A, gamma, xt, zt, stop = upper_branch(P, u, x, z, B, by_height, branch)
        q0 = wrap(P[u + U_SS] * (P[u + U_A0] - A), m0)
        q1 = wrap(P[u + U_SH] * (zero - gamma), m1)
        cost = 0.0
        for change in (abs(q0 - last0), abs(q1 - last1)):
            if change > cost:
                cost = change
        if nearest and not cost < best_cost - 1e-9:
            continue
        limit = STOP_NONE
        q[j], q[j + 1] = q0, q1
        if limited and (q0 < P[u + U_LOW] or q0 > P[u + U_HIGH] or q1 < P[u + U_LOW + 1] or q1 > P[u + U_HIGH + 1]):
            q[j], q[j + 1], limit = planar_limited(
                xt, zt, P[u + U_L], P[u + U_M], A, gamma, P[u + U_SS], P[u + U_SH], P[u + U_A0], P[u + U_B0],
                P[u + U_LOW], P[u + U_HIGH], P[u + U_LOW + 1], P[u + U_HIGH + 1],
            )  # fmt: skip
        aside = 0.0 if by_height else abs(y - P[u + U_H])
        distance = aside
        if limit != STOP_NONE or stop != STOP_NONE:
            _, _, _, _, xr, zr = upper_pose(P, u, q, j)
            dx = 0.0 if by_height else xr - x
            distance = math.sqrt(dx * dx + aside * aside + (zr - z) ** 2)
        if stop == STOP_NONE and aside > 1e-9:
            stop = STOP_PLANE
        better = distance < best_distance - 1e-9 or (distance < best_distance + 1e-9 and cost < best_cost - 1e-9)
        if nearest or better:
            best_distance, best_cost = distance, cost
            best_stop = limit if limit != STOP_NONE else stop
            b0, b1 = q[j], q[j + 1]
    q[j], q[j + 1] = b0, b1
    return best_distance, best_stop
