# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Rigid-body algorithms over a table of bodies, compiled once for all robots.

Body 0 is the base, every other body hangs on one joint; a parent comes before its children. A body's frame stands
behind the motion of its joint, whose axis is z. Row of the table (BODY columns):

    PARENT, KIND (0 revolute, 1 prismatic, 2 fixed base, 3 floating base), COLUMN (its coordinate), RATIO, OFFSET
    (joint = ratio * coordinate + offset), R (9: rotation of the joint at zero in the parent), P (3: its origin in the
    parent, m; of the base: the gravity in the world, m/s^2), MASS, H (3: mass * centre of mass), I (6: xx xy xz yy yz
    zz about the origin), ARMATURE, VISCOUS, COULOMB (of the coordinate, in the row of the first body that it moves; 0
    in the others)

A floating base has the coordinates position (3) and quaternion (x, y, z, w) in the world before those of the joints;
its velocity, acceleration and force are linear (3) and angular (3) in axes of the base, as Pinocchio's and REP 103's.

`work` is memory (bodies, WORK). `inverse_dynamics` takes complex numbers, too: an imaginary part of 1e-30 becomes a
derivative, exact to rounding.

Recursive Newton-Euler with accelerations of the origins: Featherstone, Rigid Body Dynamics Algorithms, 2008, ch. 5.3;
composite rigid bodies: ch. 6.2; factorization without fill-in along the branches: ch. 6.5. What a turning body's
forces and its children's accelerations have in common, the gradient (skew of the angular acceleration plus that of the
angular velocity squared), is computed once: Khalil and Dombre, Modeling, Identification and Control of Robots, 2002,
ch. 9.
"""

from __future__ import annotations

from typing import Any

from robot_mechanics.native import jit
from robot_mechanics.native.angles import sincos


def bare_kernel(function: Any) -> Any:
    """As `jit.bare_kernel` and `jit.scalar_kernel` at once: a fifth faster than the former alone."""
    return jit.bare_kernel(function, **jit.SCALAR)


def joined_kernel(function: Any) -> Any:
    """As `jit.joined_kernel`, and `jit.scalar_kernel` at once."""
    return jit.joined_kernel(function, **jit.SCALAR)


REVOLUTE, PRISMATIC, FIXED_BASE, FLOATING_BASE = 0, 1, 2, 3
PARENT, KIND, COLUMN, RATIO, OFFSET, R, P, MASS, H, I = 0, 1, 2, 3, 4, 5, 14, 17, 18, 21  # noqa: E741 - as in the books
ARMATURE, VISCOUS, COULOMB = 27, 28, 29
SINGULAR = 1e-13  # of an inertia before what others take of it; what is left below is rounding
BODY = 30
# columns of the work memory of a body: rotation in the parent, origin in the parent, angular velocity, angular and
# linear acceleration, force, moment about the origin
ROT, ORG, W, WD, A, F, N = 0, 9, 12, 15, 18, 21, 24
COMPOSITE = 27  # mass, first moment, tensor about the origin of a body with all that hangs on it
GRADIENT = 56  # 9, by rows: what the acceleration of a body's points grows by with their place, 1/s^2
WORK = 65  # with those of `articulated`, which has 27 to 55


@joined_kernel
def _sincos(angle):
    s, c = sincos(angle.real)
    more = angle - angle.real  # 0, or the imaginary step
    return s + c * more, c - s * more


@joined_kernel
def sign(rate):
    """Return 1.0, -1.0 or 0.0, as the real part of a rate is."""
    return 1.0 if rate.real > 0.0 else -1.0 if rate.real < 0.0 else 0.0


@bare_kernel
def place(table, q, work):
    """Write rotation and origin of every body in its parent (of a floating base: in the world)."""
    floating = table[0, KIND] == FLOATING_BASE
    first = 7 if floating else 0
    if floating:
        x, y, z, w = q[3], q[4], q[5], q[6]
        s = 2.0 / (x * x + y * y + z * z + w * w)
        work[0, 0], work[0, 1], work[0, 2] = 1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)
        work[0, 3], work[0, 4], work[0, 5] = s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)
        work[0, 6], work[0, 7], work[0, 8] = s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)
        for k in range(3):
            work[0, ORG + k] = q[k]
    else:
        for k in range(12):
            work[0, k] = 0.0
        work[0, 0] = work[0, 4] = work[0, 8] = 1.0
    for i in range(1, table.shape[0]):
        value = table[i, RATIO] * q[first + int(table[i, COLUMN])] + table[i, OFFSET]
        if table[i, KIND] == REVOLUTE:
            s, c = _sincos(value)
            for r in range(3):
                e0, e1, e2 = table[i, R + 3 * r], table[i, R + 3 * r + 1], table[i, R + 3 * r + 2]
                work[i, 3 * r], work[i, 3 * r + 1], work[i, 3 * r + 2] = e0 * c + e1 * s, e1 * c - e0 * s, e2
                work[i, ORG + r] = table[i, P + r]
        else:
            for r in range(3):
                for k in range(3):
                    work[i, 3 * r + k] = table[i, R + 3 * r + k]
                work[i, ORG + r] = table[i, P + r] + table[i, R + 3 * r + 2] * value


@bare_kernel
def inverse_dynamics(table, q, v, a, tau, work):
    """Write the generalized forces tau for accelerations a: M a + c + g + friction + armature."""
    place(table, q, work)
    _motions(table, v, a, work)
    for i in range(table.shape[0]):
        _body_force(table, work, i)
    _collect(table, v, a, tau, work)


@bare_kernel
def accelerations(table, q, v, a, work):
    """Write placement, angular velocity and accelerations of all bodies, gravity taken off, for accelerations a."""
    place(table, q, work)
    _motions(table, v, a, work)


@bare_kernel
def inverse_dynamics_against(table, q, v, a, forces, tau, work):
    """As `inverse_dynamics`, minus J^T forces: (bodies, 6) force and moment about a body's origin, in its axes."""
    place(table, q, work)
    _motions(table, v, a, work)
    for i in range(table.shape[0]):
        _body_force(table, work, i)
        for k in range(6):
            work[i, F + k] -= forces[i, k]
    _collect(table, v, a, tau, work)


@bare_kernel
def _motions(table, v, a, work):
    """Write angular velocity and accelerations of all bodies; the base's has minus gravity in it."""
    floating = table[0, KIND] == FLOATING_BASE
    first = 6 if floating else 0
    gx, gy, gz = table[0, P], table[0, P + 1], table[0, P + 2]
    for k in range(3):
        # gravity in axes of the base
        work[0, A + k] = -(work[0, k] * gx + work[0, 3 + k] * gy + work[0, 6 + k] * gz)
        work[0, W + k] = work[0, WD + k] = 0.0
    if floating:
        for k in range(3):
            work[0, W + k], work[0, WD + k] = v[3 + k], a[3 + k]
            j, m = (k + 1) % 3, (k + 2) % 3
            work[0, A + k] += a[k] + v[3 + j] * v[m] - v[3 + m] * v[j]  # of the origin: the velocity turns, too
    _turning(work, 0)
    for i in range(1, table.shape[0]):
        p = int(table[i, PARENT])
        c = first + int(table[i, COLUMN])
        rate, grows = table[i, RATIO] * v[c], table[i, RATIO] * a[c]
        wx, wy, wz = work[p, W], work[p, W + 1], work[p, W + 2]
        dx, dy, dz = work[p, WD], work[p, WD + 1], work[p, WD + 2]
        rx, ry, rz = work[i, ORG], work[i, ORG + 1], work[i, ORG + 2]
        ax = work[p, A] + work[p, GRADIENT] * rx + work[p, GRADIENT + 1] * ry + work[p, GRADIENT + 2] * rz
        ay = work[p, A + 1] + work[p, GRADIENT + 3] * rx + work[p, GRADIENT + 4] * ry + work[p, GRADIENT + 5] * rz
        az = work[p, A + 2] + work[p, GRADIENT + 6] * rx + work[p, GRADIENT + 7] * ry + work[p, GRADIENT + 8] * rz
        for k in range(3):
            r0, r1, r2 = work[i, k], work[i, 3 + k], work[i, 6 + k]
            work[i, W + k] = r0 * wx + r1 * wy + r2 * wz
            work[i, WD + k] = r0 * dx + r1 * dy + r2 * dz
            work[i, A + k] = r0 * ax + r1 * ay + r2 * az
        if table[i, KIND] == REVOLUTE:
            work[i, WD] += work[i, W + 1] * rate
            work[i, WD + 1] -= work[i, W] * rate
            work[i, WD + 2] += grows
            work[i, W + 2] += rate
        else:
            work[i, A] += 2.0 * work[i, W + 1] * rate
            work[i, A + 1] -= 2.0 * work[i, W] * rate
            work[i, A + 2] += grows
        _turning(work, i)


@joined_kernel
def _turning(work, i):
    """Write the gradient of the acceleration of body i: the skew matrix of WD, plus w w^T - |w|^2 E."""
    wx, wy, wz = work[i, W], work[i, W + 1], work[i, W + 2]
    dx, dy, dz = work[i, WD], work[i, WD + 1], work[i, WD + 2]
    xx, yy, zz, xy, xz, yz = wx * wx, wy * wy, wz * wz, wx * wy, wx * wz, wy * wz
    work[i, GRADIENT], work[i, GRADIENT + 1], work[i, GRADIENT + 2] = -yy - zz, xy - dz, xz + dy
    work[i, GRADIENT + 3], work[i, GRADIENT + 4], work[i, GRADIENT + 5] = xy + dz, -xx - zz, yz - dx
    work[i, GRADIENT + 6], work[i, GRADIENT + 7], work[i, GRADIENT + 8] = xz - dy, yz + dx, -xx - yy


@joined_kernel
def _body_force(table, work, i):
    """Write force and moment about the origin that body i needs for its motion."""
    wx, wy, wz = work[i, W], work[i, W + 1], work[i, W + 2]
    dx, dy, dz = work[i, WD], work[i, WD + 1], work[i, WD + 2]
    ax, ay, az = work[i, A], work[i, A + 1], work[i, A + 2]
    m, hx, hy, hz = table[i, MASS], table[i, H], table[i, H + 1], table[i, H + 2]
    xx, xy, xz = table[i, I], table[i, I + 1], table[i, I + 2]
    yy, yz, zz = table[i, I + 3], table[i, I + 4], table[i, I + 5]
    gxx, gxy, gxz = work[i, GRADIENT], work[i, GRADIENT + 1], work[i, GRADIENT + 2]
    gyx, gyy, gyz = work[i, GRADIENT + 3], work[i, GRADIENT + 4], work[i, GRADIENT + 5]
    gzx, gzy, gzz = work[i, GRADIENT + 6], work[i, GRADIENT + 7], work[i, GRADIENT + 8]
    work[i, F] = m * ax + gxx * hx + gxy * hy + gxz * hz
    work[i, F + 1] = m * ay + gyx * hx + gyy * hy + gyz * hz
    work[i, F + 2] = m * az + gzx * hx + gzy * hy + gzz * hz
    # I dw/dt + w x I w, ordered by the elements of I
    nx = xx * dx + (zz - yy) * (wy * wz) + xz * gyx - xy * gzx + yz * (gyy - gzz)
    ny = yy * dy + (xx - zz) * (wx * wz) + xy * gzy - yz * gxy + xz * (gzz - gxx)
    nz = zz * dz + (yy - xx) * (wx * wy) + yz * gxz - xz * gyz + xy * (gxx - gyy)
    work[i, N] = nx + hy * az - hz * ay
    work[i, N + 1] = ny + hz * ax - hx * az
    work[i, N + 2] = nz + hx * ay - hy * ax


@bare_kernel
def _collect(table, v, a, tau, work):
    """Add up forces from the tips to the base, and write what the coordinates feel of them and of their drives."""
    floating = table[0, KIND] == FLOATING_BASE
    first = 6 if floating else 0
    for c in range(tau.shape[0]):
        tau[c] = 0.0
    for i in range(table.shape[0] - 1, 0, -1):
        along = work[i, N + 2] if table[i, KIND] == REVOLUTE else work[i, F + 2]
        c = first + int(table[i, COLUMN])
        tau[c] += table[i, RATIO] * along + table[i, ARMATURE] * a[c] + table[i, VISCOUS] * v[c]
        tau[c] += table[i, COULOMB] * sign(v[c])
        carry(table, work, i)
    if floating:
        for k in range(6):
            tau[k] = work[0, F + k]


@joined_kernel
def carry(table, work, i):
    """Add the force and moment of body i to those of its parent."""
    p = int(table[i, PARENT])
    fx, fy, fz = work[i, F], work[i, F + 1], work[i, F + 2]
    nx, ny, nz = work[i, N], work[i, N + 1], work[i, N + 2]
    gx = work[i, 0] * fx + work[i, 1] * fy + work[i, 2] * fz
    gy = work[i, 3] * fx + work[i, 4] * fy + work[i, 5] * fz
    gz = work[i, 6] * fx + work[i, 7] * fy + work[i, 8] * fz
    rx, ry, rz = work[i, ORG], work[i, ORG + 1], work[i, ORG + 2]
    work[p, F] += gx
    work[p, F + 1] += gy
    work[p, F + 2] += gz
    work[p, N] += work[i, 0] * nx + work[i, 1] * ny + work[i, 2] * nz + ry * gz - rz * gy
    work[p, N + 1] += work[i, 3] * nx + work[i, 4] * ny + work[i, 5] * nz + rz * gx - rx * gz
    work[p, N + 2] += work[i, 6] * nx + work[i, 7] * ny + work[i, 8] * nz + rx * gy - ry * gx


@bare_kernel
def mass_matrix(table, q, M, work):
    """Write the symmetric mass matrix M (rates, rates), armature included: composite rigid bodies."""
    place(table, q, work)
    _composite(table, M, work, True)


@bare_kernel
def _composite(table, M, work, whole):
    """Write the mass matrix of bodies that are placed already: whole, or the lower triangle only."""
    floating = table[0, KIND] == FLOATING_BASE
    first = 6 if floating else 0
    bodies = table.shape[0]
    M[:] = 0.0  # in one go: a loop over the elements takes a quarter of the whole
    for i in range(bodies):
        for k in range(10):
            work[i, COMPOSITE + k] = table[i, MASS + k]
    for i in range(bodies - 1, 0, -1):
        c = first + int(table[i, COLUMN])
        m, hx, hy, hz = work[i, COMPOSITE], work[i, COMPOSITE + 1], work[i, COMPOSITE + 2], work[i, COMPOSITE + 3]
        # force and moment for a unit acceleration of the joint
        if table[i, KIND] == REVOLUTE:
            fx, fy, fz = -hy, hx, 0.0
            nx, ny, nz = work[i, COMPOSITE + 6], work[i, COMPOSITE + 8], work[i, COMPOSITE + 9]
        else:
            fx, fy, fz = 0.0, 0.0, m
            nx, ny, nz = hy, -hx, 0.0
        j = i
        while True:
            if j == 0:
                break
            k = first + int(table[j, COLUMN])
            value = (nz if table[j, KIND] == REVOLUTE else fz) * table[i, RATIO] * table[j, RATIO]
            if j == i:
                M[c, c] += value + table[i, ARMATURE]
            elif whole or c == k:  # two bodies of one coordinate count twice in its own element
                M[c, k] += value
                M[k, c] += value
            else:
                M[max(c, k), min(c, k)] += value
            gx = work[j, 0] * fx + work[j, 1] * fy + work[j, 2] * fz
            gy = work[j, 3] * fx + work[j, 4] * fy + work[j, 5] * fz
            gz = work[j, 6] * fx + work[j, 7] * fy + work[j, 8] * fz
            rx, ry, rz = work[j, ORG], work[j, ORG + 1], work[j, ORG + 2]
            tx = work[j, 0] * nx + work[j, 1] * ny + work[j, 2] * nz + ry * gz - rz * gy
            ty = work[j, 3] * nx + work[j, 4] * ny + work[j, 5] * nz + rz * gx - rx * gz
            tz = work[j, 6] * nx + work[j, 7] * ny + work[j, 8] * nz + rx * gy - ry * gx
            fx, fy, fz, nx, ny, nz = gx, gy, gz, tx, ty, tz
            j = int(table[j, PARENT])
        if floating:
            for k, value in enumerate((fx, fy, fz, nx, ny, nz)):
                M[c, k] += value * table[i, RATIO]
                if whole:
                    M[k, c] = M[c, k]
        add_composite(table, work, i)
    if floating:
        m, hx, hy, hz = work[0, COMPOSITE], work[0, COMPOSITE + 1], work[0, COMPOSITE + 2], work[0, COMPOSITE + 3]
        M[0, 0] = M[1, 1] = M[2, 2] = m
        M[0, 4] = M[4, 0] = hz
        M[0, 5] = M[5, 0] = -hy
        M[1, 3] = M[3, 1] = -hz
        M[1, 5] = M[5, 1] = hx
        M[2, 3] = M[3, 2] = hy
        M[2, 4] = M[4, 2] = -hx
        M[3, 3], M[4, 4], M[5, 5] = work[0, COMPOSITE + 4], work[0, COMPOSITE + 7], work[0, COMPOSITE + 9]
        M[3, 4] = M[4, 3] = work[0, COMPOSITE + 5]
        M[3, 5] = M[5, 3] = work[0, COMPOSITE + 6]
        M[4, 5] = M[5, 4] = work[0, COMPOSITE + 8]


@joined_kernel
def turned_tensor(a, b, c, d, e, f, g, h, k, xx, xy, xz, yy, yz, zz):
    """Return R X R^T of a rotation, by rows, and a symmetric X: its elements xx, xy, xz, yy, yz, zz."""
    x0, x1, x2 = a * xx + b * xy + c * xz, a * xy + b * yy + c * yz, a * xz + b * yz + c * zz
    y0, y1, y2 = d * xx + e * xy + f * xz, d * xy + e * yy + f * yz, d * xz + e * yz + f * zz
    z0, z1, z2 = g * xx + h * xy + k * xz, g * xy + h * yy + k * yz, g * xz + h * yz + k * zz
    return (
        x0 * a + x1 * b + x2 * c,
        x0 * d + x1 * e + x2 * f,
        x0 * g + x1 * h + x2 * k,
        y0 * d + y1 * e + y2 * f,
        y0 * g + y1 * h + y2 * k,
        z0 * g + z1 * h + z2 * k,
    )


@joined_kernel
def add_composite(table, work, i):
    """Add the inertia (mass, first moment, tensor about the origin) of body i and its children to its parent's."""
    p = int(table[i, PARENT])
    m, hx, hy, hz = work[i, COMPOSITE], work[i, COMPOSITE + 1], work[i, COMPOSITE + 2], work[i, COMPOSITE + 3]
    xx, xy, xz = work[i, COMPOSITE + 4], work[i, COMPOSITE + 5], work[i, COMPOSITE + 6]
    yy, yz, zz = work[i, COMPOSITE + 7], work[i, COMPOSITE + 8], work[i, COMPOSITE + 9]
    a, b, c = work[i, 0], work[i, 1], work[i, 2]
    d, e, f = work[i, 3], work[i, 4], work[i, 5]
    g, h, k = work[i, 6], work[i, 7], work[i, 8]
    gx, gy, gz = a * hx + b * hy + c * hz, d * hx + e * hy + f * hz, g * hx + h * hy + k * hz
    xx, xy, xz, yy, yz, zz = turned_tensor(a, b, c, d, e, f, g, h, k, xx, xy, xz, yy, yz, zz)
    rx, ry, rz = work[i, ORG], work[i, ORG + 1], work[i, ORG + 2]
    # about the parent's origin: + 2 (r.h) E - r h^T - h r^T + m (r^2 E - r r^T)
    both = 2.0 * (rx * gx + ry * gy + rz * gz) + m * (rx * rx + ry * ry + rz * rz)
    work[p, COMPOSITE] += m
    work[p, COMPOSITE + 1] += gx + m * rx
    work[p, COMPOSITE + 2] += gy + m * ry
    work[p, COMPOSITE + 3] += gz + m * rz
    work[p, COMPOSITE + 4] += xx + both - 2.0 * rx * gx - m * rx * rx
    work[p, COMPOSITE + 5] += xy - rx * gy - gx * ry - m * rx * ry
    work[p, COMPOSITE + 6] += xz - rx * gz - gx * rz - m * rx * rz
    work[p, COMPOSITE + 7] += yy + both - 2.0 * ry * gy - m * ry * ry
    work[p, COMPOSITE + 8] += yz - ry * gz - gy * rz - m * ry * rz
    work[p, COMPOSITE + 9] += zz + both - 2.0 * rz * gz - m * rz * rz


@bare_kernel
def solve_positive(M, above, x):
    """Solve M y = x in place of x for a mass matrix, which is overwritten by its factors (M = L^T D L).

    above: (rates,) the next coordinate on the way to the base, -1 at its end; M is 0 between coordinates of which
    none is on the other's way. Returns the first row, from the tips on, whose pivot is nothing but rounding beside the
    element of M that it comes from; -1 if there is none.
    """
    n = M.shape[0]
    root = M[0, 0] if n > 0 else 0.0
    for k in range(1, n):
        M[0, k] = M[k, k]  # above the diagonal nothing is read
    for k in range(n - 1, -1, -1):
        if not M[k, k] - SINGULAR * (M[0, k] if k > 0 else root) > 0.0:
            return k
        inverse = 1.0 / M[k, k]
        i = above[k]
        while i >= 0:
            factor = M[k, i] * inverse
            j = i
            while j >= 0:
                M[i, j] -= factor * M[k, j]
                j = above[j]
            M[k, i] = factor
            x[i] -= factor * x[k]
            i = above[i]
        M[k, k] = inverse
    for k in range(n):
        x[k] *= M[k, k]
        i = above[k]
        while i >= 0:
            x[k] -= M[k, i] * x[i]
            i = above[i]
    return -1


@bare_kernel
def forward_dynamics(table, above, q, v, forces, a, M, work):
    """Replace the generalized forces in `a` by the accelerations that they give, by the mass matrix; M is memory.

    forces: as in `inverse_dynamics_against`, or no rows. Returns as `solve_positive`.
    """
    still = M[0]  # no accelerations, in a row that is not needed yet
    bias = M[M.shape[0] - 1] if M.shape[0] > 1 else work[0, COMPOSITE:]
    for c in range(M.shape[0]):
        still[c] = 0.0
    return forward_within(table, above, q, v, forces, a, M, work, still, bias[: M.shape[0]])


@bare_kernel
def forward_within(table, above, q, v, forces, a, M, work, still, bias):
    """As `forward_dynamics`, with still (rates,) zeros, and memory bias (rates,)."""
    place(table, q, work)
    _motions(table, v, still, work)
    for i in range(table.shape[0]):
        _body_force(table, work, i)
        if forces.shape[0] > 0:
            for k in range(6):
                work[i, F + k] -= forces[i, k]
    _collect(table, v, still, bias, work)
    for c in range(M.shape[0]):
        a[c] -= bias[c]
    _composite(table, M, work, False)
    return solve_positive(M, above, a)
