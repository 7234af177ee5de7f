# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Poses from the numbers in which users give them: in one call, for Python's own cost of reading six is several us."""

from __future__ import annotations

import math

from robot_mechanics.native.angles import sincos
from robot_mechanics.native.jit import scalar_kernel

GOOD, INFINITE, NO_QUATERNION, NO_ROTATION = 0, 1, 2, 3


@scalar_kernel
def is_rotation(R):
    """Return whether R[:3, :3] is a rotation within 1e-6; not for NaN."""
    for r in range(3):
        for c in range(r + 1):
            product = R[r, 0] * R[c, 0] + R[r, 1] * R[c, 1] + R[r, 2] * R[c, 2]
            if not abs(product - (1.0 if r == c else 0.0)) < 1e-6:
                return False
    x, y = R[0], R[1]
    turned = R[2, 0] * (x[1] * y[2] - x[2] * y[1]) + R[2, 1] * (x[2] * y[0] - x[0] * y[2])
    return turned + R[2, 2] * (x[0] * y[1] - x[1] * y[0]) > 0.0


@scalar_kernel
def is_pose(T):
    """Return whether T (4, 4) is finite, its rotation one within 1e-6, and its last row 0, 0, 0, 1."""
    if not (T[3, 0] == 0.0 and T[3, 1] == 0.0 and T[3, 2] == 0.0 and T[3, 3] == 1.0):
        return False
    return math.isfinite(T[0, 3] + T[1, 3] + T[2, 3]) and is_rotation(T)


@scalar_kernel
def read_pose(values, pose, rows):
    """Write the pose (3, 4), and 1 or 0 for each of its six rows that counts or is free, rows (6,).

    values: a position and no more (3), roll, pitch, yaw (6), a quaternion x, y, z, w (7), or a rotation matrix row by
    row (12). NaN frees a row, and counts as 0 in the pose; in a quaternion or matrix it frees all three. Returns GOOD,
    or what is wrong.
    """
    n = values.shape[0]
    for value in values:
        if math.isinf(value):
            return INFINITE
    free = n == 3
    if n != 6:
        for k in range(3, n):
            free = free or math.isnan(values[k])
    for r in range(3):
        known = not math.isnan(values[r])
        rows[r], pose[r, 3] = (1.0, values[r]) if known else (0.0, 0.0)
        rows[3 + r] = 0.0 if free or (n == 6 and math.isnan(values[3 + r])) else 1.0
        for c in range(3):
            pose[r, c] = 1.0 if r == c else 0.0
    if free:
        return GOOD
    if n == 6:
        sr, cr = sincos(values[3] if rows[3] != 0.0 else 0.0)
        sp, cp = sincos(values[4] if rows[4] != 0.0 else 0.0)
        sy, cy = sincos(values[5] if rows[5] != 0.0 else 0.0)
        pose[0, 0], pose[0, 1], pose[0, 2] = cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr
        pose[1, 0], pose[1, 1], pose[1, 2] = sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr
        pose[2, 0], pose[2, 1], pose[2, 2] = -sp, cp * sr, cp * cr
    elif n == 7:
        x, y, z, w = values[3], values[4], values[5], values[6]
        square = x * x + y * y + z * z + w * w
        if not 0.999 * 0.999 < square < 1.001 * 1.001:
            return NO_QUATERNION
        s = 2.0 / square
        pose[0, 0], pose[0, 1], pose[0, 2] = 1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)
        pose[1, 0], pose[1, 1], pose[1, 2] = s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)
        pose[2, 0], pose[2, 1], pose[2, 2] = s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)
    else:
        for k in range(9):
            pose[k // 3, k % 3] = values[3 + k]
        if not is_rotation(pose):
            return NO_ROTATION
    return GOOD
