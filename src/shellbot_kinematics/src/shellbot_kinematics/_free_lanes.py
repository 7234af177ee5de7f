# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
# ruff: noqa: UP018 - int(0): numba compiles a kernel anew for every constant it is called with
"""A foot's inverse over all four joints for many targets: SIMD where the fan may stay, one by one where it must turn.

A tile is solved with the fan where it is, all four branches, the nearest of those that meet the target (_foot_lanes).
What none of them meets goes to the complete closed form of the single leg (_free_fan), which turns the fan.
"""

from __future__ import annotations

import functools
import math

import numba

from robot_mechanics.native.jit import c_kernel, lane_kernel
from robot_mechanics.native.lanes import get, put
from robot_mechanics.native.shared_job import OWN, address_of, flags_at, floats_at, lead, words_at
from shellbot_kinematics import _foot_lanes as feet
from shellbot_kinematics._foot_lanes import CONSTANTS, TILE, put_flags, solve_tile
from shellbot_kinematics._free_fan import MET, foot_free
from shellbot_kinematics._layout import G_HIGH, G_LOW, LEG

BRANCHES = 4
# rows of the work memory: as in _foot_lanes, and two more
_REACHED, _SEED, _POINT, _ANSWER = 6 * TILE, 12 * TILE, 15 * TILE, 22 * TILE
_FAN = feet.WORK  # where the fan is, kept to its limits; then where it turns to
_LEG = _FAN + TILE  # joints of one leg, for the single solver
WORK = _LEG + TILE


@lane_kernel
def _take(source, at, step, n, w, row):
    for i in range(n):
        put(w, row, i, get(source, at, step * i))


@lane_kernel
def _give(w, row, n, out, at, step):
    for i in range(n):
        put(out, at, step * i, get(w, row, i))


@lane_kernel
def _keep_to(low, high, n, w):
    for i in range(n):
        fan = get(w, _FAN, i)
        fan = low if fan < low else fan
        put(w, _FAN, i, high if fan > high else fan)


@lane_kernel
def _turn(leg, tip, limited, seeds, at, apart, step, n, w):
    """Solve what is left of a tile one by one, turning the fan."""
    for i in range(n):
        if get(w, _REACHED, i) > 0.0:
            continue
        if math.isnan(get(w, _REACHED, i)):  # not finite, or so far that its square is not: stay
            for j in range(3):
                put(w, _ANSWER + j * TILE, i, get(w, _SEED + j * TILE, i))
            continue
        for j in range(4):
            put(w, _LEG, j, get(seeds, at + j * apart, step * i))
        x, y, z = get(w, _POINT, i), get(w, _POINT + TILE, i), get(w, _POINT + 2 * TILE, i)
        left = foot_free(leg, int(0), tip, x, y, z, limited, w, int(_LEG))
        put(w, _FAN, i, get(w, _LEG, 0))
        for j in range(3):
            put(w, _ANSWER + j * TILE, i, get(w, _LEG, j + 1))
        put(w, _REACHED, i, 1.0 if left <= MET else 0.0)


@lane_kernel
def free_feet(leg, tip, limited, by_coordinate, g, points, seeds, q, reached, first, last, w):
    """Solve targets first .. last into q and reached (N,) uint8; return how many of them are not finite.

    leg (LEG,): a row of ShellbotModel.legs; tip 0 or 1; g as in _foot_lanes for all branches and fan 0. points, by
    coordinate (3, N) or by target (N, 3), flat; q likewise with 4; seeds as q, or four for all. w (WORK,).
    """
    count, at, bad = reached.shape[0], first, 0
    one = seeds.shape[0] == 4  # with one target it is all the same
    while at < last:
        n = min(TILE, last - at)
        for j in range(3):
            _take(
                points,
                j * count + at if by_coordinate else 3 * at + j,
                1 if by_coordinate else 3,
                n,
                w,
                _POINT + j * TILE,
            )
        apart, step, seed = (1, 0, 0) if one else ((count, 1, at) if by_coordinate else (1, 4, 4 * at))
        _take(seeds, seed, step, n, w, _FAN)
        for j in range(3):
            _take(seeds, seed + (j + 1) * apart, step, n, w, _SEED + j * TILE)
        if limited:
            _keep_to(leg[G_LOW], leg[G_HIGH], n, w)
        solve_tile(g, int(BRANCHES), n, w, _POINT, _POINT + TILE, _POINT + 2 * TILE, w, _FAN, w)
        _turn(leg, tip, limited, seeds, seed, apart, step, n, w)
        for j in range(4):
            row = _FAN if j == 0 else _ANSWER + (j - 1) * TILE
            _give(w, row, n, q, j * count + at if by_coordinate else 4 * at + j, 1 if by_coordinate else 4)
        bad += put_flags(w, n, reached, at)
        at += n
    return bad


@lane_kernel
def free_shared(words, function, part, workers, leg, tip, limited, by_coordinate, g, points, seeds, q, reached, w):
    """As free_feet for all targets, with the helpers called (_crew): w (workers * WORK,), function: the address of
    `shared_part()`; return whether any target is not finite.
    """
    k = OWN
    words[k], words[k + 1], words[k + 2], words[k + 3] = address_of(leg), tip, limited, by_coordinate
    words[k + 4], words[k + 5], words[k + 6] = address_of(g), address_of(points), address_of(seeds)
    words[k + 7], words[k + 8], words[k + 9] = seeds.shape[0], address_of(q), address_of(reached)
    words[k + 10], words[k + 11], words[k + 12] = reached.shape[0], address_of(w), 0
    lead(words, function, address_of(words) + 8 * k, reached.shape[0], part, workers)
    return words[k + 12]


def _part(address, first, last, worker):
    block = words_at(address)
    count = block[10]
    leg, g = numba.carray(floats_at(block[0]), LEG), numba.carray(floats_at(block[4]), (2 * BRANCHES, CONSTANTS))
    points, seeds = numba.carray(floats_at(block[5]), 3 * count), numba.carray(floats_at(block[6]), block[7])
    q, reached = numba.carray(floats_at(block[8]), 4 * count), numba.carray(flags_at(block[9]), count)
    w = numba.carray(floats_at(block[11] + 8 * WORK * worker), WORK)
    limited, by_coordinate = block[2] != 0, block[3] != 0
    if free_feet(leg, block[1], limited, by_coordinate, g, points, seeds, q, reached, first, last, w) != 0:
        block[12] = 1


@functools.lru_cache(maxsize=None)
def shared_part():
    """Return the address of the C function that does a part of `free_shared`, compiled or loaded now."""
    return c_kernel(_part, "void(int64, int64, int64, int64)")
