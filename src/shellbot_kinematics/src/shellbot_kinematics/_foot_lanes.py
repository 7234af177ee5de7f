# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Closed form of a lower leg for many targets: stages over tiles that stay in the processor's nearest cache.

The formula is that of the single leg (`_lower_leg.py`), with two differences of angles taken inside one atan2 each, so
that a leg costs three arctangents, two square roots and three divisions. Each arctangent's arguments are turned by a
constant beforehand so that its result counts from the middle of the joint's limits and needs no wrap.

A leg goes through three loops, not one: the processor looks ahead some 100 instructions, and while a long chain of
dependent ones is under way it finds others to do only where loops are short.

Constants of a leg (foot_batch.py writes them): 0..8 rotation and 9..11 translation from base_link to the coxa in the
middle of its limits, fan included; 12 h; 13 side; 14 l2; 15, 16 law of cosines; 17 knee; 18, 19 and 20, 21 the two
links along and across the femur's middle; 22 middle of the coxa; 23, 24 middle and sign of the femur; 25..27 start,
factor and end of the tibia; 28..30 and 31..33 limits of coxa, femur, tibia; 34..36 coxa axis seen from the fan's;
37 sign of the fan. For targets already in the axes of the coxa, 0..11 are the identity.
"""

from __future__ import annotations

import functools
import math

import numba

from robot_mechanics.native.jit import c_kernel, lane_kernel
from robot_mechanics.native.lanes import TWO_PI, atan2, get, half_acos, put, put_flag, sincos_lanes
from robot_mechanics.native.shared_job import OWN, address_of, flags_at, floats_at, lead, words_at

TILE = 256  # targets a tile: the 13 rows of 2 kB that one branch uses stay in the first cache
WORK = 25 * TILE  # floats of work memory a thread needs
CONSTANTS = 38
_TINY = 1e-300
_FAR = 1e3  # rad, cost of a branch that does not reach the target or breaks a limit


@lane_kernel
def _position(g, row, points, px, py, pz, n, w):
    """Write targets in the axes of the coxa (turned to its middle), reach s, and s squared into w."""
    r0, r1, r2, r3, r4, r5 = g[row, 0], g[row, 1], g[row, 2], g[row, 3], g[row, 4], g[row, 5]
    r6, r7, r8, tx, ty, tz = g[row, 6], g[row, 7], g[row, 8], g[row, 9], g[row, 10], g[row, 11]
    h, side = g[row, 12], g[row, 13]
    for i in range(n):
        a, b, c = get(points, px, i), get(points, py, i), get(points, pz, i)
        x = r0 * a + r1 * b + r2 * c + tx
        y = r3 * a + r4 * b + r5 * c + ty
        s2 = x * x + y * y - h * h
        put(w, 0, i, x)
        put(w, TILE, i, y)
        put(w, 2 * TILE, i, r6 * a + r7 * b + r8 * c + tz)
        put(w, 3 * TILE, i, side * math.sqrt(s2 if s2 > 0.0 else 0.0))
        put(w, 6 * TILE, i, s2)


@lane_kernel
def _plane(g, row, n, w):
    """Write the arguments of the three arctangents into w (coxa x y, femur x y, tibia sine cosine), and whether the
    target is reached: 1, 0, or NaN where it is not finite.
    """
    h, l2, k1, k2, knee = g[row, 12], g[row, 14], g[row, 15], g[row, 16], g[row, 17]
    k0, kc, m0, mc = g[row, 18], g[row, 19], g[row, 20], g[row, 21]
    for i in range(n):
        x, y, z = get(w, 0, i), get(w, TILE, i), get(w, 2 * TILE, i)
        s, s2 = get(w, 3 * TILE, i), get(w, 6 * TILE, i)
        u = s - l2
        cosine = (u * u + z * z) * k1 - k2
        bounded = 1.0 if cosine > 1.0 else cosine
        bounded = -1.0 if bounded < -1.0 else bounded
        square = (1.0 - bounded) * (1.0 + bounded)  # exact near both ends
        sine = math.sqrt(square if square > _TINY else _TINY)  # never zero: half_acos needs one that is not
        bent = knee * sine
        k = k0 + kc * bounded - mc * bent
        m = m0 + mc * bounded + kc * bent
        put(w, 0, i, x * s + h * y)
        put(w, TILE, i, y * s - h * x)
        put(w, 2 * TILE, i, u * k + z * m)
        put(w, 3 * TILE, i, z * k - u * m)
        put(w, 4 * TILE, i, sine)
        put(w, 5 * TILE, i, bounded)
        put(w, 6 * TILE, i, 1.0 if (s2 >= 0.0) and (abs(cosine) <= 1.0) else cosine - cosine)


@lane_kernel
def _angles(g, row, n, w):
    """Write coxa, femur and tibia into rows 9 to 11 of w."""
    c0, f0, f1, t0, t1, edge = g[row, 22], g[row, 23], g[row, 24], g[row, 25], g[row, 26], g[row, 27]
    for i in range(n):
        c = atan2(get(w, TILE, i), get(w, 0, i))
        f = atan2(get(w, 3 * TILE, i), get(w, 2 * TILE, i))
        t = t0 + t1 * half_acos(get(w, 4 * TILE, i), get(w, 5 * TILE, i))
        put(w, 9 * TILE, i, c0 + c)
        put(w, 10 * TILE, i, f0 + f1 * f)
        put(w, 11 * TILE, i, t - TWO_PI if t >= edge else t)


@lane_kernel
def _turn_fan(g, points, px, py, pz, n, w):
    """Write targets in the axes of the coxa for fan angles of their own (rows 0, 1: sine, cosine), rows 18 to 20."""
    r0, r1, r2, r3, r4, r5 = g[0, 0], g[0, 1], g[0, 2], g[0, 3], g[0, 4], g[0, 5]
    r6, r7, r8, tz, ox, oy = g[0, 6], g[0, 7], g[0, 8], g[0, 11], g[0, 34], g[0, 35]
    tx, ty = g[0, 9] + ox, g[0, 10] + oy  # the constants end at the coxa; the fan turns before that
    for i in range(n):
        px_i, py_i, pz_i = get(points, px, i), get(points, py, i), get(points, pz, i)
        s, c = get(w, 0, i), get(w, TILE, i)
        a, b = r0 * px_i + r1 * py_i + r2 * pz_i + tx, r3 * px_i + r4 * py_i + r5 * pz_i + ty
        put(w, 18 * TILE, i, c * a + s * b - ox)
        put(w, 19 * TILE, i, c * b - s * a - oy)
        put(w, 20 * TILE, i, r6 * px_i + r7 * py_i + r8 * pz_i + tz)


@lane_kernel
def _cost(g, row, n, w):
    """Write how far rows 9 to 11 are from rows 12 to 14 into row 7; much further if not reached or beyond a limit."""
    low0, low1, low2 = g[row, 28], g[row, 29], g[row, 30]
    high0, high1, high2 = g[row, 31], g[row, 32], g[row, 33]
    for i in range(n):
        a, b, c = get(w, 9 * TILE, i), get(w, 10 * TILE, i), get(w, 11 * TILE, i)
        allowed = (a >= low0) & (a <= high0) & (b >= low1) & (b <= high1) & (c >= low2) & (c <= high2)
        da, db, dc = (
            abs(a - get(w, 12 * TILE, i)), abs(b - get(w, 13 * TILE, i)), abs(c - get(w, 14 * TILE, i)),
        )  # fmt: skip
        worst = da if da > db else db
        worst = dc if dc > worst else worst
        far = 0.0 if get(w, 6 * TILE, i) > 0.0 else 2.0 * _FAR
        put(w, 7 * TILE, i, worst + (0.0 if allowed else _FAR) + far)


@lane_kernel
def _bound(g, row, n, w):
    """Write 0 into row 6 where rows 9 to 11 are beyond a limit; NaN stays."""
    low0, low1, low2 = g[row, 28], g[row, 29], g[row, 30]
    high0, high1, high2 = g[row, 31], g[row, 32], g[row, 33]
    for i in range(n):
        a, b, c = get(w, 9 * TILE, i), get(w, 10 * TILE, i), get(w, 11 * TILE, i)
        allowed = (a >= low0) & (a <= high0) & (b >= low1) & (b <= high1) & (c >= low2) & (c <= high2)
        reached = get(w, 6 * TILE, i)
        put(w, 6 * TILE, i, reached if allowed else reached - reached)


@lane_kernel
def _keep(n, w):
    """Take rows 9 to 11 over into rows 22 to 24 where the cost in row 7 is less than the best so far, row 8."""
    for i in range(n):
        better = get(w, 7 * TILE, i) < get(w, 8 * TILE, i)
        put(w, 22 * TILE, i, get(w, 9 * TILE, i) if better else get(w, 22 * TILE, i))
        put(w, 23 * TILE, i, get(w, 10 * TILE, i) if better else get(w, 23 * TILE, i))
        put(w, 24 * TILE, i, get(w, 11 * TILE, i) if better else get(w, 24 * TILE, i))
        put(w, 8 * TILE, i, get(w, 7 * TILE, i) if better else get(w, 8 * TILE, i))


@lane_kernel
def _begin(n, w):
    for i in range(n):
        put(w, 8 * TILE, i, 1e9)


@lane_kernel
def _end(n, w):
    """Write 1 where a branch is taken, else 0 or, of targets that are not finite, NaN: the last branch's answer is."""
    for i in range(n):
        last = get(w, 9 * TILE, i) + get(w, 10 * TILE, i)
        put(w, 6 * TILE, i, 1.0 if get(w, 8 * TILE, i) < _FAR else last - last)


@lane_kernel
def _copy(source, first, n, out, at):
    for i in range(n):
        put(out, at, i, get(source, first, i))


@lane_kernel
def put_flags(w, n, out, at):
    """Write what is reached; return how many targets are not finite."""
    bad = 0
    for i in range(n):
        reached = get(w, 6 * TILE, i)
        put_flag(out, at, i, reached)
        bad += reached != reached
    return bad


@lane_kernel
def _columns(points, at, n, w, row):
    for i in range(n):
        put(w, row, i, get(points, 3 * at, 3 * i))
        put(w, row + TILE, i, get(points, 3 * at + 1, 3 * i))
        put(w, row + 2 * TILE, i, get(points, 3 * at + 2, 3 * i))


@lane_kernel
def _put_columns(w, row, n, out, at):
    for i in range(n):
        put(out, 3 * at, 3 * i, get(w, row, i))
        put(out, 3 * at + 1, 3 * i, get(w, row + TILE, i))
        put(out, 3 * at + 2, 3 * i, get(w, row + 2 * TILE, i))


@lane_kernel
def solve_tile(g, branches, n, points, px, py, pz, fan, at, w):
    """Solve one tile of n targets; return the row of w where the answer begins; flags of what is reached: row 6."""
    turned = fan.shape[0] > 0
    if turned:
        sincos_lanes(fan, at, n, g[0, 37], w, TILE)
        _turn_fan(g, points, px, py, pz, n, w)
    if branches > 1:
        _begin(n, w)
    for k in range(branches):
        if turned:
            _position(g, branches + k, w, 18 * TILE, 19 * TILE, 20 * TILE, n, w)
        else:
            _position(g, k, points, px, py, pz, n, w)
        _plane(g, k, n, w)
        _angles(g, k, n, w)
        if branches > 1:
            _cost(g, k, n, w)
            _keep(n, w)
    if branches > 1:
        _end(n, w)
        return 22 * TILE
    if max(g[0, 28], g[0, 29], g[0, 30]) > -math.inf or min(g[0, 31], g[0, 32], g[0, 33]) < math.inf:
        _bound(g, 0, n, w)
    return 9 * TILE


@lane_kernel
def feet_by_coordinate(g, branches, points, fan, seeds, q, reached, first, last, w):
    """Solve targets first .. last of points, x of all, then y, then z (3 N,), into q (likewise) and reached (N,) uint8;
    return how many of them are not finite.

    g (2 branches, CONSTANTS): one row a branch, then the same for targets already in the axes of the coxa. fan: (N,),
    or (0,) if all legs share one. seeds: like q, or empty; used with several branches. w (WORK,). Nothing here makes a
    view of an array: each costs two atomic counts, all together as much as 70 legs a tile.
    """
    count, at, bad = reached.shape[0], first, 0
    while at < last:
        n = min(TILE, last - at)
        if branches > 1:
            for j in range(3):
                _copy(seeds, j * count + at, n, w, (12 + j) * TILE)
        row = solve_tile(g, branches, n, points, at, count + at, 2 * count + at, fan, at, w)
        for j in range(3):
            _copy(w, row + j * TILE, n, q, j * count + at)
        bad += put_flags(w, n, reached, at)
        at += n
    return bad


@lane_kernel
def feet_by_target(g, branches, points, fan, seeds, q, reached, first, last, w):
    """As feet_by_coordinate for x, y, z of one target after the other: each tile is turned into rows and back."""
    at, bad = first, 0
    while at < last:
        n = min(TILE, last - at)
        if branches > 1:
            _columns(seeds, at, n, w, 12 * TILE)
        _columns(points, at, n, w, 15 * TILE)
        row = solve_tile(g, branches, n, w, 15 * TILE, 16 * TILE, 17 * TILE, fan, at, w)
        _put_columns(w, row, n, q, at)
        bad += put_flags(w, n, reached, at)
        at += n
    return bad


@lane_kernel
def feet_shared(words, function, part, workers, by_coordinate, g, branches, points, fan, seeds, q, reached, w):
    """As the two above for all targets, with the helpers called (_crew): w (workers * WORK,), function: the address of
    `shared_part()`; return whether any target is not finite.
    """
    k = OWN
    words[k], words[k + 1], words[k + 2] = by_coordinate, address_of(g), branches
    words[k + 3], words[k + 4], words[k + 5] = address_of(points), address_of(fan), fan.shape[0]
    words[k + 6], words[k + 7], words[k + 8] = address_of(seeds), seeds.shape[0], address_of(q)
    words[k + 9], words[k + 10], words[k + 11] = address_of(reached), reached.shape[0], address_of(w)
    words[k + 12] = 0
    lead(words, function, address_of(words) + 8 * k, reached.shape[0], part, workers)
    return words[k + 12]


def _part(address, first, last, worker):
    block = words_at(address)
    branches, count = block[2], block[10]
    g = numba.carray(floats_at(block[1]), (2 * branches, CONSTANTS))
    points, q = numba.carray(floats_at(block[3]), 3 * count), numba.carray(floats_at(block[8]), 3 * count)
    fan, seeds = numba.carray(floats_at(block[4]), block[5]), numba.carray(floats_at(block[6]), block[7])
    reached = numba.carray(flags_at(block[9]), count)
    w = numba.carray(floats_at(block[11] + 8 * WORK * worker), WORK)
    if block[0] != 0:
        bad = feet_by_coordinate(g, branches, points, fan, seeds, q, reached, first, last, w)
    else:
        bad = feet_by_target(g, branches, points, fan, seeds, q, reached, first, last, w)
    if bad != 0:
        block[12] = 1


@functools.lru_cache(maxsize=None)
def shared_part():
    """Return the address of the C function that does a part of `feet_shared`, compiled or loaded now."""
    return c_kernel(_part, "void(int64, int64, int64, int64)")
