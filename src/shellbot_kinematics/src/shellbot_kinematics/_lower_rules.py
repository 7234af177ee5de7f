# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
# ruff: noqa: UP018 - int(0), bool(1): numba compiles a kernel anew for every constant it is called with
"""What a lower limb's reference means for its joints, by each of the solvers: the middle of the tick.

Arrays as in _tick. A function writes joints and rates of its limb and returns status, distance (m), stop, and whether
(1) the rates have to be taken from the difference of two ticks: no velocity given, or the target not reached.
"""

from __future__ import annotations

import math

from robot_mechanics.native.angles import sincos
from robot_mechanics.native.jit import bare_kernel
from shellbot_kinematics._axes import in_axes
from shellbot_kinematics._layout import (
    AT_LIMIT,
    BAD_REFERENCE,
    CLIK,
    FOOT,
    G_FAN,
    G_HIGH,
    G_LOW,
    G_OFF,
    G_ROT,
    G_SFAN,
    G_SPEED,
    HOLD,
    JOINT,
    LM,
    O_RATES,
    OK,
    OUT_OF_REACH,
    R_FRAME,
    R_JOINT,
    R_P,
    R_RPY,
    R_V,
    R_W,
    REACHED,
    S_GAIN,
    S_LAST,
    S_LEFT,
    S_MEASURED,
    S_MODE,
    S_SOLVER,
    STOP_HEADING,
    STOP_NONE,
)
from shellbot_kinematics._limb_lm import LM_FOOT, LM_PLAN, lm_limb, lm_start
from shellbot_kinematics._limb_rules import bounded_step, finite, is_plan, joint_reference, status_of
from shellbot_kinematics._lower_inverse import lower_inverse
from shellbot_kinematics._lower_leg import lower_pose, lower_tip, rates_of_pose, tip_of_pose, to_coxa
from shellbot_kinematics._planar import STEADY, wrap
from shellbot_kinematics._sphere import orientation, sphere_inverse, sphere_rates, turn_rates, yaw_pitch

_FAR = 0.05  # m: beyond what a limit takes from a foot for a moment, when to change the branch would be a detour


@bare_kernel
def lower_beyond(P, o, R, i, j, out):
    """Return how far (m) the foot is from where a JOINT reference beyond the limits would have it."""
    foot, w = int(0), R_JOINT + 3 * i
    ax, ay, az = lower_tip(P, o, foot, out, j)
    b1, b2, b3 = out[j + 1], out[j + 2], out[j + 3]  # the wish goes there and back again
    out[j + 1], out[j + 2], out[j + 3] = R[w], R[w + 1], R[w + 2]
    bx, by, bz = lower_tip(P, o, foot, out, j)
    out[j + 1], out[j + 2], out[j + 3] = b1, b2, b3
    return math.sqrt((ax - bx) ** 2 + (ay - by) ** 2 + (az - bz) ** 2)


@bare_kernel
def lower_lm(P, o, task, R, i, pitch, S, j, reachable, out):
    """Solve by Levenberg-Marquardt from the last targets, at need from the closed form's answer (in `out`) too; return
    the distance left (m).
    """
    sf, cf = sincos(P[o + G_SFAN] * out[j])
    p = R_P + 3 * i
    if task == LM_PLAN:
        x, y, _ = in_axes(P, o + G_ROT, R[p] - P[o + G_FAN], R[p + 1] - P[o + G_FAN + 1], 0.0)
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


@bare_kernel
def lower_clik(P, o, tip, plan, R, i, S, j, fast, out):
    """Write one Euler step of the closed loop from the measured joints towards what `out` holds."""
    m, p, no = S_MEASURED + j, R_V + 3 * i, bool(0)
    rate = out[O_RATES + j]
    vx, vy, vz = (R[p], R[p + 1], R[p + 2]) if fast else (0.0, 0.0, 0.0)
    if plan:
        nx, ny, _ = lower_tip(P, o, tip, out, j)
        mx, my, _ = lower_tip(P, o, tip, S, m)
        _, target = yaw_pitch(P, o, out, j)
        _, have = yaw_pitch(P, o, S, m)
        turning = 0.0
        if fast:
            _, turning = turn_rates(P, o, S, m, R[R_W + 3 * i], R[R_W + 3 * i + 1], R[R_W + 3 * i + 2])
        _, d1, d2, d3 = sphere_rates(
            P, o, S, m, no, rate, vx + S[S_GAIN] * (nx - mx), vy + S[S_GAIN + 1] * (ny - my), 0.0,
            turning + S[S_GAIN + 4] * wrap(target - have, 0.0),
        )  # fmt: skip
    else:
        nx, ny, nz = lower_tip(P, o, tip, out, j)
        sf, cf, sc, cc, sa, ca, sb, cb, s, z = lower_pose(P, o, tip, S, m)
        mx, my, mz = tip_of_pose(P, o, tip, sf, cf, sc, cc, s, z)
        vx, vy = vx + S[S_GAIN] * (nx - mx), vy + S[S_GAIN + 1] * (ny - my)
        vz = vz + S[S_GAIN + 2] * (nz - mz)
        d1, d2, d3 = rates_of_pose(P, o, tip, sf, cf, sc, cc, sa, ca, sb, cb, s, rate, vx, vy, vz)
    out[O_RATES + j + 1], out[O_RATES + j + 2], out[O_RATES + j + 3] = d1, d2, d3
    bounded_step(S, m + 1, out, j + 1, 3, P, o + G_LOW + 1, o + G_HIGH + 1, o + G_SPEED + 1)


@bare_kernel
def other_branch(P, o, tip, i, R, S, distance, stop, out):
    """Change a leg that its branch leaves _FAR from the target to a branch that reaches it, if there is one; return
    distance and stop. Without this a foot that passed under its coxa axis would stay at a joint's limit for good.
    """
    j, p, yes, no = 4 * i, R_P + 3 * i, bool(1), bool(0)
    b1, b2, b3 = out[j + 1], out[j + 2], out[j + 3]
    other, other_stop = lower_inverse(P, o, tip, R[p], R[p + 1], R[p + 2], S, S_LAST + j, yes, no, out, j)
    if other > REACHED:
        out[j + 1], out[j + 2], out[j + 3] = b1, b2, b3
        return distance, stop
    if S[S_LEFT + i] <= 0.0:
        S[S_MODE + i] = HOLD  # starts the blend; until it ends, the last targets are nearer to the branch that is left
    return other, other_stop


@bare_kernel
def lower_reference(P, o, i, R, S, aside, out):
    """Follow the reference of lower limb i; its fan and the fan's rate are in `out` already.

    aside: how far (m) the six yaws are from being met by one fan angle; 0 where the fan is given.
    """
    j = 4 * i
    frame = R[R_FRAME + i]
    if frame == JOINT:
        state, stop, difference = joint_reference(P, o + G_LOW + 1, 3, R, i, j + 1, out)
        distance = lower_beyond(P, o, R, i, j, out) if state == AT_LIMIT else 0.0
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
        if distance > _FAR:
            distance, stop = other_branch(P, o, tip, i, R, S, distance, stop, out)
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
