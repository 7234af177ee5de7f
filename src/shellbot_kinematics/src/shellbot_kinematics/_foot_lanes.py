# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Closed form of a lower leg for many targets: stages over tiles that stay in the processor's nearest cache.

The formula is that of the single leg (robot.md), with two differences of angles taken inside one atan2 each, so that a
leg costs three arctangents, two square roots and three divisions.

Constants of a leg (foot_batch.py writes them): 0..8 rotation and 9..11 translation from base_link to the coxa, fan
included; 12 h; 13 side; 14 l2; 15, 16 law of cosines; 17 knee; 18, 19 the two links; 20..22 offset, sign, middle of the
femur; 23..25 of the tibia; 26 middle of the coxa; 27..29 and 30..32 limits of coxa, femur, tibia; 33..35 coxa axis
seen from the fan's; 36 sign of the fan. For targets already in the axes of the coxa, 0..11 are the identity.
"""

from __future__ import annotations

import math

from shellbot_kinematics._jit import lane_kernel
from shellbot_kinematics._lanes import atan2_lanes, sincos_lanes

TILE = 256  # targets a tile: the 13 rows of 2 kB that one branch uses stay in the first cache
WORK = 25 * TILE  # floats of work memory a thread needs
CONSTANTS = 37
_FAR = 1e3  # rad, cost of a branch that does not reach the target or breaks a limit


@lane_kernel
def _plane(g, px, py, pz, n, w, reached):
    """Write the arguments of the three arctangents into w (coxa, tibia, femur: y above x), and 1 where reached."""
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = g[0], g[1], g[2], g[3], g[4], g[5], g[6], g[7], g[8]
    tx, ty, tz, h, side, l2, k1, k2, knee, la, lb = (
        g[9], g[10], g[11], g[12], g[13], g[14], g[15], g[16], g[17], g[18], g[19],
    )  # fmt: skip
    for i in range(n):
        a, b, c = px[i], py[i], pz[i]
        x = r0 * a + r1 * b + r2 * c + tx
        y = r3 * a + r4 * b + r5 * c + ty
        z = r6 * a + r7 * b + r8 * c + tz
        s2 = x * x + y * y - h * h
        s = side * math.sqrt(s2 if s2 > 0.0 else 0.0)
        u = s - l2
        cosine = (u * u + z * z) * k1 - k2
        bounded = 1.0 if cosine > 1.0 else cosine
        bounded = -1.0 if bounded < -1.0 else bounded
        sine = knee * math.sqrt(1.0 - bounded * bounded)
        k = la + lb * bounded
        m = lb * sine
        w[i] = y * s - h * x
        w[TILE + i] = x * s + h * y
        w[2 * TILE + i] = sine
        w[3 * TILE + i] = bounded
        w[4 * TILE + i] = z * k - u * m
        w[5 * TILE + i] = u * k + z * m
        reached[i] = 1.0 if (s2 >= 0.0) and (abs(cosine) <= 1.0) else 0.0


@lane_kernel
def _turn_fan(g, px, py, pz, s, c, n, x, y, z):
    """Write targets in the axes of the coxa for a fan angle of their own; s, c its sine and cosine."""
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = g[0], g[1], g[2], g[3], g[4], g[5], g[6], g[7], g[8]
    ox, oy, tz = g[33], g[34], g[11]
    tx, ty = g[9] + ox, g[10] + oy  # the constants end at the coxa; the fan turns before that
    for i in range(n):
        a, b = r0 * px[i] + r1 * py[i] + r2 * pz[i] + tx, r3 * px[i] + r4 * py[i] + r5 * pz[i] + ty
        z[i] = r6 * px[i] + r7 * py[i] + r8 * pz[i] + tz
        x[i] = c[i] * a + s[i] * b - ox
        y[i] = c[i] * b - s[i] * a - oy


@lane_kernel
def _angles(g, n, w, coxa, femur, tibia):
    atan2_lanes(w[0:TILE], w[TILE : 2 * TILE], n, 1.0, 0.0, g[26], coxa)
    atan2_lanes(w[4 * TILE : 5 * TILE], w[5 * TILE : 6 * TILE], n, g[21], g[20], g[22], femur)
    atan2_lanes(w[2 * TILE : 3 * TILE], w[3 * TILE : 4 * TILE], n, g[24], g[23], g[25], tibia)


@lane_kernel
def _cost(g, reached, a, b, c, la, lb, lc, n, cost):
    """Write how far a solution is from the joints `l*`, much further if it is none or breaks a limit."""
    low0, low1, low2, high0, high1, high2 = g[27], g[28], g[29], g[30], g[31], g[32]
    for i in range(n):
        allowed = (a[i] >= low0) & (a[i] <= high0) & (b[i] >= low1) & (b[i] <= high1)
        allowed = allowed & (c[i] >= low2) & (c[i] <= high2)
        da, db, dc = abs(a[i] - la[i]), abs(b[i] - lb[i]), abs(c[i] - lc[i])
        worst = da if da > db else db
        worst = dc if dc > worst else worst
        cost[i] = worst + (0.0 if allowed else _FAR) + (0.0 if reached[i] > 0.0 else 2.0 * _FAR)


@lane_kernel
def _keep(cost, n, best, value, kept):
    for i in range(n):
        kept[i] = value[i] if cost[i] < best[i] else kept[i]


@lane_kernel
def _flags(reached, n, out):
    for i in range(n):
        out[i] = reached[i] > 0.0


@lane_kernel
def _columns(points, a, n, x, y, z):
    for i in range(n):
        x[i], y[i], z[i] = points[a + i, 0], points[a + i, 1], points[a + i, 2]


@lane_kernel
def _put_columns(x, y, z, n, out, a):
    for i in range(n):
        out[a + i, 0], out[a + i, 1], out[a + i, 2] = x[i], y[i], z[i]


@lane_kernel
def _tile(g, branches, n, px, py, pz, fan, w, coxa, femur, tibia):
    """Solve one tile of n targets into coxa, femur, tibia; flags of what is reached into w[6 * TILE]."""
    reached = w[6 * TILE : 7 * TILE]
    constants = g[0]
    if fan.shape[0] > 0:
        s, c = w[0:TILE], w[TILE : 2 * TILE]
        x, y, z = w[18 * TILE : 19 * TILE], w[19 * TILE : 20 * TILE], w[20 * TILE : 21 * TILE]
        sincos_lanes(fan, n, constants[36], s, c)
        _turn_fan(g[0], px, py, pz, s, c, n, x, y, z)
        px, py, pz = x, y, z
        constants = g[branches]
    if branches == 1:
        _plane(constants, px, py, pz, n, w, reached)
        _angles(constants, n, w, coxa, femur, tibia)
        return
    cost, best = w[7 * TILE : 8 * TILE], w[8 * TILE : 9 * TILE]
    a, b, c = w[9 * TILE : 10 * TILE], w[10 * TILE : 11 * TILE], w[11 * TILE : 12 * TILE]
    la, lb, lc = w[12 * TILE : 13 * TILE], w[13 * TILE : 14 * TILE], w[14 * TILE : 15 * TILE]
    found = w[21 * TILE : 22 * TILE]
    for i in range(n):
        best[i] = 1e9
    for k in range(branches):
        own = g[branches + k] if fan.shape[0] > 0 else g[k]
        _plane(own, px, py, pz, n, w, found)
        _angles(own, n, w, a, b, c)
        _cost(own, found, a, b, c, la, lb, lc, n, cost)
        _keep(cost, n, best, a, coxa)
        _keep(cost, n, best, b, femur)
        _keep(cost, n, best, c, tibia)
        _keep(cost, n, best, cost, best)
    for i in range(n):
        reached[i] = 1.0 if best[i] < _FAR else 0.0


@lane_kernel
def feet_by_coordinate(g, branches, points, fan, seeds, q, reached, first, last, w):
    """Solve targets first .. last of points (3, N) into q (3, N) and reached (N,).

    g (8, CONSTANTS): one row a branch, then the same for targets already in the axes of the coxa. fan: (N,), or (0,)
    if all legs share one. seeds: like q, or empty; used with several branches.
    """
    at = first
    while at < last:
        end = min(at + TILE, last)
        n = end - at
        if branches > 1:
            for j in range(3):
                row = w[(12 + j) * TILE : (13 + j) * TILE]
                for i in range(n):
                    row[i] = seeds[j, at + i]
        own = fan[at:end] if fan.shape[0] > 0 else fan
        _tile(
            g, branches, n, points[0, at:end], points[1, at:end], points[2, at:end], own, w,
            q[0, at:end], q[1, at:end], q[2, at:end],
        )  # fmt: skip
        _flags(w[6 * TILE : 7 * TILE], n, reached[at:end])
        at = end


@lane_kernel
def feet_by_target(g, branches, points, fan, seeds, q, reached, first, last, w):
    """As feet_by_coordinate for points and q (N, 3): each tile is turned into rows in the nearest cache and back."""
    x, y, z = w[15 * TILE : 16 * TILE], w[16 * TILE : 17 * TILE], w[17 * TILE : 18 * TILE]
    coxa, femur, tibia = w[22 * TILE : 23 * TILE], w[23 * TILE : 24 * TILE], w[24 * TILE : 25 * TILE]
    at = first
    while at < last:
        end = min(at + TILE, last)
        n = end - at
        if branches > 1:
            _columns(seeds, at, n, w[12 * TILE : 13 * TILE], w[13 * TILE : 14 * TILE], w[14 * TILE : 15 * TILE])
        own = fan[at:end] if fan.shape[0] > 0 else fan
        _columns(points, at, n, x, y, z)
        _tile(g, branches, n, x, y, z, own, w, coxa, femur, tibia)
        _put_columns(coxa, femur, tibia, n, q, at)
        _flags(w[6 * TILE : 7 * TILE], n, reached[at:end])
        at = end
