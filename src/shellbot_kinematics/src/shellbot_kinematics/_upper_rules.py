# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
# ruff: noqa: UP018 - int(0), bool(1): numba compiles a kernel anew for every constant it is called with
"""What an upper limb's reference means for its joints, by each of the solvers: the middle of the tick.

Arrays as in _tick. A function writes joints and rates of its limb and returns status, distance (m), stop, and whether
(1) the rates have to be taken from the difference of two ticks: no velocity given, or the target not reached.
"""

from __future__ import annotations

import math

from robot_mechanics.native.jit import bare_kernel
from shellbot_kinematics._layout import (
    AT_LIMIT,
    BAD_REFERENCE,
    CLIK,
    JOINT,
    LM,
    O_RATES,
    OK,
    R_FRAME,
    R_JOINT,
    R_P,
    R_RPY,
    R_V,
    R_W,
    REACHED,
    S_GAIN,
    S_LAST,
    S_MEASURED,
    S_SOLVER,
    SPHERE_CENTRE,
    STOP_NONE,
    U_H,
    U_HIGH,
    U_LOW,
    U_ORG,
    U_ROT,
    U_SH,
    U_SPEED,
    U_SS,
)
from shellbot_kinematics._limb_lm import LM_HEIGHT, LM_PLANE, lm_limb, lm_start
from shellbot_kinematics._limb_rules import bounded_step, finite, joint_reference, status_of
from shellbot_kinematics._planar import STEADY
from shellbot_kinematics._upper_inverse import upper_inverse, upper_sum
from shellbot_kinematics._upper_leg import upper_plane, upper_rates, upper_tip


@bare_kernel
def upper_beyond(P, u, R, i, j, out):
    """As lower_beyond, for a sphere centre."""
    w = R_JOINT + 3 * i
    ax, ay, az = upper_tip(P, u, out, j)
    b0, b1 = out[j], out[j + 1]
    out[j], out[j + 1] = R[w], R[w + 1]
    bx, by, bz = upper_tip(P, u, out, j)
    out[j], out[j + 1] = b0, b1
    return math.sqrt((ax - bx) ** 2 + (ay - by) ** 2 + (az - bz) ** 2)


@bare_kernel
def upper_lm(P, u, R, i, B, by_height, S, j, reachable, out):
    """As lower_lm, for an upper limb."""
    p = R_P + 3 * i
    aside = 0.0
    if by_height:
        x, z, task = B, R[p + 2] - P[u + U_ORG + 2], LM_HEIGHT
    else:
        x, y, z = upper_plane(P, u, R[p], R[p + 1], R[p + 2])
        aside, task = y - P[u + U_H], LM_PLANE
    c0, c1 = out[j], out[j + 1]
    out[j], out[j + 1] = S[S_LAST + j], S[S_LAST + j + 1]
    low, high = u + U_LOW, u + U_HIGH
    lm_start(out, j, 2, P, low, high)
    left = lm_limb(task, P, u, x, z, 0.0, low, high, out, j)
    near = not max(abs(c0 - S[S_LAST + j]), abs(c1 - S[S_LAST + j + 1])) > STEADY
    if left > REACHED and (near or reachable):
        b0, b1 = out[j], out[j + 1]
        out[j], out[j + 1] = c0, c1
        other = lm_limb(task, P, u, x, z, 0.0, low, high, out, j)
        if other < left - 1e-9:
            left = other
        else:
            out[j], out[j + 1] = b0, b1
    return math.sqrt(left * left + aside * aside)


@bare_kernel
def upper_clik(P, u, by_height, R, i, S, j, fast, out):
    """Write one Euler step of the closed loop from the measured joints towards what `out` holds."""
    m, v, w = S_MEASURED + j, R_V + 3 * i, R_W + 3 * i
    vx, vy, vz, wx, wy, wz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if fast:
        vz = R[v + 2]
        if by_height:
            wx, wy, wz = R[w], R[w + 1], R[w + 2]
        else:
            vx, vy = R[v], R[v + 1]
    nx, ny, nz = upper_tip(P, u, out, j)
    mx, my, mz = upper_tip(P, u, S, m)
    vx, vy = vx + S[S_GAIN] * (nx - mx), vy + S[S_GAIN + 1] * (ny - my)
    vz = vz + S[S_GAIN + 2] * (nz - mz)
    if by_height:
        turn = P[u + U_SS] * (out[j] - S[m]) + P[u + U_SH] * (out[j + 1] - S[m + 1])
        turn *= S[S_GAIN + 4]
        wx, wy = wx + turn * P[u + U_ROT + 3], wy + turn * P[u + U_ROT + 4]
        wz += turn * P[u + U_ROT + 5]
    upper_rates(P, u, S, m, vx, vy, vz, wx, wy, wz, by_height, out, O_RATES + j)
    bounded_step(S, m, out, j, 2, P, u + U_LOW, u + U_HIGH, u + U_SPEED)


@bare_kernel
def upper_reference(P, u, i, R, S, out):
    """Follow the reference of upper limb i (6 .. 11)."""
    j = 24 + 2 * (i - 6)
    frame = R[R_FRAME + i]
    if frame == JOINT:
        state, stop, difference = joint_reference(P, u + U_LOW, 2, R, i, j, out)
        distance = upper_beyond(P, u, R, i, j, out) if state == AT_LIMIT else 0.0
        return state, distance, stop, difference
    p, v, w, r = R_P + 3 * i, R_V + 3 * i, R_W + 3 * i, R_RPY + 3 * i
    yes = bool(1)
    by_height = math.isnan(R[p]) or math.isnan(R[p + 1])
    if frame != SPHERE_CENTRE or not finite(R, p + 2, 1) or not (by_height or finite(R, p, 2)):
        return BAD_REFERENCE, 0.0, STOP_NONE, 0
    if by_height and (not finite(R, r, 3) or math.isinf(R[p]) or math.isinf(R[p + 1])):
        return BAD_REFERENCE, 0.0, STOP_NONE, 0
    distance, stop = upper_inverse(
        P, u, R[p], R[p + 1], R[p + 2], R[r], R[r + 1], R[r + 2], S, S_LAST + j, yes, yes, out, j
    )
    B = upper_sum(P, u, R[r], R[r + 1], R[r + 2]) if by_height else 0.0
    if S[S_SOLVER] == LM:
        distance = upper_lm(P, u, R, i, B, by_height, S, j, distance <= REACHED, out)
    status = status_of(distance, stop)
    fast = (finite(R, v + 2, 1) and finite(R, w, 3)) if by_height else finite(R, v, 3)
    if S[S_SOLVER] == CLIK and finite(S, S_MEASURED + j, 2):
        upper_clik(P, u, by_height, R, i, S, j, fast and status == OK, out)
        return status, distance, stop, 0
    if status != OK or not fast:
        return status, distance, stop, 1
    upper_rates(P, u, out, j, R[v], R[v + 1], R[v + 2], R[w], R[w + 1], R[w + 2], by_height, out, O_RATES + j)
    return status, distance, stop, 0
