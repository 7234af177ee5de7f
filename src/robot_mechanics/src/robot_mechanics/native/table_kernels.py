# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Pose and Jacobian of a serial chain from packed tables, in time proportional to its length.

Tables (see chain_tables.py), one row per moving joint i of m: constants (m + 1, 3, 4), rigid transforms before the
first joint, between joints, and behind the last; kind (m,) 0 revolute 1 prismatic; column (m,), ratio (m,), offset
(m,): the joint's value is ratio * q[column] + offset.
"""

from __future__ import annotations

from robot_mechanics.native.angles import sincos
from robot_mechanics.native.jit import lane_kernel, scalar_kernel


@scalar_kernel
def table_pose(constants, kind, column, ratio, offset, q, pose, axes):
    """Write the tip's pose (3, 4) and, per joint, its axis and the point it goes through, axes (m, 6)."""
    m = kind.shape[0]
    for r in range(3):
        x, y, z, p = constants[0, r, 0], constants[0, r, 1], constants[0, r, 2], constants[0, r, 3]
        pose[r, 0], pose[r, 1], pose[r, 2], pose[r, 3] = x, y, z, p
    for i in range(m):
        value = ratio[i] * q[column[i]] + offset[i]
        sine, cosine, along = 0.0, 1.0, 0.0
        if kind[i] == 0:
            sine, cosine = sincos(value)
        else:
            along = value
        for r in range(3):
            axes[i, r], axes[i, 3 + r] = pose[r, 2], pose[r, 3]
            x = pose[r, 0] * cosine + pose[r, 1] * sine
            y = pose[r, 1] * cosine - pose[r, 0] * sine
            z = pose[r, 2]
            p = pose[r, 3] + z * along
            pose[r, 0] = x * constants[i + 1, 0, 0] + y * constants[i + 1, 1, 0] + z * constants[i + 1, 2, 0]
            pose[r, 1] = x * constants[i + 1, 0, 1] + y * constants[i + 1, 1, 1] + z * constants[i + 1, 2, 1]
            pose[r, 2] = x * constants[i + 1, 0, 2] + y * constants[i + 1, 1, 2] + z * constants[i + 1, 2, 2]
            pose[r, 3] = p + x * constants[i + 1, 0, 3] + y * constants[i + 1, 1, 3] + z * constants[i + 1, 2, 3]


@scalar_kernel
def table_jacobian(kind, column, ratio, pose, axes, J):
    """Write the geometric Jacobian (6, n) of the tip in the axes of the base."""
    for r in range(6):
        for c in range(J.shape[1]):
            J[r, c] = 0.0
    px, py, pz = pose[0, 3], pose[1, 3], pose[2, 3]
    for i in range(kind.shape[0]):
        c, f = column[i], ratio[i]
        zx, zy, zz = f * axes[i, 0], f * axes[i, 1], f * axes[i, 2]
        if kind[i] == 0:
            rx, ry, rz = px - axes[i, 3], py - axes[i, 4], pz - axes[i, 5]
            J[0, c] += zy * rz - zz * ry
            J[1, c] += zz * rx - zx * rz
            J[2, c] += zx * ry - zy * rx
            J[3, c] += zx
            J[4, c] += zy
            J[5, c] += zz
        else:
            J[0, c] += zx
            J[1, c] += zy
            J[2, c] += zz


@lane_kernel
def table_poses(constants, kind, column, ratio, offset, q, poses, axes, first, last):
    """Write the tip's pose at each of q[first:last], (N, n), into poses (N, 4, 4), but not its last row."""
    for k in range(first, last):
        table_pose(constants, kind, column, ratio, offset, q[k], poses[k], axes)


@lane_kernel
def table_jacobians(constants, kind, column, ratio, offset, q, jacobians, pose, axes, first, last):
    """Write the Jacobian at each of q[first:last], (N, n), into jacobians (N, 6, n)."""
    for k in range(first, last):
        table_pose(constants, kind, column, ratio, offset, q[k], pose, axes)
        table_jacobian(kind, column, ratio, pose, axes, jacobians[k])
