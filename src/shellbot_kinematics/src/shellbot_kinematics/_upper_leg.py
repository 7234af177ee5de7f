# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""An upper leg, a planar 2R: forward and rates of its sphere centre.

P, u: packed robot and where this leg begins in it (U_* of _layout); q, j: joints and where shoulder, shell begin.
"""

from __future__ import annotations

from robot_mechanics.native.angles import sincos
from robot_mechanics.native.jit import bare_kernel
from shellbot_kinematics._axes import in_axes, out_of_axes
from shellbot_kinematics._layout import U_A0, U_B0, U_H, U_L, U_M, U_ORG, U_ROT, U_SH, U_SS
from shellbot_kinematics._planar import divided, planar_rates


@bare_kernel
def upper_plane(P, u, px, py, pz):
    """Return a point of base_link in the plane of an upper leg: x (away from the body), y (along the axis), z (up)."""
    return in_axes(P, u + U_ROT, px - P[u + U_ORG], py - P[u + U_ORG + 1], pz - P[u + U_ORG + 2])


@bare_kernel
def upper_pose(P, u, q, j):
    """Return sines and cosines of A and B, and the sphere centre in the leg's plane."""
    A = P[u + U_A0] - P[u + U_SS] * q[j]
    B = P[u + U_B0] - P[u + U_SS] * q[j] - P[u + U_SH] * q[j + 1]
    sa, ca = sincos(A)
    sb, cb = sincos(B)
    return sa, ca, sb, cb, P[u + U_L] * ca + P[u + U_M] * cb, P[u + U_L] * sa + P[u + U_M] * sb


@bare_kernel
def upper_tip(P, u, q, j):
    """Return the sphere centre in base_link."""
    _, _, _, _, x, z = upper_pose(P, u, q, j)
    x, y, z = out_of_axes(P, u + U_ROT, x, P[u + U_H], z)
    return P[u + U_ORG] + x, P[u + U_ORG + 1] + y, P[u + U_ORG + 2] + z


@bare_kernel
def upper_rates(P, u, q, j, vx, vy, vz, wx, wy, wz, by_height, dq, jd):
    """Write shoulder and shell rates into dq[jd : jd + 2] for the velocity v (m/s) or, by height, v's z and the angular
    velocity w (rad/s).
    """
    sa, ca, sb, cb, _, _ = upper_pose(P, u, q, j)
    if by_height:
        _, turn, _ = in_axes(P, u + U_ROT, wx, wy, wz)
        dB = -turn
        dA = divided((vz - P[u + U_M] * cb * dB) / P[u + U_L], ca, 1.0)
    else:
        x, _, z = in_axes(P, u + U_ROT, vx, vy, vz)
        dA, dB = planar_rates(x, z, P[u + U_L], P[u + U_M], sa, ca, sb, cb)
    dq[jd] = -P[u + U_SS] * dA
    dq[jd + 1] = -P[u + U_SH] * (dB - dA)
