# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Kernel of `feed_forward`: a tick of it in a few microseconds."""

from __future__ import annotations

import numpy as np

from robot_mechanics.native.jit import bare_kernel, joined_kernel
from robot_mechanics.native.standing import standing_torques

_FASTEST = 20.0  # rad/s: a command that moves on by more in a tick is a jump, not a motion
_HARDEST = 500.0  # rad/s^2: the same of its speed


def memory_size(n, c, k):
    """Return how many floats the kernel's memory has, for n joints, c contacts and k coordinates; see `divided`."""
    return 3 * (c + k) + 6 * n + 25


def divided(memory, n, c, k):
    """Return the parts of the kernel's memory, for n joints, c contacts and k coordinates.

    goal, weights : (c,)
        Target weights of the contacts, and those of now. Where the former are all 0, those of now stay, and the
        torques fade.
    load : (c,)
        Loads, N.
    u, ahead : (k,)
        Commanded coordinates, now and a tick later (NaN: not known), rad. The latter are NaN after a tick.
    out : (k,)
        Torques that are fed forward, by coordinate, N m.
    held, limits : (n,)
        The last torques that were finite, and the greatest that are allowed, N m.
    q, v, a : (7 + n,), (6 + n,), (6 + n,)
        q has the joints of the tick before behind the pose of the base; v and a are memory.
    fresh : (6 + n,)
        Memory.
    """
    goal, weights, load, memory = memory[:c], memory[c : 2 * c], memory[2 * c : 3 * c], memory[3 * c :]
    u, ahead, out, memory = memory[:k], memory[k : 2 * k], memory[2 * k : 3 * k], memory[3 * k :]
    held, limits, q, memory = memory[:n], memory[n : 2 * n], memory[2 * n : 7 + 3 * n], memory[7 + 3 * n :]
    m = 6 + n
    return goal, weights, load, u, ahead, out, held, limits, q, memory[:m], memory[m : 2 * m], memory[2 * m :]


_divided = joined_kernel(divided)


@bare_kernel
def feed_forward_tick(
    dt, gravity, motion, load_time, fade_time, known, fraction, table, contacts, coordinate, k, memory, work
):
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
        Which of k commanded coordinates each joint follows.
    k : int
    memory : (m,)
        See `divided`; one array, as each one more that crosses from Python costs up to 1 us.
    """
    n, c = coordinate.shape[0], contacts.shape[0]
    goal, weights, load, u, ahead, out, held, limits, q, v, a, fresh = _divided(memory, n, c, k)
    change = dt / load_time if load_time > 0.0 else 1.0
    carried = 0.0
    for i in range(c):
        carried += goal[i]
    carries = known and carried > 0.0
    if carries:
        for i in range(c):
            weights[i] = min(max(goal[i], weights[i] - change), weights[i] + change)
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
    for i in range(k):
        ahead[i] = np.nan
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
    for i in range(k):
        out[i] = 0.0
    for i in range(n):
        out[coordinate[i]] += fraction * held[i]
    return fraction
