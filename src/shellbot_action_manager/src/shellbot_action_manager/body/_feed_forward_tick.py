# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Kernel of `feed_forward`: a tick of it in a few microseconds."""

from __future__ import annotations

import numpy as np

from robot_mechanics.native.jit import bare_kernel
from robot_mechanics.native.standing import standing_torques

_FASTEST = 20.0  # rad/s: a command that moves on by more in a tick is a jump, not a motion
_HARDEST = 500.0  # rad/s^2: the same of its speed


@bare_kernel
def feed_forward_tick(
    dt, gravity, motion, load_time, fade_time, known, fraction,
    table, contacts, coordinate, u, ahead, limits, goal, weights, q, v, a, fresh, held, load, out, work,
):  # fmt: skip
    """Move on by a tick; returns the fraction of the torques that is in force now.

    Parameters
    ----------
    dt, gravity, motion, load_time, fade_time
        s since the tick before, and the numbers of the configuration.
    known : bool
        Whether q has the orientation of the base.
    fraction
        As returned at the tick before; 0 at the first.
    table, contacts, work
        As in `standing_torques`.
    coordinate : (n,) int
        Which commanded coordinate each joint follows.
    u, ahead : (k,)
        Commanded coordinates, now and a tick later (NaN: not known), rad. The latter are NaN afterwards.
    limits : (n,)
        Greatest torque, N m.
    goal, weights : (c,)
        Weights of the contacts that are gone to, and those of now (changed). Where the former are all 0, those of now
        stay, and the torques fade.
    q, v, a : (7 + n,), (6 + n,), (6 + n,)
        q has the joints of the tick before (changed) behind the pose of the base; v and a are memory.
    fresh : (6 + n,)
        Memory.
    held, load : (n,), (c,)
        The last torques that were finite, and the loads (changed), N m, N.
    out : (k,)
        Torques that are fed forward, by coordinate, N m.
    """
    n = coordinate.shape[0]
    change = dt / load_time if load_time > 0.0 else 1.0
    carried = 0.0
    for k in range(goal.shape[0]):
        carried += goal[k]
    carries = known and carried > 0.0
    if carries:
        for k in range(goal.shape[0]):
            weights[k] = min(max(goal[k], weights[k] - change), weights[k] + change)
    for i in range(n):
        x, before, later = u[coordinate[i]], q[7 + i], ahead[coordinate[i]]
        rate, grows = (x - before) / dt if dt > 0.0 else 0.0, 0.0
        if later == later and dt > 0.0:
            forth = (later - x) / dt
            grows = (forth - rate) / dt
            rate = 0.5 * (rate + forth)
        if not (abs(rate) < _FASTEST and abs(grows) < _HARDEST):
            rate = grows = 0.0  # also at the first tick, whose q is NaN
        q[7 + i], v[6 + i], a[6 + i] = x, motion * rate, motion * grows
    for k in range(ahead.shape[0]):
        ahead[k] = np.nan
    standing_torques(table, q, v, a, contacts, weights, fresh, load, work)
    finite = True
    for i in range(n):
        finite = finite and np.isfinite(fresh[6 + i])
    if finite:
        for i in range(n):
            held[i] = min(max(fresh[6 + i], -limits[i]), limits[i])
    aim = gravity if finite and carries else 0.0
    change = dt / fade_time
    fraction = min(max(aim, fraction - change), fraction + change)
    for k in range(out.shape[0]):
        out[k] = 0.0
    for i in range(n):
        out[coordinate[i]] += fraction * held[i]
    return fraction
