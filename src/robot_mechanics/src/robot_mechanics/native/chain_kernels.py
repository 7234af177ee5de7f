# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Jitted poses and derivatives of any tree of joints: arrays in, arrays out, no validation, no allocation.

A tree is m joints in an order in which parents come first: parent[i] is the joint behind whose frame joint i stands, -1
for the base. The motion is about or along z between the constant transforms pre[i] and post[i]; its value is
ratio[i] * q[column[i]] + offset[i], so that a joint that mimics another is one more joint in the same column.

The twist of a tip is linear over angular; its columns are given in one of three references, named as in Pinocchio:

- LOCAL_WORLD_ALIGNED (0): velocity of the tip's origin, in the axes of the base;
- WORLD (1): velocity of the point of the tip's body that passes the base's origin, in the axes of the base;
- LOCAL (2): velocity of the tip's origin, in the axes of the tip.
"""

from __future__ import annotations

from robot_mechanics.native.angles import sincos
from robot_mechanics.native.jit import kernel

ALIGNED, WORLD, LOCAL = 0, 1, 2
# rad or m; beyond it a float's steps are coarser than 1e-7, so that sine and cosine mean nothing
LARGEST = 1e9


@kernel
def tree_frames(pre, post, kind, parent, column, ratio, offset, q, frames, axes):
    """Write the poses (m, 4, 4) behind every joint, and the poses whose z is the joint's axis, both in the base.

    pre, post: (m, 4, 4); kind: (m,) 0 revolute, 1 prismatic, 2 fixed; q: (n,). Returns False, and writes nothing, if a
    coordinate is no number within +-LARGEST.
    """
    for c in range(q.shape[0]):
        if not abs(q[c]) <= LARGEST:
            return False
    for i in range(pre.shape[0]):
        p = parent[i]
        for r in range(3):
            for c in range(4):
                if p < 0:
                    axes[i, r, c] = pre[i, r, c]
                else:
                    axes[i, r, c] = (
                        frames[p, r, 0] * pre[i, 0, c] + frames[p, r, 1] * pre[i, 1, c] + frames[p, r, 2] * pre[i, 2, c]
                    )
            if p >= 0:
                axes[i, r, 3] += frames[p, r, 3]
        value = 0.0 if kind[i] == 2 else ratio[i] * q[column[i]] + offset[i]
        cos, sin, along = 1.0, 0.0, 0.0
        if kind[i] == 0:
            sin, cos = sincos(value)
        elif kind[i] == 1:
            along = value
        for r in range(3):
            x = axes[i, r, 0] * cos + axes[i, r, 1] * sin
            y = axes[i, r, 1] * cos - axes[i, r, 0] * sin
            z = axes[i, r, 2]
            for c in range(4):
                frames[i, r, c] = x * post[i, 0, c] + y * post[i, 1, c] + z * post[i, 2, c]
            frames[i, r, 3] += axes[i, r, 3] + z * along
        for c in range(4):
            axes[i, 3, c] = frames[i, 3, c] = 1.0 if c == 3 else 0.0
    return True


@kernel
def path_columns(kind, path, frames, axes, reference, C):
    """Write the twist (6, len(path)) of the last joint's frame per unit speed of each joint of the path (fixed: 0)."""
    tip = frames[path[-1]]
    for j in range(path.shape[0]):
        i = path[j]
        for r in range(6):
            C[r, j] = 0.0
        if kind[i] == 2:
            continue
        zx, zy, zz = axes[i, 0, 2], axes[i, 1, 2], axes[i, 2, 2]
        vx, vy, vz, wx, wy, wz = zx, zy, zz, 0.0, 0.0, 0.0
        if kind[i] == 0:
            rx, ry, rz = -axes[i, 0, 3], -axes[i, 1, 3], -axes[i, 2, 3]  # from the axis to the point that moves
            if reference != 1:
                rx, ry, rz = rx + tip[0, 3], ry + tip[1, 3], rz + tip[2, 3]
            vx, vy, vz = zy * rz - zz * ry, zz * rx - zx * rz, zx * ry - zy * rx
            wx, wy, wz = zx, zy, zz
        if reference == 2:
            for r in range(3):
                C[r, j] = tip[0, r] * vx + tip[1, r] * vy + tip[2, r] * vz
                C[3 + r, j] = tip[0, r] * wx + tip[1, r] * wy + tip[2, r] * wz
        else:
            C[0, j], C[1, j], C[2, j], C[3, j], C[4, j], C[5, j] = vx, vy, vz, wx, wy, wz


@kernel
def gather(path, kind, column, ratio, C, J):
    """Sum the joints' columns (6, len(path)) into those of the coordinates, J (6, n)."""
    for r in range(6):
        for c in range(J.shape[1]):
            J[r, c] = 0.0
    for j in range(path.shape[0]):
        i = path[j]
        if kind[i] != 2:
            for r in range(6):
                J[r, column[i]] += ratio[i] * C[r, j]


@kernel
def add_cross(C, a, ra, b, rb, scale, out, ro):
    """Add scale * (C[ra:ra+3, a] x C[rb:rb+3, b]) to out[ro:ro+3]."""
    out[ro] += scale * (C[ra + 1, a] * C[rb + 2, b] - C[ra + 2, a] * C[rb + 1, b])
    out[ro + 1] += scale * (C[ra + 2, a] * C[rb, b] - C[ra, a] * C[rb + 2, b])
    out[ro + 2] += scale * (C[ra, a] * C[rb + 1, b] - C[ra + 1, a] * C[rb, b])


@kernel
def add_slope(C, j, k, reference, scale, out):
    """Add scale * d(column j)/d(value of joint k) to out (6,); j and k count along the path.

    WORLD: column j is carried by the joints before it, so d = S_k x S_j (Lie bracket) for k < j, else 0. LOCAL: only
    the joints behind it move the tip against it, d = S_j x S_k for k > j. LOCAL_WORLD_ALIGNED: w_j is carried by k < j,
    v_j too, and for k >= j the tip moves against a resting axis, d v_j = w_j x v_k.
    """
    if reference == 0:
        if k < j:
            add_cross(C, k, 3, j, 0, scale, out, 0)
            add_cross(C, k, 3, j, 3, scale, out, 3)
        else:
            add_cross(C, j, 3, k, 0, scale, out, 0)
    elif reference == 1:
        if k < j:
            add_cross(C, k, 3, j, 0, scale, out, 0)
            add_cross(C, k, 0, j, 3, scale, out, 0)
            add_cross(C, k, 3, j, 3, scale, out, 3)
    elif k > j:
        add_cross(C, j, 3, k, 0, scale, out, 0)
        add_cross(C, j, 0, k, 3, scale, out, 0)
        add_cross(C, j, 3, k, 3, scale, out, 3)


@kernel
def path_hessian(path, kind, column, ratio, C, reference, H):
    """Write H (n, n, 6): H[k, c] = d(column c of the Jacobian)/d q_k."""
    for k in range(H.shape[0]):
        for c in range(H.shape[1]):
            for r in range(6):
                H[k, c, r] = 0.0
    for j in range(path.shape[0]):
        if kind[path[j]] == 2:
            continue
        for k in range(path.shape[0]):
            if kind[path[k]] != 2:
                a, b = path[j], path[k]
                add_slope(C, j, k, reference, ratio[a] * ratio[b], H[column[b], column[a]])


@kernel
def path_jacobian_dot(path, kind, column, ratio, C, dq, reference, D):
    """Write D (n, 6): the time derivative of each column of the Jacobian at the rates dq (n,)."""
    for c in range(D.shape[0]):
        for r in range(6):
            D[c, r] = 0.0
    for j in range(path.shape[0]):
        if kind[path[j]] == 2:
            continue
        for k in range(path.shape[0]):
            if kind[path[k]] != 2:
                a, b = path[j], path[k]
                add_slope(C, j, k, reference, ratio[a] * ratio[b] * dq[column[b]], D[column[a]])
