# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
# ruff: noqa: UP018 - int(0), bool(1): numba compiles a kernel anew for every constant it is called with
"""One tick of the whole robot: references of all limbs in, joint targets out. No validation, no allocation.

P: packed robot (ShellbotModel.packed); S: settings and what the solver remembers (S_*); R: LimbReferences.packed (R_*);
out, codes: the answer (O_*; status and stop per limb). All joint vectors have room for 36.
"""

from __future__ import annotations

import math

from robot_mechanics.native.jit import bare_kernel
from shellbot_kinematics._layout import (
    ABSENT,
    AT_LIMIT,
    BAD_REFERENCE,
    CLIK,
    G_HIGH,
    G_LOW,
    G_SPEED,
    HELD,
    HOLD,
    JOINT,
    LEG,
    O_DISTANCE,
    O_RATES,
    OK,
    P_SHELL,
    P_SHELLS,
    R_FAN,
    R_FAN_RATE,
    R_FRAME,
    R_P,
    R_RPY,
    R_V,
    R_W,
    S_BLEND,
    S_DT,
    S_GAIN,
    S_LAST,
    S_LAST_RATE,
    S_LEFT,
    S_MEASURED,
    S_MODE,
    S_OFFSET,
    S_SOLVER,
    S_STEP,
    SHELL,
    SPHERE_CENTRE,
    STOP_NONE,
    U_HIGH,
    U_LOW,
    U_SPEED,
)
from shellbot_kinematics._limb_rules import finite, is_plan
from shellbot_kinematics._lower_leg import lower_tip
from shellbot_kinematics._lower_rules import lower_reference
from shellbot_kinematics._planar import clamp, wrap
from shellbot_kinematics._sphere import CENTRE, orientation, sphere_inverse, sphere_rates, turn_rates, yaw_pitch
from shellbot_kinematics._upper_rules import upper_reference

# s: ticks farther apart are a gap; the same fact as shellbot_common.GAP, of which the kernel's cache would not know
GAP = 0.05


@bare_kernel
def start_blend(start, blend, left, dt, active):
    """Return the seconds of blending left after this tick began."""
    if not active:
        return 0.0
    return blend if start else max(0.0, left - dt)


@bare_kernel
def blend_limb(P, low, high, speed, first, count, start, left, step, S, out):
    """Add the offset that is left to the targets first .. first + count, then keep them within limits and speed.

    At the start of a blend the targets go on as they moved: the offset is taken from the tick before, carried on by
    its own rates. low, high, speed: where the limits of the first joint stand in P.
    """
    blend = S[S_BLEND]
    fraction, slope = 0.0, 0.0
    if left > 0.0 and blend > 0.0:
        x = left / blend
        fraction, slope = x * x * (3.0 - 2.0 * x), -6.0 * x * (1.0 - x) / blend
    for r in range(count):
        j = first + r
        if start:
            offset = S[S_LAST + j] + S[S_LAST_RATE + j] * step - out[j]
            S[S_OFFSET + j] = offset if math.isfinite(offset) else 0.0
        if fraction > 0.0:
            out[j] = clamp(out[j] + fraction * S[S_OFFSET + j], P[low + r], P[high + r])
            out[O_RATES + j] += slope * S[S_OFFSET + j]
        out[O_RATES + j] = clamp(out[O_RATES + j], -P[speed + r], P[speed + r])


@bare_kernel
def free_fan(P, R, S, out):
    """Return the fan's angle and rate (rad, rad/s) that the six lower limbs' yaw asks for, in the mean, and how far (m)
    at most their yaw is from being met by it.

    For six limbs that agree this is the four-joint solution of each: closed form, or with the solver CLIK one Euler
    step of the loop over all four joints.
    """
    yes, centre = bool(1), int(1)  # no constants, see lower_reference
    total, rates, fan_mean, least, most, left = 0.0, 0.0, 0.0, math.inf, -math.inf, 0.0
    for i in range(6):
        o, j, p, r, w = i * LEG, 4 * i, R_P + 3 * i, R_RPY + 3 * i, R_W + 3 * i
        yaw, pitch = orientation(P, o, R[r], R[r + 1], R[r + 2])
        distance, _ = sphere_inverse(P, o, R[p], R[p + 1], yaw, pitch, yes, S, S_LAST + j, yes, yes, out, j)
        fan_mean, left = fan_mean + out[j] / 6.0, max(left, distance)
        least, most = min(least, out[j]), max(most, out[j])
        fast = finite(R, R_V + 3 * i, 2) and finite(R, w, 3)
        loop = S[S_SOLVER] == CLIK and finite(S, S_MEASURED + j, 4)
        vx, vy, yaw_rate, pitch_rate = 0.0, 0.0, 0.0, 0.0
        if fast:
            vx, vy = R[R_V + 3 * i], R[R_V + 3 * i + 1]
        if not loop:
            if fast:
                yaw_rate, pitch_rate = turn_rates(P, o, out, j, R[w], R[w + 1], R[w + 2])
                rate, _, _, _ = sphere_rates(P, o, out, j, yes, 0.0, vx, vy, yaw_rate, pitch_rate)
                rates += rate
            total += out[j]
            continue
        m = S_MEASURED + j
        if fast:
            yaw_rate, pitch_rate = turn_rates(P, o, S, m, R[w], R[w + 1], R[w + 2])
        mx, my, _ = lower_tip(P, o, centre, S, m)
        nx, ny, _ = lower_tip(P, o, centre, out, j)
        have_yaw, have_pitch = yaw_pitch(P, o, S, m)
        to_yaw, to_pitch = yaw_pitch(P, o, out, j)
        rate, _, _, _ = sphere_rates(
            P, o, S, m, yes, 0.0, vx + S[S_GAIN] * (nx - mx), vy + S[S_GAIN + 1] * (ny - my),
            yaw_rate + S[S_GAIN + 3] * wrap(to_yaw - have_yaw, 0.0),
            pitch_rate + S[S_GAIN + 4] * wrap(to_pitch - have_pitch, 0.0),
        )  # fmt: skip
        rate = clamp(rate, -P[o + G_SPEED], P[o + G_SPEED])
        rates += rate
        total += S[m] + S[S_STEP] * rate
    return total / 6.0, rates / 6.0, left + P[CENTRE + 1] * max(most - fan_mean, fan_mean - least)


@bare_kernel
def drive_fan(P, R, S, step, out):
    """Write the six fan joints; return whether there is a reference, how far (m) the limbs' yaw is from being met where
    the fan is led by it, and the stop.
    """
    fan, rate = R[R_FAN], R[R_FAN_RATE]
    known = math.isfinite(fan)
    free, aside = False, 0.0
    if not known:
        free = True
        for i in range(6):
            free = free and is_plan(R, i)
        if free:
            fan, rate, aside = free_fan(P, R, S, out)
            known = math.isfinite(fan)
    stop = STOP_NONE
    for i in range(6):
        j, o = 4 * i, i * LEG
        if known:
            out[j] = clamp(fan, P[o + G_LOW], P[o + G_HIGH])
            out[O_RATES + j] = rate if math.isfinite(rate) else 0.0
            if out[j] != fan:
                stop = 2 if out[j] == P[o + G_HIGH] else 1
                out[O_RATES + j] = 0.0
        else:
            out[j], out[O_RATES + j] = S[S_LAST + j], 0.0
    mode = HOLD
    if known:
        mode = JOINT
        if free:
            mode = SPHERE_CENTRE + 4 * S[S_SOLVER]
    changed = mode != S[S_MODE + 12]
    S[S_MODE + 12] = mode
    S[S_LEFT + 12] = start_blend(changed and known, S[S_BLEND], S[S_LEFT + 12], S[S_DT], known)
    for i in range(6):
        o = i * LEG
        blend_limb(P, o + G_LOW, o + G_HIGH, o + G_SPEED, 4 * i, 1, changed and known, S[S_LEFT + 12], step, S, out)
    return known, aside, stop


@bare_kernel
def solve_tick(P, S, R, out, codes):
    """Turn the references of all limbs into joint targets; return 0, or 1 if a joint has no target at all.

    Wherever the source of a limb's targets changes (first tick, frame, solver, end of a hold), what would be a jump
    becomes an offset that a smooth step takes away within the blend time.
    """
    dt = S[S_DT]
    step = min(dt, GAP)  # a longer tick is a gap, over which nothing is extrapolated
    shells = P[P_SHELLS]
    n = 24 + 2 * int(shells)
    for j in range(n):
        if math.isnan(S[S_LAST + j]):
            S[S_LAST + j] = S[S_MEASURED + j]
    # the fan, common to six legs, before the legs: their solution depends on where it really goes
    fan_ok, aside, fan_stop = drive_fan(P, R, S, step, out)
    for i in range(12):
        if i < 6:
            o, first, count = i * LEG, 4 * i + 1, 3
            low, high, speed = o + G_LOW + 1, o + G_HIGH + 1, o + G_SPEED + 1
        else:
            o, first, count = P_SHELL + (i - 6) * SHELL, 24 + 2 * (i - 6), 2
            low, high, speed = o + U_LOW, o + U_HIGH, o + U_SPEED
        frame = R[R_FRAME + i]
        out[O_DISTANCE + i], codes[12 + i] = 0.0, STOP_NONE
        if i >= 6 + shells:
            codes[i] = HELD if frame == HOLD else ABSENT
            continue
        state, distance, stop, difference = HELD, 0.0, STOP_NONE, 0
        if frame != HOLD:
            if i < 6:
                state, distance, stop, difference = lower_reference(P, o, i, R, S, aside, out)
            else:
                state, distance, stop, difference = upper_reference(P, o, i, R, S, out)
        codes[i], out[O_DISTANCE + i], codes[12 + i] = state, distance, stop
        if i < 6 and state == OK:
            if fan_stop != STOP_NONE:
                codes[i], codes[12 + i] = AT_LIMIT, fan_stop
            if not fan_ok:
                codes[i] = BAD_REFERENCE
        held = state in (HELD, BAD_REFERENCE)
        mode = float(HOLD)
        if held:
            for j in range(first, first + count):
                out[j], out[O_RATES + j] = S[S_LAST + j], 0.0
        else:
            mode = frame
            if frame != JOINT:
                mode += 4 * S[S_SOLVER]
                if i < 6 and is_plan(R, i):
                    mode += 16
        changed = mode != S[S_MODE + i]
        S[S_MODE + i] = mode
        if difference == 1:
            known = dt > 0.0 and not changed and S[S_LEFT + i] <= 0.0
            for j in range(first, first + count):
                # the tick before without what was blended into it
                moved = (out[j] - S[S_LAST + j]) / dt if known else 0.0
                out[O_RATES + j] = moved if math.isfinite(moved) else 0.0
        S[S_LEFT + i] = start_blend(changed and not held, S[S_BLEND], S[S_LEFT + i], dt, not held)
        blend_limb(P, low, high, speed, first, count, changed and not held, S[S_LEFT + i], step, S, out)
    lost = 0
    for i in range(6 + int(shells)):
        if i < 6:
            first, count, speed = 4 * i, 4, i * LEG + G_SPEED
        else:
            first, count, speed = 24 + 2 * (i - 6), 2, P_SHELL + (i - 6) * SHELL + U_SPEED
        for r in range(count):
            j = first + r
            # how the targets really moved: the rates of CLIK also hold what pulls the joints back
            moved = (out[j] - S[S_LAST + j]) / dt if dt > 0.0 else 0.0
            S[S_LAST_RATE + j] = clamp(moved, -P[speed + r], P[speed + r]) if math.isfinite(moved) else 0.0
            S[S_LAST + j] = out[j]
            if math.isnan(out[j]):
                lost = 1
    return lost
