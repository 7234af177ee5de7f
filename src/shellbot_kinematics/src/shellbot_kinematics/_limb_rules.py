# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
# ruff: noqa: UP018 - int(0), bool(1): numba compiles a kernel anew for every constant it is called with
"""What one limb's reference means for its joints, by each of the solvers: the middle of the tick.

Arrays as in _tick. A function writes joints and rates of its limb and returns status, distance (m), stop, and whether
(1) the rates have to be taken from the difference of two ticks: no velocity given, or the target not reached.
"""

from __future__ import annotations

import math

from shellbot_kinematics._angles import sincos
from shellbot_kinematics._jit import kernel
from shellbot_kinematics._layout import (
    AT_LIMIT,
    BAD_REFERENCE,
    CLIK,
    FOOT,
    G_FAN,
    G_HIGH,
    G_LOW,
    G_OFF,
    G_SFAN,
    G_SPEED,
    JOINT,
    LM,
    O_RATES,
    OK,
    OUT_OF_REACH,
    R_FRAME,
    R_JOINT,
    R_P,
    R_RATE,
    R_RPY,
    R_V,
    R_W,
    REACHED,
    S_GAIN,
    S_LAST,
    S_MEASURED,
    S_SOLVER,
    S_STEP,
    SPHERE_CENTRE,
    STOP_HEADING,
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
from shellbot_kinematics._limb_lm import LM_FOOT, LM_HEIGHT, LM_PLAN, LM_PLANE, lm_limb, lm_start
from shellbot_kinematics._lower_leg import (
    leg_axes,
    lower_inverse,
    lower_pose,
    lower_tip,
    rates_of_pose,
    tip_of_pose,
    to_coxa,
)
from shellbot_kinematics._planar import STEADY, clamp, wrap
from shellbot_kinematics._sphere import orientation, sphere_inverse, sphere_rates, turn_rates, yaw_pitch
from shellbot_kinematics._upper_leg import upper_inverse, upper_plane, upper_rates, upper_sum, upper_tip

_USABLE = 1e9  # m, rad, ...: beyond, squares overflow sooner or later, and nothing real is meant


@kernel
def finite(row, first, count):
    """Return whether the entries first .. first + count are numbers that can be computed with."""
    for j in range(first, first + count):  # noqa: SIM110 - numba's generators are slow
        if not abs(row[j]) < _USABLE:
            return False
    return True


@kernel
def is_plan(R, i):
    """Return whether lower limb i is led by its sphere centre's x, y and orientation, the height left free."""
    p = R_P + 3 * i
    return R[R_FRAME + i] == SPHERE_CENTRE and math.isnan(R[p + 2]) and finite(R, p, 2) and finite(R, R_RPY + 3 * i, 3)


@kernel
def status_of(distance, stop):
    """Return OK, AT_LIMIT or OUT_OF_REACH."""
    if distance <= REACHED:
        return OK
    return AT_LIMIT if stop <= 8 else OUT_OF_REACH


@kernel
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


@kernel
def joint_distance(P, o, lower, R, i, j, out):
    """Return how far (m) the tip is from where a JOINT reference beyond the limits would have it."""
    # out holds the bounded joints: the wish goes there and back again
    first, count, foot = (j + 1, 3, int(0)) if lower else (j, 2, int(0))
    ax, ay, az = lower_tip(P, o, foot, out, j) if lower else upper_tip(P, o, out, j)
    b0, b1 = out[first], out[first + 1]
    b2 = out[first + 2] if lower else 0.0
    for r in range(count):
        out[first + r] = R[R_JOINT + 3 * i + r]
    bx, by, bz = lower_tip(P, o, foot, out, j) if lower else upper_tip(P, o, out, j)
    out[first], out[first + 1] = b0, b1
    if lower:
        out[first + 2] = b2
    return math.sqrt((ax - bx) ** 2 + (ay - by) ** 2 + (az - bz) ** 2)


@kernel
def lower_lm(P, o, task, R, i, pitch, S, j, reachable, out):
    """Solve by Levenberg-Marquardt from the last targets, at need from the closed form's answer (in `out`) too; return
    the distance left (m).
    """
    sf, cf = sincos(P[o + G_SFAN] * out[j])
    p = R_P + 3 * i
    if task == LM_PLAN:
        x, y, _ = leg_axes(P, o, R[p] - P[o + G_FAN], R[p + 1] - P[o + G_FAN + 1], 0.0)
        x, y = cf * x + sf * y - P[o + G_OFF], cf * y - sf * x - P[o + G_OFF + 1]
        z = pitch
    else:
        x, y, z = to_coxa(P, o, R[p], R[p + 1], R[p + 2], sf, cf)
    c1, c2, c3 = out[j + 1], out[j + 2], out[j + 3]
    for r in range(1, 4):
        out[j + r] = S[S_LAST + j + r]
    low, high = o + G_LOW + 1, o + G_HIGH + 1
    lm_start(out, j + 1, 3, P, low, high)
    left = lm_limb(task, P, o, x, y, z, low, high, out, j)
    near = not max(abs(c1 - S[S_LAST + j + 1]), abs(c2 - S[S_LAST + j + 2]), abs(c3 - S[S_LAST + j + 3])) > STEADY
    if left > REACHED and (near or reachable):  # from farther away it would be a jump for nothing
        b1, b2, b3 = out[j + 1], out[j + 2], out[j + 3]
        out[j + 1], out[j + 2], out[j + 3] = c1, c2, c3
        other = lm_limb(task, P, o, x, y, z, low, high, out, j)
        if other < left - 1e-9:
            left = other
        else:
            out[j + 1], out[j + 2], out[j + 3] = b1, b2, b3
    return left


@kernel
def lower_clik(P, o, tip, plan, R, i, S, j, fast, out):
    """Write one Euler step of the closed loop from the measured joints towards what `out` holds."""
    m, p, no = S_MEASURED + j, R_V + 3 * i, bool(0)
    rate = out[O_RATES + j]
    vx, vy, vz = (R[p], R[p + 1], R[p + 2]) if fast else (0.0, 0.0, 0.0)
    if plan:
        nx, ny, _ = lower_tip(P, o, tip, out, j)
        mx, my, _ = lower_tip(P, o, tip, S, m)
        _, wanted = yaw_pitch(P, o, out, j)
        _, have = yaw_pitch(P, o, S, m)
        turning = 0.0
        if fast:
            _, turning = turn_rates(P, o, S, m, R[R_W + 3 * i], R[R_W + 3 * i + 1], R[R_W + 3 * i + 2])
        _, d1, d2, d3 = sphere_rates(
            P, o, S, m, no, rate, vx + S[S_GAIN] * (nx - mx), vy + S[S_GAIN + 1] * (ny - my), 0.0,
            turning + S[S_GAIN + 4] * wrap(wanted - have, 0.0),
        )  # fmt: skip
    else:
        nx, ny, nz = lower_tip(P, o, tip, out, j)
        sf, cf, sc, cc, sa, ca, sb, cb, s, z = lower_pose(P, o, tip, S, m)
        mx, my, mz = tip_of_pose(P, o, tip, sf, cf, sc, cc, s, z)
        vx, vy = vx + S[S_GAIN] * (nx - mx), vy + S[S_GAIN + 1] * (ny - my)
        vz = vz + S[S_GAIN + 2] * (nz - mz)
        d1, d2, d3 = rates_of_pose(P, o, tip, sf, cf, sc, cc, sa, ca, sb, cb, s, rate, vx, vy, vz)
    v = o + G_SPEED
    worst = max(1.0, abs(d1) / P[v + 1], abs(d2) / P[v + 2], abs(d3) / P[v + 3])
    for r in range(1, 4):
        d = (d1 if r == 1 else (d2 if r == 2 else d3)) / worst
        out[O_RATES + j + r] = d
        out[j + r] = clamp(S[m + r] + S[S_STEP] * d, P[o + G_LOW + r], P[o + G_HIGH + r])


@kernel
def lower_reference(P, o, i, R, S, aside, out):
    """Follow the reference of lower limb i; its fan and the fan's rate are in `out` already.

    aside: how far (m) the six yaws are from being met by one fan angle; 0 where the fan is given.
    """
    j = 4 * i
    frame = R[R_FRAME + i]
    if frame == JOINT:
        state, stop, difference = joint_reference(P, o + G_LOW + 1, 3, R, i, j + 1, out)
        distance = joint_distance(P, o, True, R, i, j, out) if state == AT_LIMIT else 0.0
        return state, distance, stop, difference
    p, v = R_P + 3 * i, R_V + 3 * i
    yes, no = bool(1), bool(0)  # no constants: numba would compile all that is called once more for each value
    plan = is_plan(R, i)
    pitch = 0.0
    tip = 0 if frame == FOOT else 1
    if plan:
        yaw, pitch = orientation(P, o, R[R_RPY + 3 * i], R[R_RPY + 3 * i + 1], R[R_RPY + 3 * i + 2])
        distance, stop = sphere_inverse(P, o, R[p], R[p + 1], yaw, pitch, no, S, S_LAST + j, yes, yes, out, j)
        fast = finite(R, v, 2) and finite(R, R_W + 3 * i, 3)
    elif finite(R, p, 3):
        distance, stop = lower_inverse(P, o, tip, R[p], R[p + 1], R[p + 2], S, S_LAST + j, yes, yes, out, j)
        fast = finite(R, v, 3)
    else:
        return BAD_REFERENCE, 0.0, STOP_NONE, 0
    if S[S_SOLVER] == LM:
        task = LM_PLAN if plan else LM_FOOT + tip
        distance = lower_lm(P, o, task, R, i, pitch, S, j, distance <= REACHED, out)
    status = status_of(distance, stop)
    if plan and status == OK and aside > REACHED:
        status, distance, stop = OUT_OF_REACH, aside, STOP_HEADING
    if S[S_SOLVER] == CLIK and finite(S, S_MEASURED + j, 4):
        # towards the nearest reachable point, so that the error stays bounded
        lower_clik(P, o, tip, plan, R, i, S, j, fast and (status == OK or stop == STOP_HEADING), out)
        return status, distance, stop, 0
    if status != OK or not fast:
        return status, distance, stop, 1
    if plan:
        _, turning = turn_rates(P, o, out, j, R[R_W + 3 * i], R[R_W + 3 * i + 1], R[R_W + 3 * i + 2])
        _, out[O_RATES + j + 1], out[O_RATES + j + 2], out[O_RATES + j + 3] = sphere_rates(
            P, o, out, j, no, out[O_RATES + j], R[v], R[v + 1], 0.0, turning
        )
    else:
        sf, cf, sc, cc, sa, ca, sb, cb, s, _ = lower_pose(P, o, tip, out, j)
        out[O_RATES + j + 1], out[O_RATES + j + 2], out[O_RATES + j + 3] = rates_of_pose(
            P, o, tip, sf, cf, sc, cc, sa, ca, sb, cb, s, out[O_RATES + j], R[v], R[v + 1], R[v + 2]
        )
    return status, distance, stop, 0


@kernel
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


@kernel
def upper_reference(P, u, i, R, S, out):
    """Follow the reference of upper limb i (6 .. 11)."""
    j = 24 + 2 * (i - 6)
    frame = R[R_FRAME + i]
    if frame == JOINT:
        state, stop, difference = joint_reference(P, u + U_LOW, 2, R, i, j, out)
        distance = joint_distance(P, u, False, R, i, j, out) if state == AT_LIMIT else 0.0
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
    m = S_MEASURED + j
    if S[S_SOLVER] == CLIK and finite(S, m, 2):
        vx, vy, vz, wx, wy, wz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        if fast and status == OK:
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
        d0, d1 = out[O_RATES + j], out[O_RATES + j + 1]
        worst = max(1.0, abs(d0) / P[u + U_SPEED], abs(d1) / P[u + U_SPEED + 1])
        for k in range(2):
            d = (d0 if k == 0 else d1) / worst
            out[O_RATES + j + k] = d
            out[j + k] = clamp(S[m + k] + S[S_STEP] * d, P[u + U_LOW + k], P[u + U_HIGH + k])
        return status, distance, stop, 0
    if status != OK or not fast:
        return status, distance, stop, 1
    upper_rates(P, u, out, j, R[v], R[v + 1], R[v + 2], R[w], R[w + 1], R[w + 2], by_height, out, O_RATES + j)
    return status, distance, stop, 0
