# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
# ruff: noqa: UP018 - int(0), bool(1): numba compiles a kernel anew for every constant it is called with
"""A lower leg: forward, Jacobian, rates and closed-form inverse of its foot (tip 0) and its sphere centre (tip 1).

P, o: packed robot and where this leg begins in it (G_* of _layout); q, j: joints and where fan, coxa, femur, tibia
begin. Everything in base_link, m and rad. Formulas: docs/kinematics.md.
"""

from __future__ import annotations

import math

from shellbot_kinematics._angles import angle, sincos
from shellbot_kinematics._jit import bare_kernel
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
    LEG,
    STOP_AXIS,
    STOP_NONE,
)
from shellbot_kinematics._planar import STEADY, TWO_PI, clamp, divided, planar_limited, planar_rates, planar_solve, wrap


@bare_kernel
def leg_axes(P, o, vx, vy, vz):
    """Return a vector of base_link in the axes of the leg at q1 = 0: out, across, up."""
    r = o + G_ROT
    return (
        P[r] * vx + P[r + 1] * vy + P[r + 2] * vz,
        P[r + 3] * vx + P[r + 4] * vy + P[r + 5] * vz,
        P[r + 6] * vx + P[r + 7] * vy + P[r + 8] * vz,
    )


@bare_kernel
def base_axes(P, o, x, y, z):
    """Return a vector of the leg's axes at q1 = 0 in base_link."""
    r = o + G_ROT
    return (
        P[r] * x + P[r + 3] * y + P[r + 6] * z,
        P[r + 1] * x + P[r + 4] * y + P[r + 7] * z,
        P[r + 2] * x + P[r + 5] * y + P[r + 8] * z,
    )


@bare_kernel
def to_coxa(P, o, px, py, pz, sf, cf):
    """Return a point of base_link in the axes of the coxa at q2 = 0, for the sine and cosine of the fan's turn."""
    x, y, z = leg_axes(P, o, px - P[o + G_FAN], py - P[o + G_FAN + 1], pz - P[o + G_FAN + 2])
    return cf * x + sf * y - P[o + G_OFF], cf * y - sf * x - P[o + G_OFF + 1], z - P[o + G_OFF + 2]


@bare_kernel
def lower_pose(P, o, tip, q, j):
    """Return sines and cosines of fan, coxa, femur link (A), tip link (B), and the tip's reach and height in the leg
    plane (from the coxa axis and the coxa's origin).
    """
    k = o + G_TIP + 3 * tip
    A = P[o + G_A0] - P[o + G_SF] * q[j + 2]
    B = P[k + 2] - P[o + G_SF] * q[j + 2] - P[o + G_ST] * q[j + 3]
    sf, cf = sincos(P[o + G_SFAN] * q[j])
    sc, cc = sincos(q[j + 1])
    sa, ca = sincos(A)
    sb, cb = sincos(B)
    s = P[o + G_L2] + P[o + G_L] * ca + P[k + 1] * cb
    z = P[o + G_ZF] + P[o + G_L] * sa + P[k + 1] * sb
    return sf, cf, sc, cc, sa, ca, sb, cb, s, z


@bare_kernel
def tip_of_pose(P, o, tip, sf, cf, sc, cc, s, z):
    """Return the tip in base_link for what lower_pose found."""
    h = P[o + G_TIP + 3 * tip]
    x, y = cc * s - sc * h + P[o + G_OFF], sc * s + cc * h + P[o + G_OFF + 1]
    x, y, z = base_axes(P, o, cf * x - sf * y, sf * x + cf * y, z + P[o + G_OFF + 2])
    return P[o + G_FAN] + x, P[o + G_FAN + 1] + y, P[o + G_FAN + 2] + z


@bare_kernel
def lower_tip(P, o, tip, q, j):
    """Return the tip in base_link."""
    sf, cf, sc, cc, _, _, _, _, s, z = lower_pose(P, o, tip, q, j)
    return tip_of_pose(P, o, tip, sf, cf, sc, cc, s, z)


@bare_kernel
def lower_jacobian(P, o, tip, q, j, J):
    """Write d p_base_tip / d (fan, coxa, femur, tibia), (3, 4), m/rad, in the axes of base_link."""
    k = o + G_TIP + 3 * tip
    sf, cf, sc, cc, sa, ca, sb, cb, s, _ = lower_pose(P, o, tip, q, j)
    sm, zm, sl, zl = P[k + 1] * cb, P[k + 1] * sb, P[o + G_L] * ca, P[o + G_L] * sa
    x, y = cc * s - sc * P[k], sc * s + cc * P[k]
    for i in range(4):
        if i == 0:
            ux, uy, uz = -P[o + G_SFAN] * (y + P[o + G_OFF + 1]), P[o + G_SFAN] * (x + P[o + G_OFF]), 0.0
        elif i == 1:
            ux, uy, uz = -y, x, 0.0
        else:
            # dA/dq3 = dB/dq3 = -sf, dB/dq4 = -st
            ds = P[o + G_SF] * (zl + zm) if i == 2 else P[o + G_ST] * zm
            uz = -P[o + G_SF] * (sl + sm) if i == 2 else -P[o + G_ST] * sm
            ux, uy = cc * ds, sc * ds
        J[0, i], J[1, i], J[2, i] = base_axes(P, o, cf * ux - sf * uy, sf * ux + cf * uy, uz)


@bare_kernel
def rates_of_pose(P, o, tip, sf, cf, sc, cc, sa, ca, sb, cb, s, fan_rate, vx, vy, vz):
    """Return the rates of coxa, femur, tibia for the velocity (m/s, base_link) of the tip and the fan's rate given.

    The inverse of the 3x3 Jacobian without a matrix: across the leg plane the coxa moves the tip, within it the
    planar 2R. Damped where the tip comes within 5 % of the femur's length of the coxa axis.
    """
    k = o + G_TIP + 3 * tip
    h = P[k]
    x, y = cc * s - sc * h, sc * s + cc * h
    ux, uy, uz = leg_axes(P, o, vx, vy, vz)
    ux, uy = cf * ux + sf * uy, cf * uy - sf * ux
    # what the fan already does at the tip: sigma dq1 z x (p - fan axis)
    w = P[o + G_SFAN] * fan_rate
    ux, uy = ux + w * (y + P[o + G_OFF + 1]), uy - w * (x + P[o + G_OFF])
    coxa = divided(cc * uy - sc * ux, s, P[o + G_L])
    dA, dB = planar_rates(cc * ux + sc * uy + h * coxa, uz, P[o + G_L], P[k + 1], sa, ca, sb, cb)
    return coxa, -P[o + G_SF] * dA, -P[o + G_ST] * (dB - dA)


@bare_kernel
def lower_rates(P, o, tip, q, j, fan_rate, vx, vy, vz, dq):
    """Write coxa, femur, tibia rates into dq[j + 1 : j + 4]; see rates_of_pose."""
    sf, cf, sc, cc, sa, ca, sb, cb, s, _ = lower_pose(P, o, tip, q, j)
    dq[j + 1], dq[j + 2], dq[j + 3] = rates_of_pose(P, o, tip, sf, cf, sc, cc, sa, ca, sb, cb, s, fan_rate, vx, vy, vz)


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


@bare_kernel
def lower_nearby(P, o, tip, x, y, z, last, i, limited, q, j):
    """Write the solution on the branch of `last` and return True, if it is beyond doubt: reachable, within the limits,
    every joint less than 0.7 rad from `last`, every other branch farther. The short way of an ordinary tick.
    """
    k = o + G_TIP + 3 * tip
    h, l1, l2 = P[k], P[o + G_L], P[k + 1]
    s2 = x * x + y * y - h * h
    if not s2 > h * h:  # then the two sides are at least a right angle apart
        return False
    s = math.sqrt(s2)
    q2 = angle(y * s - x * h, x * s + y * h)
    u, w = s - P[o + G_L2], z - P[o + G_ZF]
    cosine = (u * u + w * w - l1 * l1 - l2 * l2) / (2.0 * l1 * l2)
    if not abs(cosine) < 1.0:
        return False
    zero = P[k + 2] - P[o + G_A0]
    bend = zero - P[o + G_ST] * last[i + 3]  # of the knee, as it was
    if not abs(bend) < math.pi:
        return False
    sine = math.sqrt((1.0 - cosine) * (1.0 + cosine))
    if bend < 0.0:
        sine = -sine
    gamma = angle(sine, cosine)
    long, across = l1 + l2 * cosine, l2 * sine
    q3 = P[o + G_SF] * (P[o + G_A0] - angle(w * long - u * across, u * long + w * across))
    q4 = P[o + G_ST] * (zero - gamma)
    # no angle is brought into its range here: near `last` it is in it
    if limited:
        lo, hi = o + G_LOW, o + G_HIGH
        if q2 < P[lo + 1] or q2 > P[hi + 1] or q3 < P[lo + 2] or q3 > P[hi + 2] or q4 < P[lo + 3] or q4 > P[hi + 3]:
            return False
    elif abs(q3) > math.pi or abs(q4) > math.pi:
        return False
    change = max(abs(q2 - last[i + 1]), abs(q3 - last[i + 2]), abs(q4 - last[i + 3]))
    other = abs(bend + gamma)  # to the other bend of the knee, either way round
    if not (change < STEADY and change < other and change < TWO_PI - other):
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


@bare_kernel
def lower_feet(P, q, out):
    """Write the six feet (6, 3) in base_link for the joint vector q (24 or more)."""
    for i in range(6):
        out[i, 0], out[i, 1], out[i, 2] = lower_tip(P, i * LEG, int(0), q, 4 * i)
