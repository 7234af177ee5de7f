# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""All jitted code: arrays in, arrays out, no validation, no allocation in the tick. Callers validate.

One module on purpose: numba's cache looks at the time stamp of the kernel's own file only, so a kernel that calls into
another file would keep a stale copy of it.

Leg plane. Both kinds of legs end in a planar 2R. Its two links have lengths l1 and l2, and point at the angles A and B,
measured from the plane's x axis (away from the body) towards its z axis (up): A = a0 - sg*q, B = b0 - sg*q - sh*q'
with the angles a0, b0 at q = 0 and the signs sg, sh = +-1 of the joint axes against the plane's y axis (a positive
turn about y lowers the tip). gamma = B - A is the bend of the knee: negative bends the outer link down ("knee up").
"""

from __future__ import annotations

import math

import numpy as np

from shellbot_kinematics._jit import kernel

# frames, as in references.Frame
FOOT, SPHERE_CENTRE, JOINT, HOLD = 0, 1, 2, 3

# status of a limb after a tick, as in reports.Status
OK, HELD, BAD_REFERENCE, OUT_OF_REACH, AT_LIMIT, ABSENT = 0, 1, 2, 3, 4, 5

# what stopped a limb, as in reports.Stop: 0 nothing, 1..8 joint (1 + 2 * index, + 1 at the upper end), then geometry
STOP_NONE, STOP_FAR, STOP_NEAR, STOP_AXIS, STOP_PLANE = 0, 9, 10, 11, 12

# columns of the packed geometry of a lower leg (leg_geometry.py writes them)
G_FAN, G_ROT, G_OFF, G_SFAN, G_L2, G_ZF, G_SF, G_ST, G_L, G_A0 = 0, 3, 12, 15, 16, 17, 18, 19, 20, 21
G_TIP = 22  # then (h, m, b0) of the foot, then of the sphere centre
# columns of the packed geometry of an upper leg
U_ORG, U_ROT, U_SS, U_SH, U_L, U_A0, U_H, U_M, U_B0, U_XC = (
    0,
    3,
    12,
    13,
    14,
    15,
    16,
    17,
    18,
    19,
)  # U_XC: x axis of the frame at zero, (3,)

TWO_PI = 2.0 * math.pi
# s: ticks farther apart are a gap; the same fact as shellbot_control.GAP, which this package may not import
GAP = 0.05


# ---------------------------------------------------------------------------------------------- general chains
@kernel
def chain_frames(pre, post, kind, q, frames, axes):
    """Write poses (m, 4, 4) behind every joint, and the pose (m, 4, 4) whose z is the joint's axis, both in the base.

    pre, post: (m, 4, 4), fixed transforms before and after a motion along or about z; kind: (m,) 0 revolute, 1
    prismatic, 2 fixed; q: (n,) coordinates of the joints that move.
    """
    T = np.eye(4)
    M = np.empty((4, 4))
    column = 0
    for i in range(pre.shape[0]):
        _compose(T, pre[i], axes[i])
        for r in range(4):
            for c in range(4):
                M[r, c] = axes[i, r, c]
        if kind[i] == 0:
            cos, sin = math.cos(q[column]), math.sin(q[column])
            for r in range(3):
                x, y = M[r, 0], M[r, 1]
                M[r, 0] = x * cos + y * sin
                M[r, 1] = y * cos - x * sin
            column += 1
        elif kind[i] == 1:
            for r in range(3):
                M[r, 3] += M[r, 2] * q[column]
            column += 1
        _compose(M, post[i], frames[i])
        for r in range(4):
            for c in range(4):
                T[r, c] = frames[i, r, c]


@kernel
def _compose(A, B, out):
    for r in range(3):
        for c in range(4):
            out[r, c] = A[r, 0] * B[0, c] + A[r, 1] * B[1, c] + A[r, 2] * B[2, c]
        out[r, 3] += A[r, 3]
    out[3, 0] = out[3, 1] = out[3, 2] = 0.0
    out[3, 3] = 1.0


@kernel
def chain_jacobian(kind, frames, axes, J):
    """Write the geometric Jacobian (6, n), linear rows first, of the last frame's origin, in the axes of the base."""
    last = frames.shape[0] - 1
    px, py, pz = frames[last, 0, 3], frames[last, 1, 3], frames[last, 2, 3]
    column = 0
    for i in range(kind.shape[0]):
        if kind[i] == 2:
            continue
        zx, zy, zz = axes[i, 0, 2], axes[i, 1, 2], axes[i, 2, 2]
        if kind[i] == 1:
            J[0, column], J[1, column], J[2, column] = zx, zy, zz
            J[3, column] = J[4, column] = J[5, column] = 0.0
        else:
            rx, ry, rz = px - axes[i, 0, 3], py - axes[i, 1, 3], pz - axes[i, 2, 3]
            J[0, column] = zy * rz - zz * ry
            J[1, column] = zz * rx - zx * rz
            J[2, column] = zx * ry - zy * rx
            J[3, column], J[4, column], J[5, column] = zx, zy, zz
        column += 1


# ---------------------------------------------------------------------------------------------- planar 2R
@kernel
def wrap(angle, middle):
    """Return the angle plus the multiple of 2 pi that brings it within pi of `middle`."""
    return angle - TWO_PI * math.floor((angle - middle) / TWO_PI + 0.5)


@kernel
def clamp(x, low, high):
    """Return x within low .. high; NaN stays NaN."""
    if x < low:
        return low
    if x > high:
        return high
    return x


@kernel
def planar_solve(x, z, l1, l2, knee):
    """Return A and gamma (rad) that bring the tip of the 2R to (x, z), or as near as its lengths allow, and the
    stop.
    """
    r2 = x * x + z * z
    stop = STOP_NONE
    cosine = (r2 - l1 * l1 - l2 * l2) / (2.0 * l1 * l2)
    if cosine > 1.0:
        cosine, stop = 1.0, STOP_FAR
    elif cosine < -1.0:
        cosine, stop = -1.0, STOP_NEAR
    gamma = knee * math.acos(cosine)
    A = math.atan2(z, x) - math.atan2(l2 * math.sin(gamma), l1 + l2 * cosine)
    return A, gamma, stop


@kernel
def planar_limited(x, z, l1, l2, A, gamma, g, low, high):
    """Return q, q' within low, high (2,), the tip kept as near to (x, z) as one pass over the joints can, and the stop.

    A, gamma: the unlimited solution. g: (sg, sh, a0, b0). The outer joint is clamped and the inner one turned so that
    the tip lies on the ray to the target (nearest point of the circle); if that is beyond the inner joint's limits, it
    is clamped and the outer link points at the target.
    """
    sg, sh, a0, b0 = g
    q1 = wrap(sh * (b0 - a0 - gamma), 0.5 * (low[1] + high[1]))
    stop = STOP_NONE
    outer = clamp(q1, low[1], high[1])
    if outer != q1:
        stop = 3 if outer == low[1] else 4
        gamma = b0 - a0 - sh * outer
        A = math.atan2(z, x) - math.atan2(l2 * math.sin(gamma), l1 + l2 * math.cos(gamma))
    q0 = wrap(sg * (a0 - A), 0.5 * (low[0] + high[0]))
    inner = clamp(q0, low[0], high[0])
    if inner != q0:
        stop = 1 if inner == low[0] else 2
        A = a0 - sg * inner
        B = math.atan2(z - l1 * math.sin(A), x - l1 * math.cos(A))
        outer = clamp(wrap(sh * (b0 - a0 - (B - A)), 0.5 * (low[1] + high[1])), low[1], high[1])
    return inner, outer, stop


@kernel
def planar_rates(vx, vz, l1, l2, A, B):
    """Return the rates of A and B that move the tip at (vx, vz); damped near the stretched and the folded pose.

    Exact where the sine of the bend is above 0.05; below, the damping lambda^2 grows to (0.05 max(l1, l2))^2 / 4
    (Nakamura and Hanafusa's rule), so that rates stay bounded.
    """
    sa, ca, sb, cb = math.sin(A), math.cos(A), math.sin(B), math.cos(B)
    # tip = (l1 ca + l2 cb, l1 sa + l2 sb): J = [[-l1 sa, -l2 sb], [l1 ca, l2 cb]], det = l1 l2 sin(B - A)
    j00, j01, j10, j11 = -l1 * sa, -l2 * sb, l1 * ca, l2 * cb
    bend = abs(sb * ca - cb * sa)
    if bend >= 0.05:
        det = j00 * j11 - j01 * j10
        return (j11 * vx - j01 * vz) / det, (j00 * vz - j10 * vx) / det
    share = 1.0 - bend / 0.05
    damping = share * share * 0.25 * (0.05 * max(l1, l2)) ** 2
    m00 = j00 * j00 + j01 * j01 + damping
    m01 = j00 * j10 + j01 * j11
    m11 = j10 * j10 + j11 * j11 + damping
    det = m00 * m11 - m01 * m01
    ux, uz = (m11 * vx - m01 * vz) / det, (m00 * vz - m01 * vx) / det
    return j00 * ux + j10 * uz, j01 * ux + j11 * uz


# ---------------------------------------------------------------------------------------------- lower leg
@kernel
def to_coxa(g, px, py, pz, fan, direction):
    """Return a point (direction 0) or a vector (1) of base_link in the axes of the coxa at q2 = 0, for the fan angle
    given.
    """
    if direction == 0:
        px, py, pz = px - g[G_FAN], py - g[G_FAN + 1], pz - g[G_FAN + 2]
    x = g[G_ROT] * px + g[G_ROT + 1] * py + g[G_ROT + 2] * pz
    y = g[G_ROT + 3] * px + g[G_ROT + 4] * py + g[G_ROT + 5] * pz
    z = g[G_ROT + 6] * px + g[G_ROT + 7] * py + g[G_ROT + 8] * pz
    c, s = math.cos(g[G_SFAN] * fan), math.sin(g[G_SFAN] * fan)
    x, y = c * x + s * y, c * y - s * x
    if direction == 0:
        return x - g[G_OFF], y - g[G_OFF + 1], z - g[G_OFF + 2]
    return x, y, z


@kernel
def lower_tip(g, tip, q):
    """Return the tip (0 foot, 1 sphere centre) in base_link, m, for q = (fan, coxa, femur, tibia) in rad."""
    k = G_TIP + 3 * tip
    A = g[G_A0] - g[G_SF] * q[2]
    B = g[k + 2] - g[G_SF] * q[2] - g[G_ST] * q[3]
    s = g[G_L2] + g[G_L] * math.cos(A) + g[k + 1] * math.cos(B)
    z = g[G_ZF] + g[G_L] * math.sin(A) + g[k + 1] * math.sin(B) + g[G_OFF + 2]
    c, n = math.cos(q[1]), math.sin(q[1])
    x, y = c * s - n * g[k] + g[G_OFF], n * s + c * g[k] + g[G_OFF + 1]
    c, n = math.cos(g[G_SFAN] * q[0]), math.sin(g[G_SFAN] * q[0])
    x, y = c * x - n * y, n * x + c * y
    return (
        g[G_FAN] + g[G_ROT] * x + g[G_ROT + 3] * y + g[G_ROT + 6] * z,
        g[G_FAN + 1] + g[G_ROT + 1] * x + g[G_ROT + 4] * y + g[G_ROT + 7] * z,
        g[G_FAN + 2] + g[G_ROT + 2] * x + g[G_ROT + 5] * y + g[G_ROT + 8] * z,
    )


@kernel
def lower_feet(g, q, out):
    """Write the six feet (6, 3) in base_link for the joint vector q (24 or more)."""
    for i in range(6):
        out[i, 0], out[i, 1], out[i, 2] = lower_tip(g[i], 0, q[4 * i : 4 * i + 4])


@kernel
def lower_branch(g, tip, x, y, z, side, knee):
    """Return coxa, femur, tibia (rad, unlimited), A and gamma, and the stop, for a target in the axes of the coxa.

    side: +1 the tip in front of the coxa axis, -1 behind it; knee: -1 up, +1 down. Formula: robot.md, s = +-sqrt(x^2 +
    y^2 - h^2), q2 = atan2(y, x) - atan2(h, s), then the planar 2R from (s - l2, z).
    """
    k = G_TIP + 3 * tip
    h = g[k]
    s2 = x * x + y * y - h * h
    stop = STOP_NONE
    s = 0.0
    if s2 > 0.0:
        s = side * math.sqrt(s2)
    elif s2 < 0.0:
        stop = STOP_AXIS
    q2 = math.atan2(y, x) - math.atan2(h, s)
    A, gamma, planar_stop = planar_solve(s - g[G_L2], z - g[G_ZF], g[G_L], g[k + 1], knee)
    if planar_stop != STOP_NONE:
        stop = planar_stop
    return q2, g[G_SF] * (g[G_A0] - A), g[G_ST] * (g[k + 2] - g[G_A0] - gamma), A, gamma, stop


@kernel
def lower_limited(g, tip, x, y, z, q2, A, gamma, low, high, q):
    """Write coxa, femur, tibia into q[1:4] within low, high (4,), nearest to the target as planar_limited says; return
    the stop.
    """
    k = G_TIP + 3 * tip
    stop = STOP_NONE
    unlimited = wrap(q2, 0.5 * (low[1] + high[1]))
    q[1] = clamp(unlimited, low[1], high[1])
    zt = z - g[G_ZF]
    if q[1] != unlimited:
        # the leg plane cannot turn to the target: go to the target's projection into the plane at the limit
        stop = 3 if q[1] == low[1] else 4
        s = x * math.cos(q[1]) + y * math.sin(q[1])
        A, gamma, _ = planar_solve(s - g[G_L2], zt, g[G_L], g[k + 1], 1.0 if gamma > 0.0 else -1.0)
    else:
        s2 = x * x + y * y - g[k] * g[k]
        side = 1.0 if x * math.cos(q2) + y * math.sin(q2) >= 0.0 else -1.0
        s = side * math.sqrt(s2) if s2 > 0.0 else 0.0
    signs = (g[G_SF], g[G_ST], g[G_A0], g[k + 2])
    q[2], q[3], planar_stop = planar_limited(s - g[G_L2], zt, g[G_L], g[k + 1], A, gamma, signs, low[2:4], high[2:4])
    if planar_stop != STOP_NONE:
        return planar_stop + 4
    return stop


@kernel
def lower_inverse(g, tip, px, py, pz, last, low, high, nearest, q):
    """Write the solution into q[1:4] (q[0], the fan, is given); return the distance (m) to the target and the stop.

    nearest True: the branch closest to `last` (4,), whatever it reaches: a tick must not jump. False: the branch that
    comes nearest to the target, among equals the one closest to `last`. NaN in `last` counts as zero distance: then
    the first branch, in front, knee up.
    """
    x, y, z = to_coxa(g, px, py, pz, q[0], 0)
    best_distance, best_cost, best_stop = math.inf, math.inf, STOP_NONE
    b1 = b2 = b3 = 0.0
    for branch in range(4):
        side = 1.0 if branch < 2 else -1.0
        knee = -1.0 if branch % 2 == 0 else 1.0
        q2, q3, q4, A, gamma, stop = lower_branch(g, tip, x, y, z, side, knee)
        cost = 0.0
        for j, value in enumerate((q2, q3, q4)):
            change = abs(wrap(value, 0.5 * (low[j + 1] + high[j + 1])) - last[j + 1])
            if change > cost:
                cost = change
        if nearest and not cost < best_cost - 1e-9:
            continue
        limit = lower_limited(g, tip, x, y, z, q2, A, gamma, low, high, q)
        ax, ay, az = lower_tip(g, tip, q)
        distance = math.sqrt((ax - px) ** 2 + (ay - py) ** 2 + (az - pz) ** 2)
        better = distance < best_distance - 1e-9 or (distance < best_distance + 1e-9 and cost < best_cost - 1e-9)
        if nearest or better:
            best_distance, best_cost = distance, cost
            best_stop = limit if limit != STOP_NONE else stop
            b1, b2, b3 = q[1], q[2], q[3]
    q[1], q[2], q[3] = b1, b2, b3
    return best_distance, best_stop


@kernel
def lower_rates(g, tip, q, fan_rate, vx, vy, vz, dq):
    """Write coxa, femur, tibia rates into dq[1:4] for the velocity (m/s, base_link) of the tip, at q and the fan's
    rate given.
    """
    k = G_TIP + 3 * tip
    A = g[G_A0] - g[G_SF] * q[2]
    B = g[k + 2] - g[G_SF] * q[2] - g[G_ST] * q[3]
    s = g[G_L2] + g[G_L] * math.cos(A) + g[k + 1] * math.cos(B)
    c, n = math.cos(q[1]), math.sin(q[1])
    x, y = c * s - n * g[k], n * s + c * g[k]
    ux, uy, uz = to_coxa(g, vx, vy, vz, q[0], 1)
    # what the fan already does at the tip: sigma dq1 z x (p - fan axis)
    w = g[G_SFAN] * fan_rate
    ux, uy = ux + w * (y + g[G_OFF + 1]), uy - w * (x + g[G_OFF])
    # along and across the leg plane
    along, across = c * ux + n * uy, c * uy - n * ux
    near = 0.05 * g[G_L]  # m, closer than this to the coxa axis the rate is damped
    damping = 0.25 * (near - abs(s)) ** 2 if abs(s) < near else 0.0
    dq[1] = s * across / (s * s + damping) if s * s + damping > 0.0 else 0.0
    dA, dB = planar_rates(along + g[k] * dq[1], uz, g[G_L], g[k + 1], A, B)
    dq[2] = -g[G_SF] * dA
    dq[3] = -g[G_ST] * (dB - dA)


@kernel
def lower_jacobian(g, tip, q, J):
    """Write d p_base_tip / d (fan, coxa, femur, tibia), (3, 4), m/rad, in the axes of base_link."""
    k = G_TIP + 3 * tip
    A = g[G_A0] - g[G_SF] * q[2]
    B = g[k + 2] - g[G_SF] * q[2] - g[G_ST] * q[3]
    sm, zm = g[k + 1] * math.cos(B), g[k + 1] * math.sin(B)
    sl, zl = g[G_L] * math.cos(A), g[G_L] * math.sin(A)
    s = g[G_L2] + sl + sm
    c, n = math.cos(q[1]), math.sin(q[1])
    x, y = c * s - n * g[k], n * s + c * g[k]
    cf, nf = math.cos(g[G_SFAN] * q[0]), math.sin(g[G_SFAN] * q[0])
    for j in range(4):
        if j == 0:
            ux, uy, uz = -g[G_SFAN] * (y + g[G_OFF + 1]), g[G_SFAN] * (x + g[G_OFF]), 0.0
        elif j == 1:
            ux, uy, uz = -y, x, 0.0
        else:
            # dA/dq3 = dB/dq3 = -sf, dB/dq4 = -st
            ds = g[G_SF] * (zl + zm) if j == 2 else g[G_ST] * zm
            uz = -g[G_SF] * (sl + sm) if j == 2 else -g[G_ST] * sm
            ux, uy = c * ds, n * ds
        ux, uy = cf * ux - nf * uy, nf * ux + cf * uy
        for r in range(3):
            J[r, j] = g[G_ROT + r] * ux + g[G_ROT + 3 + r] * uy + g[G_ROT + 6 + r] * uz


# ---------------------------------------------------------------------------------------------- upper leg
@kernel
def upper_plane(u, px, py, pz):
    """Return a point of base_link in the plane of an upper leg: x (away from the body), y (along the axis), z (up)."""
    px, py, pz = px - u[U_ORG], py - u[U_ORG + 1], pz - u[U_ORG + 2]
    return (
        u[U_ROT] * px + u[U_ROT + 1] * py + u[U_ROT + 2] * pz,
        u[U_ROT + 3] * px + u[U_ROT + 4] * py + u[U_ROT + 5] * pz,
        u[U_ROT + 6] * px + u[U_ROT + 7] * py + u[U_ROT + 8] * pz,
    )


@kernel
def upper_tip(u, q):
    """Return the sphere centre in base_link, m, for q = (shoulder, shell) in rad."""
    A = u[U_A0] - u[U_SS] * q[0]
    B = u[U_B0] - u[U_SS] * q[0] - u[U_SH] * q[1]
    x = u[U_L] * math.cos(A) + u[U_M] * math.cos(B)
    z = u[U_L] * math.sin(A) + u[U_M] * math.sin(B)
    return (
        u[U_ORG] + u[U_ROT] * x + u[U_ROT + 3] * u[U_H] + u[U_ROT + 6] * z,
        u[U_ORG + 1] + u[U_ROT + 1] * x + u[U_ROT + 4] * u[U_H] + u[U_ROT + 7] * z,
        u[U_ORG + 2] + u[U_ROT + 2] * x + u[U_ROT + 5] * u[U_H] + u[U_ROT + 8] * z,
    )


@kernel
def upper_sum(u, roll, pitch, yaw):
    """Return the angle B (rad) of the outer link for the orientation of the sphere-centre frame in base_link.

    Only the turn about the leg's own axis can be followed; it is read from the frame's x axis projected into the leg
    plane.
    """
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    a, b, c = u[U_XC], u[U_XC + 1], u[U_XC + 2]  # a vector of the frame that lies in the plane
    vx = cy * cp * a + (cy * sp * sr - sy * cr) * b + (cy * sp * cr + sy * sr) * c
    vy = sy * cp * a + (sy * sp * sr + cy * cr) * b + (sy * sp * cr - cy * sr) * c
    vz = -sp * a + cp * sr * b + cp * cr * c
    x = u[U_ROT] * vx + u[U_ROT + 1] * vy + u[U_ROT + 2] * vz
    z = u[U_ROT + 6] * vx + u[U_ROT + 7] * vy + u[U_ROT + 8] * vz
    return u[U_B0] + math.atan2(z, x)  # that vector points along the plane's x at zero


@kernel
def upper_inverse(u, px, py, pz, roll, pitch, yaw, last, low, high, nearest, q):
    """Write shoulder and shell into q (2,); return the distance (m) and the stop.

    With px, py, pz all given the sphere centre goes there (two elbows); with px or py NaN the height pz and the
    orientation decide (two elbows as well, robot.md: sin A = (h - l2 sin B)/l1). `nearest` as in lower_inverse.
    """
    by_height = math.isnan(px) or math.isnan(py)
    B = 0.0
    if by_height:
        B = upper_sum(u, roll, pitch, yaw)
        # the height alone, with the plane's z axis along base_link's
        x, y, z = 0.0, u[U_H], pz - u[U_ORG + 2]
    else:
        x, y, z = upper_plane(u, px, py, pz)
    signs = (u[U_SS], u[U_SH], u[U_A0], u[U_B0])
    best_distance, best_cost, best_stop = math.inf, math.inf, STOP_NONE
    b0 = b1 = 0.0
    for branch in range(2):
        stop = STOP_NONE
        if by_height:
            sine = (z - u[U_M] * math.sin(B)) / u[U_L]
            if abs(sine) > 1.0:
                sine, stop = (1.0 if sine > 0.0 else -1.0), STOP_FAR
            A = math.asin(sine)
            if branch == 1:
                A = math.pi - A
            gamma = B - A
            x = u[U_L] * math.cos(A) + u[U_M] * math.cos(B)
            zt = u[U_L] * math.sin(A) + u[U_M] * math.sin(B)
        else:
            A, gamma, stop = planar_solve(x, z, u[U_L], u[U_M], 1.0 if branch == 0 else -1.0)
            zt = z
        q0, q1 = wrap(signs[0] * (signs[2] - A), 0.5 * (low[0] + high[0])), 0.0
        q1 = wrap(signs[1] * (signs[3] - signs[2] - gamma), 0.5 * (low[1] + high[1]))
        cost = 0.0
        for change in (abs(q0 - last[0]), abs(q1 - last[1])):
            if change > cost:
                cost = change
        if nearest and not cost < best_cost - 1e-9:
            continue
        q[0], q[1], limit = planar_limited(x, zt, u[U_L], u[U_M], A, gamma, signs, low, high)
        ax, ay, az = upper_tip(u, q)
        if by_height:
            distance = abs(az - pz)
        else:
            distance = math.sqrt((ax - px) ** 2 + (ay - py) ** 2 + (az - pz) ** 2)
            if stop == STOP_NONE and abs(y - u[U_H]) > 1e-9:
                stop = STOP_PLANE
        better = distance < best_distance - 1e-9 or (distance < best_distance + 1e-9 and cost < best_cost - 1e-9)
        if nearest or better:
            best_distance, best_cost = distance, cost
            best_stop = limit if limit != STOP_NONE else stop
            b0, b1 = q[0], q[1]
    q[0], q[1] = b0, b1
    return best_distance, best_stop


@kernel
def upper_rates(u, q, v, w, by_height, dq):
    """Write shoulder and shell rates into dq (2,) for the velocity v (m/s) or, by height, v's z and the angular
    velocity w (rad/s).
    """
    A = u[U_A0] - u[U_SS] * q[0]
    B = u[U_B0] - u[U_SS] * q[0] - u[U_SH] * q[1]
    if by_height:
        dB = -(u[U_ROT + 3] * w[0] + u[U_ROT + 4] * w[1] + u[U_ROT + 5] * w[2])
        cosine = math.cos(A)
        damping = 0.25 * (0.05 - abs(cosine)) ** 2 if abs(cosine) < 0.05 else 0.0
        needed = (v[2] - u[U_M] * math.cos(B) * dB) / u[U_L]
        dA = needed * cosine / (cosine * cosine + damping) if cosine * cosine + damping > 0.0 else 0.0
    else:
        vx = u[U_ROT] * v[0] + u[U_ROT + 1] * v[1] + u[U_ROT + 2] * v[2]
        vz = u[U_ROT + 6] * v[0] + u[U_ROT + 7] * v[1] + u[U_ROT + 8] * v[2]
        dA, dB = planar_rates(vx, vz, u[U_L], u[U_M], A, B)
    dq[0] = -u[U_SS] * dA
    dq[1] = -u[U_SH] * (dB - dA)


# ---------------------------------------------------------------------------------------------- one tick, all limbs
@kernel
def _finite(row, count):
    for j in range(count):  # noqa: SIM110 - numba's generators are slow
        if not math.isfinite(row[j]):
            return False
    return True


@kernel
def _status(distance, stop):
    if distance <= 1e-6:
        return OK
    return AT_LIMIT if stop <= 8 else OUT_OF_REACH


@kernel
def _lower_reference(g, frame, p, v, jp, jv, clik, gain, clik_dt, q_meas, last, low, high, speed, q, dq):
    """Write q[1:4] and dq[1:4] of one lower leg; q[0] and dq[0] hold the fan's. Return status, distance, stop,
    difference (flag).

    difference is 1 where dq has to come from the difference of two ticks: no velocity given, or the target not reached.
    """
    if frame == JOINT:
        if not _finite(jp, 3):
            return BAD_REFERENCE, 0.0, STOP_NONE, 0
        stop = STOP_NONE
        for j in range(3):
            q[j + 1] = jp[j]
            dq[j + 1] = jv[j]
        ax, ay, az = lower_tip(g, 0, q)
        for j in range(1, 4):
            bounded = clamp(q[j], low[j], high[j])
            if bounded != q[j]:
                stop = 1 + 2 * j + (1 if bounded == high[j] else 0)
                q[j], dq[j] = bounded, 0.0
        bx, by, bz = lower_tip(g, 0, q)
        distance = math.sqrt((ax - bx) ** 2 + (ay - by) ** 2 + (az - bz) ** 2)
        return (OK if stop == STOP_NONE else AT_LIMIT), distance, stop, (0 if _finite(jv, 3) else 1)
    if not _finite(p, 3):
        return BAD_REFERENCE, 0.0, STOP_NONE, 0
    tip = 0 if frame == FOOT else 1
    distance, stop = lower_inverse(g, tip, p[0], p[1], p[2], last, low, high, True, q)
    status = _status(distance, stop)
    fast = _finite(v, 3)
    if clik and _finite(q_meas, 4):
        # towards the nearest reachable point, so that the error stays bounded; one Euler step from the measured joints
        nx, ny, nz = lower_tip(g, tip, q)
        mx, my, mz = lower_tip(g, tip, q_meas)
        vx, vy, vz = (v[0], v[1], v[2]) if fast and status == OK else (0.0, 0.0, 0.0)
        vx, vy, vz = vx + gain * (nx - mx), vy + gain * (ny - my), vz + gain * (nz - mz)
        lower_rates(g, tip, q_meas, dq[0], vx, vy, vz, dq)
        worst = 1.0
        for j in range(1, 4):
            worst = max(worst, abs(dq[j]) / speed[j])
        for j in range(1, 4):
            dq[j] /= worst
            q[j] = clamp(q_meas[j] + clik_dt * dq[j], low[j], high[j])
        return status, distance, stop, 0
    if status != OK or not fast:
        return status, distance, stop, 1
    lower_rates(g, tip, q, dq[0], v[0], v[1], v[2], dq)
    return status, distance, stop, 0


@kernel
def _upper_reference(u, frame, p, v, rpy, w, jp, jv, last, low, high, q, dq):
    """Write q (2,) and dq (2,) of one upper leg; return status, distance, stop, difference as _lower_reference."""
    if frame == JOINT:
        if not _finite(jp, 2):
            return BAD_REFERENCE, 0.0, STOP_NONE, 0
        stop = STOP_NONE
        for j in range(2):
            q[j] = jp[j]
            dq[j] = jv[j]
        ax, ay, az = upper_tip(u, q)
        for j in range(2):
            bounded = clamp(q[j], low[j], high[j])
            if bounded != q[j]:
                stop = 1 + 2 * j + (1 if bounded == high[j] else 0)
                q[j], dq[j] = bounded, 0.0
        bx, by, bz = upper_tip(u, q)
        distance = math.sqrt((ax - bx) ** 2 + (ay - by) ** 2 + (az - bz) ** 2)
        return (OK if stop == STOP_NONE else AT_LIMIT), distance, stop, (0 if _finite(jv, 2) else 1)
    by_height = math.isnan(p[0]) or math.isnan(p[1])
    if frame != SPHERE_CENTRE or not math.isfinite(p[2]) or math.isinf(p[0]) or math.isinf(p[1]):
        return BAD_REFERENCE, 0.0, STOP_NONE, 0
    if by_height and not _finite(rpy, 3):
        return BAD_REFERENCE, 0.0, STOP_NONE, 0
    distance, stop = upper_inverse(u, p[0], p[1], p[2], rpy[0], rpy[1], rpy[2], last, low, high, True, q)
    status = _status(distance, stop)
    fast = (math.isfinite(v[2]) and _finite(w, 3)) if by_height else _finite(v, 3)
    if status != OK or not fast:
        return status, distance, stop, 1
    upper_rates(u, q, v, w, by_height, dq)
    return status, distance, stop, 0


@kernel
def solve_tick(
    legs, shells, low, high, speed, frame, p, v, rpy, w, jp, jv, fan, fan_rate, q_meas, settings,
    last, last_dq, mode, offset, left, q, dq, status, distance, stop,
):  # fmt: skip
    """Turn the references of all limbs into joint targets.

    legs (6, 28), shells (0 or 6, 22): packed geometry; low, high, speed (n,): limits of the joints.
    frame .. fan_rate: fields of LimbReferences; q_meas (n,): measured joints (NaN unknown).
    settings: (dt s, clik 0|1, gain 1/s, greatest dt of a CLIK step s, blend s).
    State, changed: last, last_dq (n,) targets of the tick before and how they moved (NaN and 0 at the start), mode
    (13,) frame and solver a limb was led by (12: the fan), offset (n,) what is still to be blended out, left (13,) s
    of blending left. Out: q, dq (n,), status, stop (12,) int, distance (12,) m.

    Wherever the source of a limb's targets changes (first tick, frame, solver, end of a hold), what would be a jump
    becomes an offset that a smooth step takes away within the blend time.
    """
    dt, clik, gain, clik_dt, blend = (
        settings[0],
        settings[1] != 0.0,
        settings[2],
        min(settings[0], settings[3]),
        settings[4],
    )
    step = min(dt, GAP)  # a longer tick is a gap, over which nothing is extrapolated
    # the fan, common to six legs, before the legs: their solution depends on where it really goes
    fan_stop = STOP_NONE
    fan_ok = math.isfinite(fan)
    for i in range(6):
        j = 4 * i
        if fan_ok:
            q[j] = clamp(fan, low[j], high[j])
            dq[j] = fan_rate if math.isfinite(fan_rate) else 0.0
            if q[j] != fan:
                fan_stop = 2 if q[j] == high[j] else 1
                dq[j] = 0.0
        else:
            q[j], dq[j] = last[j], 0.0
    fan_mode = JOINT if fan_ok else HOLD
    changed = fan_mode != mode[12]
    mode[12] = fan_mode
    left[12] = _start_blend(changed and fan_ok, blend, left[12], dt, fan_ok)
    for i in range(6):
        _blend(4 * i, 1, changed and fan_ok, left[12], blend, step, low, high, speed, last, last_dq, offset, q, dq)

    for i in range(12):
        first = 4 * i if i < 6 else 24 + 2 * (i - 6)
        skip = 1 if i < 6 else 0  # the fan is done
        count = 3 if i < 6 else 2
        if i >= 6 + shells.shape[0]:
            status[i] = HELD if frame[i] == HOLD else ABSENT
            distance[i], stop[i] = 0.0, STOP_NONE
            continue
        end = first + skip + count
        a, b, c = last[first:end], low[first:end], high[first:end]
        state, error, end_stop, difference = HELD, 0.0, STOP_NONE, 0
        if frame[i] != HOLD and i < 6:
            state, error, end_stop, difference = _lower_reference(
                legs[i], frame[i], p[i], v[i], jp[i], jv[i], clik, gain, clik_dt, q_meas[first:end], a, b, c,
                speed[first:end], q[first:end], dq[first:end],
            )  # fmt: skip
        elif frame[i] != HOLD:
            state, error, end_stop, difference = _upper_reference(
                shells[i - 6], frame[i], p[i], v[i], rpy[i], w[i], jp[i], jv[i], a, b, c, q[first:end], dq[first:end]
            )
        status[i], distance[i], stop[i] = state, error, end_stop
        if i < 6 and fan_stop != STOP_NONE and state == OK:
            status[i], stop[i] = AT_LIMIT, fan_stop
        if i < 6 and not fan_ok and state == OK:
            status[i] = BAD_REFERENCE
        first += skip
        held = state in (HELD, BAD_REFERENCE)
        if held:
            for j in range(first, end):
                q[j], dq[j] = last[j], 0.0
        limb_mode = HOLD if held else frame[i] + (4 if clik and i < 6 and frame[i] != JOINT else 0)
        changed = limb_mode != mode[i]
        mode[i] = limb_mode
        if difference == 1:
            for j in range(first, end):
                known = dt > 0.0 and not changed and math.isfinite(last[j])
                # the tick before without what was blended into it
                dq[j] = (q[j] - last[j]) / dt if known and left[i] <= 0.0 else 0.0
        left[i] = _start_blend(changed and not held, blend, left[i], dt, not held)
        _blend(first, count, changed and not held, left[i], blend, step, low, high, speed, last, last_dq, offset, q, dq)
    for j in range(q.shape[0]):
        # how the targets really moved: the rates of CLIK also hold what pulls the joints back
        moved = (q[j] - last[j]) / dt if dt > 0.0 else 0.0
        last_dq[j] = clamp(moved, -speed[j], speed[j]) if math.isfinite(moved) else 0.0
        last[j] = q[j]


@kernel
def _start_blend(start, blend, left, dt, active):
    """Return the seconds of blending left after this tick began."""
    if not active:
        return 0.0
    return blend if start else max(0.0, left - dt)


@kernel
def _blend(first, count, start, left, blend, step, low, high, speed, last, last_dq, offset, q, dq):
    """Add the offset that is left to the targets first .. first + count, then keep them within limits and speed.

    At the start of a blend the targets go on as they moved: the offset is taken from the tick before, carried on by
    its own rates.
    """
    share, slope = 0.0, 0.0
    if left > 0.0 and blend > 0.0:
        x = left / blend
        share, slope = x * x * (3.0 - 2.0 * x), -6.0 * x * (1.0 - x) / blend
    for j in range(first, first + count):
        if start:
            offset[j] = last[j] + last_dq[j] * step - q[j]
            if not math.isfinite(offset[j]):
                offset[j] = 0.0
        if share > 0.0:
            q[j] = clamp(q[j] + share * offset[j], low[j], high[j])
            dq[j] += slope * offset[j]
        dq[j] = clamp(dq[j], -speed[j], speed[j])
