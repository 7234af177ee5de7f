# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Levenberg-Marquardt on one limb within its joint limits: the solver `lm` of the ticks.

dq = (J'J + mu E 1)^-1 J'e with E = e'e; accepted: mu / 4, refused: 8 mu; a joint at a limit that its gradient pushes
outwards is left out. Where the target cannot be reached this ends at a point of least distance.
"""

from __future__ import annotations

import math

from robot_mechanics.native.jit import bare_kernel, stack_floats
from shellbot_kinematics._layout import G_L, G_PITCH, G_SF, G_ST, G_TIP, U_B0, U_L, U_M, U_SH, U_SS
from shellbot_kinematics._lower_leg import lower_pose
from shellbot_kinematics._planar import clamp, wrap
from shellbot_kinematics._upper_leg import upper_pose

# what is to be met: a point by a lower leg's tip (0, 1), the centre's x, y and pitch, a point or height by an upper leg
LM_FOOT, LM_CENTRE, LM_PLAN, LM_PLANE, LM_HEIGHT = 0, 1, 2, 3, 4
_ITERATIONS = 40
_STEP = 1e-12  # rad: smaller steps end the search
_SOLVED = 1e-24  # m^2


@bare_kernel
def residual(task, P, o, t0, t1, t2, q, j, w):
    """Write e (3,) to w[0:3] and its Jacobian (3, 3) to w[3:12]; angles are weighted with the tip link's length (m).

    Targets: the point in the axes of the coxa; x, y in them and the pitch; x, z in the leg's plane; z and the angle B.
    """
    for r in range(12):
        w[r] = 0.0
    if task <= LM_PLAN:
        k = o + G_TIP + (0 if task == LM_FOOT else 3)
        _, _, sc, cc, sa, ca, sb, cb, s, z = lower_pose(P, o, 0 if task == LM_FOOT else 1, q, j)
        x, y = cc * s - sc * P[k], sc * s + cc * P[k]
        w[0], w[1] = t0 - x, t1 - y
        both = P[o + G_SF] * (P[o + G_L] * sa + P[k + 1] * sb)
        outer = P[o + G_ST] * P[k + 1] * sb
        w[3], w[4], w[5] = -y, cc * both, cc * outer
        w[6], w[7], w[8] = x, sc * both, sc * outer
        if task == LM_PLAN:
            pitch = P[o + G_PITCH] + P[o + G_SF] * q[j + 2] + P[o + G_ST] * q[j + 3]
            w[2] = P[k + 1] * wrap(t2 - pitch, 0.0)
            w[10], w[11] = P[k + 1] * P[o + G_SF], P[k + 1] * P[o + G_ST]
        else:
            w[2] = t2 - z
            w[10] = -P[o + G_SF] * (P[o + G_L] * ca + P[k + 1] * cb)
            w[11] = -P[o + G_ST] * P[k + 1] * cb
        return
    sa, ca, sb, cb, x, z = upper_pose(P, o, q, j)
    w[1] = t1 - z
    w[6] = -P[o + U_SS] * (P[o + U_L] * ca + P[o + U_M] * cb)
    w[7] = -P[o + U_SH] * P[o + U_M] * cb
    if task == LM_PLANE:
        w[0] = t0 - x
        w[3] = P[o + U_SS] * (P[o + U_L] * sa + P[o + U_M] * sb)
        w[4] = P[o + U_SH] * P[o + U_M] * sb
    else:
        w[0] = P[o + U_M] * wrap(t0 - (P[o + U_B0] - P[o + U_SS] * q[j] - P[o + U_SH] * q[j + 1]), 0.0)
        w[3], w[4] = -P[o + U_M] * P[o + U_SS], -P[o + U_M] * P[o + U_SH]


@bare_kernel
def lm_limb(task, P, o, t0, t1, t2, low, high, q, j):
    """Improve the joints of a limb in place, keeping to P[low ...] .. P[high ...]; return the distance left (m).

    q, j: where the limb begins; of a lower limb the fan q[j] is given and coxa, femur, tibia are changed.
    """
    first, count = (j + 1, 3) if task <= LM_PLAN else (j, 2)
    w = stack_floats(12)
    before = stack_floats(3)
    residual(task, P, o, t0, t1, t2, q, j, w)
    error = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    mu = 0.05
    for _ in range(_ITERATIONS):
        if error < _SOLVED:
            break
        # normal equations of the joints that are free to move
        g0 = w[3] * w[0] + w[6] * w[1] + w[9] * w[2]
        g1 = w[4] * w[0] + w[7] * w[1] + w[10] * w[2]
        g2 = w[5] * w[0] + w[8] * w[1] + w[11] * w[2]
        free0 = not ((q[first] <= P[low] and g0 < 0.0) or (q[first] >= P[high] and g0 > 0.0))
        free1 = not ((q[first + 1] <= P[low + 1] and g1 < 0.0) or (q[first + 1] >= P[high + 1] and g1 > 0.0))
        free2 = count == 3 and not (
            (q[first + 2] <= P[low + 2] and g2 < 0.0) or (q[first + 2] >= P[high + 2] and g2 > 0.0)
        )
        damping = mu * error + 1e-16
        a00 = w[3] * w[3] + w[6] * w[6] + w[9] * w[9] + damping
        a11 = w[4] * w[4] + w[7] * w[7] + w[10] * w[10] + damping
        a22 = w[5] * w[5] + w[8] * w[8] + w[11] * w[11] + damping
        a01 = w[3] * w[4] + w[6] * w[7] + w[9] * w[10] if free0 and free1 else 0.0
        a02 = w[3] * w[5] + w[6] * w[8] + w[9] * w[11] if free0 and free2 else 0.0
        a12 = w[4] * w[5] + w[7] * w[8] + w[10] * w[11] if free1 and free2 else 0.0
        g0, g1, g2 = g0 if free0 else 0.0, g1 if free1 else 0.0, g2 if free2 else 0.0
        # L D L'
        l10, l20 = a01 / a00, a02 / a00
        d1 = a11 - l10 * a01
        m21 = a12 - l20 * a01
        l21 = m21 / d1
        d2 = a22 - l20 * a02 - l21 * m21
        y1 = g1 - l10 * g0
        y2 = g2 - l20 * g0 - l21 * y1
        x2 = y2 / d2
        x1 = y1 / d1 - l21 * x2
        x0 = g0 / a00 - l10 * x1 - l20 * x2
        moved = 0.0
        for r in range(count):
            before[r] = q[first + r]
            step = x0 if r == 0 else (x1 if r == 1 else x2)
            q[first + r] = clamp(before[r] + step, P[low + r], P[high + r])
            moved = max(moved, abs(q[first + r] - before[r]))
        residual(task, P, o, t0, t1, t2, q, j, w)
        new = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
        if new < error:
            gained = error - new
            error, mu = new, 0.25 * mu
            if moved < _STEP or gained < 1e-13 * error:
                break
        else:
            for r in range(count):
                q[first + r] = before[r]
            residual(task, P, o, t0, t1, t2, q, j, w)
            mu *= 8.0
            if moved < _STEP or not mu < 1e12:
                break
    return math.sqrt(error)


@bare_kernel
def lm_start(q, j, count, P, low, high):
    """Bring joints that are unknown or outside their limits into them."""
    for r in range(count):
        if not math.isfinite(q[j + r]):
            q[j + r] = 0.5 * (P[low + r] + P[high + r])
        q[j + r] = clamp(q[j + r], P[low + r], P[high + r])
