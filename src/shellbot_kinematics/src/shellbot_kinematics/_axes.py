# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Vectors seen in other axes: those of a leg, whose rows stand in the packed robot, and those of a roll, pitch, yaw."""

from __future__ import annotations

from robot_mechanics.native.angles import sincos
from robot_mechanics.native.jit import bare_kernel


@bare_kernel
def in_axes(P, r, x, y, z):
    """Return a vector of base_link in the axes that begin at P[r]: a leg's out, across (or along its axis), up."""
    return (
        P[r] * x + P[r + 1] * y + P[r + 2] * z,
        P[r + 3] * x + P[r + 4] * y + P[r + 5] * z,
        P[r + 6] * x + P[r + 7] * y + P[r + 8] * z,
    )


@bare_kernel
def out_of_axes(P, r, x, y, z):
    """Return a vector of the axes that begin at P[r] in base_link: `in_axes` undone, by the transposed matrix."""
    return (
        P[r] * x + P[r + 3] * y + P[r + 6] * z,
        P[r + 1] * x + P[r + 4] * y + P[r + 7] * z,
        P[r + 2] * x + P[r + 5] * y + P[r + 8] * z,
    )


@bare_kernel
def carried(P, v, r, roll, pitch, yaw):
    """Return the vector of a frame that stands at P[v], in the axes that begin at P[r], when the frame is turned by
    roll, pitch, yaw against base_link.
    """
    sr, cr = sincos(roll)
    sp, cp = sincos(pitch)
    sy, cy = sincos(yaw)
    a, b, c = P[v], P[v + 1], P[v + 2]
    return in_axes(
        P,
        r,
        cy * cp * a + (cy * sp * sr - sy * cr) * b + (cy * sp * cr + sy * sr) * c,
        sy * cp * a + (sy * sp * sr + cy * cr) * b + (sy * sp * cr - cy * sr) * c,
        -sp * a + cp * sr * b + cp * cr * c,
    )
