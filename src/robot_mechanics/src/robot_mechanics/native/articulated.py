# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Forward dynamics over the table of bodies of `rigid_body`: articulated bodies, Featherstone 2008, ch. 7.3.

The acceleration of a body is that of its parent, at its own origin and in its own axes, plus what comes of velocities
alone (in the columns A and WD), plus the joint's. The force and moment that it needs are its articulated inertia times
that acceleration, plus (F, N).
"""

from __future__ import annotations

import numpy as np

from robot_mechanics.native.rigid_body import (
    ARMATURE,
    COLUMN,
    COULOMB,
    FLOATING_BASE,
    KIND,
    MASS,
    ORG,
    PARENT,
    RATIO,
    REVOLUTE,
    SINGULAR,
    VISCOUS,
    WD,
    A,
    F,
    H,
    I,
    N,
    P,
    W,
    bare_kernel,
    carry,
    joined_kernel,
    place,
    sign,
    solve_positive,
    turned_tensor,
)

# of a body with all that hangs on it and gives way: force of a linear acceleration (6: xx xy xz yy yz zz) and of an
# angular one (9), moment of an angular one (6); force and moment of a unit acceleration of its joint (6), the
# acceleration of its coordinate in a parent at rest, and what 1 N (or N m) against it takes off
IA, IB, IC, U, FREE, BY = 27, 33, 42, 48, 54, 55


def has_own_coordinates(table: np.ndarray, rates: int) -> bool:
    """Return whether each joint of a table of bodies has a coordinate of its own, as `articulated` needs it."""
    first = 6 if table[0, KIND] == FLOATING_BASE else 0
    return len(table) - 1 == rates - first


@bare_kernel
def articulated(table, above, q, v, forces, a, M, work):
    """As `rigid_body.forward_dynamics`, at a cost linear in the bodies, where each joint has a coordinate of its own.

    M is memory for a floating base, (6, 6) or more.
    """
    floating = table[0, KIND] == FLOATING_BASE
    first = 6 if floating else 0
    place(table, q, work)
    for k in range(3):
        work[0, W + k] = v[3 + k] if floating else 0.0
    for i in range(table.shape[0]):
        if i > 0:
            _turn(table, v[first + int(table[i, COLUMN])], work, i)
        _velocity_force(table, work, i)
        if forces.shape[0] > 0:
            for k in range(6):
                work[i, F + k] -= forces[i, k]
    for i in range(table.shape[0] - 1, 0, -1):
        c = first + int(table[i, COLUMN])
        ratio, z = table[i, RATIO], 5 if table[i, KIND] == REVOLUTE else 2
        _along(work, i, z)
        stiff = ratio * ratio * work[i, U + z] + table[i, ARMATURE]
        block = IC if z == 5 else IA
        size = work[i, block] + work[i, block + 3] + work[i, block + 5]
        if not stiff - SINGULAR * ratio * ratio * size > 0.0:
            return c
        rub = table[i, VISCOUS] * v[c] + table[i, COULOMB] * sign(v[c])
        work[i, FREE] = (a[c] - rub - ratio * work[i, F + z]) / stiff
        work[i, BY] = ratio / stiff
        _hand_down(table, work, i)
    gx, gy, gz = table[0, P], table[0, P + 1], table[0, P + 2]
    for k in range(3):
        # gravity in axes of the base
        work[0, A + k] = -(work[0, k] * gx + work[0, 3 + k] * gy + work[0, 6 + k] * gz)
        work[0, WD + k] = 0.0
    if floating:
        at = _free_base(above, v, a, M, work)
        if at >= 0:
            return at
    for i in range(1, table.shape[0]):
        a[first + int(table[i, COLUMN])] = _accelerate(table, work, i)
    return -1


@joined_kernel
def _turn(table, velocity, work, i):
    """Write the angular velocity of body i, and its accelerations that come of velocities alone."""
    p, rate = int(table[i, PARENT]), table[i, RATIO] * velocity
    wx, wy, wz = work[p, W], work[p, W + 1], work[p, W + 2]
    rx, ry, rz = work[i, ORG], work[i, ORG + 1], work[i, ORG + 2]
    ux, uy, uz = wy * rz - wz * ry, wz * rx - wx * rz, wx * ry - wy * rx
    ax, ay, az = wy * uz - wz * uy, wz * ux - wx * uz, wx * uy - wy * ux
    for k in range(3):
        r0, r1, r2 = work[i, k], work[i, 3 + k], work[i, 6 + k]
        work[i, W + k] = r0 * wx + r1 * wy + r2 * wz
        work[i, A + k] = r0 * ax + r1 * ay + r2 * az
        work[i, WD + k] = 0.0
    if table[i, KIND] == REVOLUTE:
        work[i, WD], work[i, WD + 1] = work[i, W + 1] * rate, -work[i, W] * rate
        work[i, W + 2] += rate
    else:
        work[i, A] += 2.0 * work[i, W + 1] * rate
        work[i, A + 1] -= 2.0 * work[i, W] * rate


@joined_kernel
def _velocity_force(table, work, i):
    """Write the inertia of body i alone, and the force and moment that its angular velocity needs."""
    wx, wy, wz = work[i, W], work[i, W + 1], work[i, W + 2]
    m, hx, hy, hz = table[i, MASS], table[i, H], table[i, H + 1], table[i, H + 2]
    xx, xy, xz = table[i, I], table[i, I + 1], table[i, I + 2]
    yy, yz, zz = table[i, I + 3], table[i, I + 4], table[i, I + 5]
    ux, uy, uz = wy * hz - wz * hy, wz * hx - wx * hz, wx * hy - wy * hx
    work[i, F], work[i, F + 1], work[i, F + 2] = wy * uz - wz * uy, wz * ux - wx * uz, wx * uy - wy * ux
    lx, ly, lz = xx * wx + xy * wy + xz * wz, xy * wx + yy * wy + yz * wz, xz * wx + yz * wy + zz * wz
    work[i, N], work[i, N + 1], work[i, N + 2] = wy * lz - wz * ly, wz * lx - wx * lz, wx * ly - wy * lx
    for k in range(21):
        work[i, IA + k] = 0.0
    work[i, IA] = work[i, IA + 3] = work[i, IA + 5] = m
    work[i, IB + 1], work[i, IB + 2], work[i, IB + 3] = hz, -hy, -hz
    work[i, IB + 5], work[i, IB + 6], work[i, IB + 7] = hx, hy, -hx
    for k in range(6):
        work[i, IC + k] = table[i, I + k]


@joined_kernel
def _along(work, i, z):
    """Write what a unit acceleration of the joint of body i needs, and add what its velocities need."""
    xx, xy, xz, yy, yz, zz = (
        work[i, IA],
        work[i, IA + 1],
        work[i, IA + 2],
        work[i, IA + 3],
        work[i, IA + 4],
        work[i, IA + 5],
    )
    b0, b1, b2 = work[i, IB], work[i, IB + 1], work[i, IB + 2]
    b3, b4, b5 = work[i, IB + 3], work[i, IB + 4], work[i, IB + 5]
    b6, b7, b8 = work[i, IB + 6], work[i, IB + 7], work[i, IB + 8]
    c0, c1, c2, c3, c4, c5 = (
        work[i, IC],
        work[i, IC + 1],
        work[i, IC + 2],
        work[i, IC + 3],
        work[i, IC + 4],
        work[i, IC + 5],
    )
    if z == 5:
        work[i, U], work[i, U + 1], work[i, U + 2] = b2, b5, b8
        work[i, U + 3], work[i, U + 4], work[i, U + 5] = c2, c4, c5
    else:
        work[i, U], work[i, U + 1], work[i, U + 2] = xz, yz, zz
        work[i, U + 3], work[i, U + 4], work[i, U + 5] = b6, b7, b8
    ax, ay, az = work[i, A], work[i, A + 1], work[i, A + 2]
    dx, dy = work[i, WD], work[i, WD + 1]  # about z there is none
    work[i, F] += xx * ax + xy * ay + xz * az + b0 * dx + b1 * dy
    work[i, F + 1] += xy * ax + yy * ay + yz * az + b3 * dx + b4 * dy
    work[i, F + 2] += xz * ax + yz * ay + zz * az + b6 * dx + b7 * dy
    work[i, N] += b0 * ax + b3 * ay + b6 * az + c0 * dx + c1 * dy
    work[i, N + 1] += b1 * ax + b4 * ay + b7 * az + c1 * dx + c3 * dy
    work[i, N + 2] += b2 * ax + b5 * ay + b8 * az + c2 * dx + c4 * dy


@joined_kernel
def _hand_down(table, work, i):
    """Add inertia and force of body i, whose joint gives way, to those of its parent."""
    p = int(table[i, PARENT])
    u0, u1, u2, u3, u4, u5 = work[i, U], work[i, U + 1], work[i, U + 2], work[i, U + 3], work[i, U + 4], work[i, U + 5]
    free, by = work[i, FREE] * table[i, RATIO], work[i, BY] * table[i, RATIO]
    work[i, F] += u0 * free
    work[i, F + 1] += u1 * free
    work[i, F + 2] += u2 * free
    work[i, N] += u3 * free
    work[i, N + 1] += u4 * free
    work[i, N + 2] += u5 * free
    carry(table, work, i)
    a, b, c = work[i, 0], work[i, 1], work[i, 2]
    d, e, f = work[i, 3], work[i, 4], work[i, 5]
    g, h, k = work[i, 6], work[i, 7], work[i, 8]
    rx, ry, rz = work[i, ORG], work[i, ORG + 1], work[i, ORG + 2]
    # force of a linear acceleration
    xx, xy, xz = work[i, IA] - by * u0 * u0, work[i, IA + 1] - by * u0 * u1, work[i, IA + 2] - by * u0 * u2
    yy, yz, zz = work[i, IA + 3] - by * u1 * u1, work[i, IA + 4] - by * u1 * u2, work[i, IA + 5] - by * u2 * u2
    xx, xy, xz, yy, yz, zz = turned_tensor(a, b, c, d, e, f, g, h, k, xx, xy, xz, yy, yz, zz)
    # force of an angular acceleration, in the child's axes and then about its origin in the parent's
    m0, m1, m2 = work[i, IB] - by * u0 * u3, work[i, IB + 1] - by * u0 * u4, work[i, IB + 2] - by * u0 * u5
    n0, n1, n2 = work[i, IB + 3] - by * u1 * u3, work[i, IB + 4] - by * u1 * u4, work[i, IB + 5] - by * u1 * u5
    o0, o1, o2 = work[i, IB + 6] - by * u2 * u3, work[i, IB + 7] - by * u2 * u4, work[i, IB + 8] - by * u2 * u5
    x0, x1, x2 = a * m0 + b * n0 + c * o0, a * m1 + b * n1 + c * o1, a * m2 + b * n2 + c * o2
    y0, y1, y2 = d * m0 + e * n0 + f * o0, d * m1 + e * n1 + f * o1, d * m2 + e * n2 + f * o2
    z0, z1, z2 = g * m0 + h * n0 + k * o0, g * m1 + h * n1 + k * o1, g * m2 + h * n2 + k * o2
    m0, m1, m2 = x0 * a + x1 * b + x2 * c, x0 * d + x1 * e + x2 * f, x0 * g + x1 * h + x2 * k
    n0, n1, n2 = y0 * a + y1 * b + y2 * c, y0 * d + y1 * e + y2 * f, y0 * g + y1 * h + y2 * k
    o0, o1, o2 = z0 * a + z1 * b + z2 * c, z0 * d + z1 * e + z2 * f, z0 * g + z1 * h + z2 * k
    # the same about the parent's origin: minus X [r]
    s0, s1, s2 = m0 - xy * rz + xz * ry, m1 + xx * rz - xz * rx, m2 - xx * ry + xy * rx
    t0, t1, t2 = n0 - yy * rz + yz * ry, n1 + xy * rz - yz * rx, n2 - xy * ry + yy * rx
    v0, v1, v2 = o0 - yz * rz + zz * ry, o1 + xz * rz - zz * rx, o2 - xz * ry + yz * rx
    work[p, IA] += xx
    work[p, IA + 1] += xy
    work[p, IA + 2] += xz
    work[p, IA + 3] += yy
    work[p, IA + 4] += yz
    work[p, IA + 5] += zz
    for q, value in enumerate((s0, s1, s2, t0, t1, t2, v0, v1, v2)):
        work[p, IB + q] += value
    # moment of an angular acceleration
    xx, xy, xz = work[i, IC] - by * u3 * u3, work[i, IC + 1] - by * u3 * u4, work[i, IC + 2] - by * u3 * u5
    yy, yz, zz = work[i, IC + 3] - by * u4 * u4, work[i, IC + 4] - by * u4 * u5, work[i, IC + 5] - by * u5 * u5
    xx, xy, xz, yy, yz, zz = turned_tensor(a, b, c, d, e, f, g, h, k, xx, xy, xz, yy, yz, zz)
    work[p, IC] += xx - n0 * rz + o0 * ry - rz * t0 + ry * v0
    work[p, IC + 1] += xy + m0 * rz - o0 * rx - rz * t1 + ry * v1
    work[p, IC + 2] += xz - m0 * ry + n0 * rx - rz * t2 + ry * v2
    work[p, IC + 3] += yy + m1 * rz - o1 * rx + rz * s1 - rx * v1
    work[p, IC + 4] += yz - m1 * ry + n1 * rx + rz * s2 - rx * v2
    work[p, IC + 5] += zz - m2 * ry + n2 * rx - ry * s2 + rx * t2


@bare_kernel
def _free_base(above, v, a, M, work):
    """Replace the forces on a floating base in `a` by its accelerations; returns as `solve_positive`."""
    M[0, 0], M[1, 0], M[2, 0] = work[0, IA], work[0, IA + 1], work[0, IA + 2]
    M[1, 1], M[2, 1], M[2, 2] = work[0, IA + 3], work[0, IA + 4], work[0, IA + 5]
    M[3, 3], M[4, 3], M[5, 3] = work[0, IC], work[0, IC + 1], work[0, IC + 2]
    M[4, 4], M[5, 4], M[5, 5] = work[0, IC + 3], work[0, IC + 4], work[0, IC + 5]
    for k in range(3):
        for r in range(3):
            M[3 + k, r] = work[0, IB + 3 * r + k]
    for k in range(6):
        a[k] -= work[0, F + k]
    at = solve_positive(M[:6, :6], above, a)
    for k in range(3):
        j, m = (k + 1) % 3, (k + 2) % 3
        without_gravity, work[0, A + k] = work[0, A + k], a[k]
        work[0, WD + k] = a[3 + k]
        a[k] -= without_gravity + v[3 + j] * v[m] - v[3 + m] * v[j]  # of the origin: the velocity turns, too
    return at


@joined_kernel
def _accelerate(table, work, i):
    """Write the accelerations of body i, and return that of its coordinate."""
    p = int(table[i, PARENT])
    dx, dy, dz = work[p, WD], work[p, WD + 1], work[p, WD + 2]
    rx, ry, rz = work[i, ORG], work[i, ORG + 1], work[i, ORG + 2]
    ax, ay, az = work[p, A] + dy * rz - dz * ry, work[p, A + 1] + dz * rx - dx * rz, work[p, A + 2] + dx * ry - dy * rx
    against = 0.0
    for k in range(3):
        r0, r1, r2 = work[i, k], work[i, 3 + k], work[i, 6 + k]
        x, d = r0 * ax + r1 * ay + r2 * az, r0 * dx + r1 * dy + r2 * dz
        against += work[i, U + k] * x + work[i, U + 3 + k] * d
        work[i, A + k] += x
        work[i, WD + k] += d
    own = work[i, FREE] - work[i, BY] * against
    work[i, (WD if table[i, KIND] == REVOLUTE else A) + 2] += table[i, RATIO] * own
    return own
