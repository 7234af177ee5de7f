# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""One step of the closed loop of six feet, all legs at once: every number is a row of eight lanes, leg by leg.

Lanes 6 and 7 repeat leg 6 and are thrown away. T, t: table of the legs' constants (rows G_FAN .. G_TIP + 2 of
_layout) and where it begins; w: work memory; the rows of w are named by W_*. The formulas are those of _lower_leg and
_planar, with conditions turned into choices: dq = J^T (J J^T + d I)^-1 v in the leg plane is (det adj(J) + d J^T) v /
(det^2 + d |J|^2 + d^2), which is adj(J) v / det where the damping d is 0.
"""

from __future__ import annotations

import math

from robot_mechanics.native.jit import lane_kernel
from robot_mechanics.native.lanes import get, put, sincos_lanes
from shellbot_kinematics._layout import (
    G_A0,
    G_FAN,
    G_L,
    G_L2,
    G_OFF,
    G_ROT,
    G_SF,
    G_SFAN,
    G_ST,
    G_TIP,
    G_ZF,
    LANES,
    TABLE,
)
from shellbot_kinematics._planar import BEND

_NEAR = 0.25 * BEND * BEND

# rows of the work memory, each LANES wide: fan, coxa, A, B and their sines, cosines; targets; velocities; results
W_ANGLE, W_SINE, W_COSINE = 0, 4 * LANES, 8 * LANES
W_FOOT, W_RATE, W_STEP, W_ERROR = 12 * LANES, 15 * LANES, 18 * LANES, 21 * LANES
W_JOINT = 22 * LANES
CLIK_WORK = 26 * LANES


@lane_kernel
def clik_angles(T, t, Q, j, w):
    """Write the angles of the links for the joints in the rows Q[j:] and their sines and cosines."""
    n = int(T[t + TABLE - 1])
    for i in range(n):
        turn = get(T, t + LANES * G_SF, i) * get(Q, j + 2 * LANES, i)
        put(w, W_ANGLE, i, get(T, t + LANES * G_SFAN, i) * get(Q, j, i))
        put(w, W_ANGLE + LANES, i, get(Q, j + LANES, i))
        put(w, W_ANGLE + 2 * LANES, i, get(T, t + LANES * G_A0, i) - turn)
        bend = get(T, t + LANES * G_ST, i) * get(Q, j + 3 * LANES, i)
        put(w, W_ANGLE + 3 * LANES, i, get(T, t + LANES * (G_TIP + 2), i) - turn - bend)
    sincos_lanes(w, W_ANGLE, 4 * n, 1.0, w[W_SINE:], W_COSINE - W_SINE)


@lane_kernel
def clik_rates(T, t, dt, k0, k1, k2, fan_rate, w):
    """Write how far coxa, femur and tibia go in this step and the square of the error before it."""
    n = int(T[t + TABLE - 1])
    for i in range(n):
        sf, sc = get(w, W_SINE, i), get(w, W_SINE + LANES, i)
        sa, sb = get(w, W_SINE + 2 * LANES, i), get(w, W_SINE + 3 * LANES, i)
        cf, cc = get(w, W_COSINE, i), get(w, W_COSINE + LANES, i)
        ca, cb = get(w, W_COSINE + 2 * LANES, i), get(w, W_COSINE + 3 * LANES, i)
        l1, l2 = get(T, t + LANES * G_L, i), get(T, t + LANES * (G_TIP + 1), i)
        h = get(T, t + LANES * G_TIP, i)
        j00, j01, j10, j11 = -l1 * sa, -l2 * sb, l1 * ca, l2 * cb
        s = get(T, t + LANES * G_L2, i) + j10 + j11
        x, y = cc * s - sc * h, sc * s + cc * h
        fx, fy = x + get(T, t + LANES * G_OFF, i), y + get(T, t + LANES * (G_OFF + 1), i)
        bx, by = cf * fx - sf * fy, sf * fx + cf * fy
        bz = get(T, t + LANES * G_ZF, i) - j00 - j01 + get(T, t + LANES * (G_OFF + 2), i)
        r0, r1 = get(T, t + LANES * G_ROT, i), get(T, t + LANES * (G_ROT + 1), i)
        r2, r3 = get(T, t + LANES * (G_ROT + 2), i), get(T, t + LANES * (G_ROT + 3), i)
        r4, r5 = get(T, t + LANES * (G_ROT + 4), i), get(T, t + LANES * (G_ROT + 5), i)
        r6, r7 = get(T, t + LANES * (G_ROT + 6), i), get(T, t + LANES * (G_ROT + 7), i)
        r8 = get(T, t + LANES * (G_ROT + 8), i)
        ex = get(w, W_FOOT, i) - (get(T, t + LANES * G_FAN, i) + (r0 * bx + r3 * by + r6 * bz))
        ey = get(w, W_FOOT + LANES, i) - (get(T, t + LANES * (G_FAN + 1), i) + (r1 * bx + r4 * by + r7 * bz))
        ez = get(w, W_FOOT + 2 * LANES, i) - (get(T, t + LANES * (G_FAN + 2), i) + (r2 * bx + r5 * by + r8 * bz))
        put(w, W_ERROR, i, ex * ex + ey * ey + ez * ez)
        vx = get(w, W_RATE, i) + k0 * ex
        vy = get(w, W_RATE + LANES, i) + k1 * ey
        vz = get(w, W_RATE + 2 * LANES, i) + k2 * ez
        a, b, uz = r0 * vx + r1 * vy + r2 * vz, r3 * vx + r4 * vy + r5 * vz, r6 * vx + r7 * vy + r8 * vz
        turn = get(T, t + LANES * G_SFAN, i) * fan_rate  # what the fan already does at the tip
        ux, uy = cf * a + sf * b + turn * fy, cf * b - sf * a - turn * fx
        near = BEND * l1 - abs(s)
        near = near if near > 0.0 else 0.0
        coxa = (cc * uy - sc * ux) * s / (s * s + 0.25 * near * near)
        ux = cc * ux + sc * uy + h * coxa
        fraction = 1.0 - abs(sb * ca - cb * sa) * (1.0 / BEND)
        fraction = (fraction if fraction > 0.0 else 0.0) * (l1 if l1 > l2 else l2)
        damping = _NEAR * fraction * fraction
        det = j00 * j11 - j01 * j10
        scale = dt / (det * det + damping * (l1 * l1 + l2 * l2) + damping * damping)
        a = (det * (j11 * ux - j01 * uz) + damping * (j00 * ux + j10 * uz)) * scale
        b = (det * (j00 * uz - j10 * ux) + damping * (j01 * ux + j11 * uz)) * scale
        put(w, W_STEP, i, dt * coxa)
        put(w, W_STEP + LANES, i, -get(T, t + LANES * G_SF, i) * a)
        put(w, W_STEP + 2 * LANES, i, -get(T, t + LANES * G_ST, i) * (b - a))


@lane_kernel
def clik_worst(w):
    """Return the largest error (m) of the six legs; NaN if one is."""
    e = W_ERROR
    a, b = max(w[e], w[e + 1]), max(w[e + 2], w[e + 3])
    total = w[e] + w[e + 1] + w[e + 2] + w[e + 3] + w[e + 4] + w[e + 5]
    return math.sqrt(max(max(a, b), max(w[e + 4], w[e + 5])) + (total - total))
