# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""A robot on a floating base and its contacts: one pass gives their loads and the torques of its joints.

The ground pushes straight up. Of all loads that carry weight and moment those are taken whose squares, each divided by
the weight of its contact, have the least sum; contacts that would have to pull are left without load, and the others
share the whole.
"""

from __future__ import annotations

import numpy as np

from robot_mechanics.native import rigid_body as rb
from robot_mechanics.native.jit import bare_kernel

# columns of a contact: its body, the centre of a ball in the frame of the body (3, m), the radius of the ball (m)
BODY, CENTRE, RADIUS, CONTACT = 0, 1, 4, 5
_SOFT = 1e-6  # m^2: contacts that are nearer to each other (or to a line) than its root carry no moment
_UP = rb.COMPOSITE  # columns of the work memory that the composite bodies do not need here: "up" in the body


@bare_kernel
def standing_torques(table, q, v, a, contacts, weight, tau, load, work):
    """Write the forces tau (rates,) that joints need for a motion while contacts carry the robot, and loads (c,), N.

    table: of a floating base. weight: (c,) of the contacts, 0 (carries nothing) to 1. A sum below 1 carries only this
    fraction of the robot. The rows of the base in tau are what the contacts do not carry. All are NaN if an argument
    is not finite, or the quaternion zero.
    """
    for k in range(contacts.shape[0]):
        load[k] = np.nan
    rb.inverse_dynamics(table, q, v, a, tau, work)
    known = 0.0  # NaN if an argument is not finite
    for c in range(tau.shape[0]):
        known += tau[c]
    for k in range(contacts.shape[0]):
        known += weight[k]
    if not np.isfinite(known):
        for c in range(tau.shape[0]):
            tau[c] = np.nan
        return
    for k in range(3):
        work[0, _UP + k] = work[0, 6 + k]
    for i in range(1, table.shape[0]):
        p = int(table[i, rb.PARENT])
        x, y, z = work[p, _UP], work[p, _UP + 1], work[p, _UP + 2]
        for k in range(3):
            work[i, _UP + k] = work[i, k] * x + work[i, 3 + k] * y + work[i, 6 + k] * z
    _distribute(table, tau, contacts, weight, load, work)
    for k in range(contacts.shape[0]):
        if load[k] > 0.0:
            _push(table, contacts[k], load[k], tau, work)


@bare_kernel
def _lowest(contact, work):
    """Return the lowest point of a contact in the frame of its body."""
    i, r = int(contact[BODY]), contact[RADIUS]
    return (
        contact[CENTRE] - r * work[i, _UP],
        contact[CENTRE + 1] - r * work[i, _UP + 1],
        contact[CENTRE + 2] - r * work[i, _UP + 2],
    )


@bare_kernel
def _to_parent(work, i, x, y, z):
    """Return a point of body i in the frame of its parent."""
    return (
        work[i, rb.ORG] + work[i, 0] * x + work[i, 1] * y + work[i, 2] * z,
        work[i, rb.ORG + 1] + work[i, 3] * x + work[i, 4] * y + work[i, 5] * z,
        work[i, rb.ORG + 2] + work[i, 6] * x + work[i, 7] * y + work[i, 8] * z,
    )


@bare_kernel
def _lowest_in_base(table, contact, work):
    """Return the lowest point of a contact in the frame of the base."""
    x, y, z = _lowest(contact, work)
    i = int(contact[BODY])
    while i != 0:
        x, y, z = _to_parent(work, i, x, y, z)
        i = int(table[i, rb.PARENT])
    return x, y, z


@bare_kernel
def _distribute(table, tau, contacts, weight, load, work):
    """Write the loads: weight_k (W / sum + y . d_k) with d_k from the weighted centre in the plane across "up"."""
    ux, uy, uz = work[0, _UP], work[0, _UP + 1], work[0, _UP + 2]
    # two directions across "up", beginning with the axis of the base that is farthest from it
    if abs(ux) <= abs(uy) and abs(ux) <= abs(uz):
        ax, ay, az = 0.0, uz, -uy
    elif abs(uy) <= abs(uz):
        ax, ay, az = -uz, 0.0, ux
    else:
        ax, ay, az = uy, -ux, 0.0
    s = 1.0 / np.sqrt(ax * ax + ay * ay + az * az)
    ax, ay, az = s * ax, s * ay, s * az
    bx, by, bz = uy * az - uz * ay, uz * ax - ux * az, ux * ay - uy * ax
    total = tau[0] * ux + tau[1] * uy + tau[2] * uz
    # moment M of the base = sum of p x (load up), with b = up x a: sum of load p . a = - M . b, of load p . b = M . a
    along_a = -(tau[3] * bx + tau[4] * by + tau[5] * bz)
    along_b = tau[3] * ax + tau[4] * ay + tau[5] * az
    carried, ma, mb, aa, ab, bb = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(contacts.shape[0]):
        load[k] = 0.0
        w = weight[k]
        if w > 0.0:
            x, y, z = _lowest_in_base(table, contacts[k], work)
            pa, pb = ax * x + ay * y + az * z, bx * x + by * y + bz * z
            carried += w
            ma += w * pa
            mb += w * pb
            aa += w * pa * pa
            ab += w * pa * pb
            bb += w * pb * pb
    if not carried > 0.0 or not total > 0.0:
        return
    ca, cb = ma / carried, mb / carried
    aa, ab, bb = aa - carried * ca * ca + _SOFT, ab - carried * ca * cb, bb - carried * cb * cb + _SOFT
    ra, rb_ = along_a - total * ca, along_b - total * cb
    det = aa * bb - ab * ab
    ya, yb = (bb * ra - ab * rb_) / det, (aa * rb_ - ab * ra) / det
    summed = 0.0
    for k in range(contacts.shape[0]):
        w = weight[k]
        if w > 0.0:
            x, y, z = _lowest_in_base(table, contacts[k], work)
            da, db = ax * x + ay * y + az * z - ca, bx * x + by * y + bz * z - cb
            load[k] = max(0.0, w * (total / carried + ya * da + yb * db))
            summed += load[k]
    if summed > 0.0:
        for k in range(contacts.shape[0]):
            load[k] *= total * min(1.0, carried) / summed


@bare_kernel
def _push(table, contact, load, tau, work):
    """Take off what the ground does: a force up at the lowest point of a contact."""
    x, y, z = _lowest(contact, work)
    i = int(contact[BODY])
    while True:
        fx, fy, fz = load * work[i, _UP], load * work[i, _UP + 1], load * work[i, _UP + 2]
        if i == 0:
            break
        along = x * fy - y * fx if table[i, rb.KIND] == rb.REVOLUTE else fz
        tau[6 + int(table[i, rb.COLUMN])] -= table[i, rb.RATIO] * along
        x, y, z = _to_parent(work, i, x, y, z)
        i = int(table[i, rb.PARENT])
    tau[0] -= fx
    tau[1] -= fy
    tau[2] -= fz
    tau[3] -= y * fz - z * fy
    tau[4] -= z * fx - x * fz
    tau[5] -= x * fy - y * fx
