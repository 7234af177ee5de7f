# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
# ruff: noqa: UP018 - int(0), bool(1): numba compiles a kernel anew for every constant it is called with
"""A lower leg: forward, Jacobian and rates of its foot (tip 0) and its sphere centre (tip 1).

P, o: packed robot and where this leg begins in it (G_* of _layout); q, j: joints and where fan, coxa, femur, tibia
begin. Everything in base_link, m and rad. Formulas: docs/kinematics.md.
"""

from __future__ import annotations

from robot_mechanics.native.angles import sincos
from robot_mechanics.native.jit import bare_kernel
from shellbot_kinematics._axes import in_axes, out_of_axes
from shellbot_kinematics._layout import G_A0, G_FAN, G_L, G_L2, G_OFF, G_ROT, G_SF, G_SFAN, G_ST, G_TIP, G_ZF, LEG
from shellbot_kinematics._planar import divided, planar_rates


@bare_kernel
def to_coxa(P, o, px, py, pz, sf, cf):
    """Return a point of base_link in the axes of the coxa at q2 = 0, for the sine and cosine of the fan's turn."""
    x, y, z = in_axes(P, o + G_ROT, px - P[o + G_FAN], py - P[o + G_FAN + 1], pz - P[o + G_FAN + 2])
    return cf * x + sf * y - P[o + G_OFF], cf * y - sf * x - P[o + G_OFF + 1], z - P[o + G_OFF + 2]


@bare_kernel
def lower_pose(P, o, tip, q, j):
    """Return sines and cosines of fan, coxa, femur link (A), tip link (B), and the tip's reach and height in the leg
    plane (from the coxa axis and the coxa's origin).
    """
    k = o + G_TIP + 3 * tip
    A = P[o + G_A0] - P[o + G_SF] * q[j + 2]
    B = P[k + 2] - P[o + G_SF] * q[j + 2] - P[o + G_ST] * q[j + 3]
    sf, cf = sincos(P[o + G_SFAN] * q[j])
    sc, cc = sincos(q[j + 1])
    sa, ca = sincos(A)
    sb, cb = sincos(B)
    s = P[o + G_L2] + P[o + G_L] * ca + P[k + 1] * cb
    z = P[o + G_ZF] + P[o + G_L] * sa + P[k + 1] * sb
    return sf, cf, sc, cc, sa, ca, sb, cb, s, z


@bare_kernel
def tip_of_pose(P, o, tip, sf, cf, sc, cc, s, z):
    """Return the tip in base_link for what lower_pose found."""
    h = P[o + G_TIP + 3 * tip]
    x, y = cc * s - sc * h + P[o + G_OFF], sc * s + cc * h + P[o + G_OFF + 1]
    x, y, z = out_of_axes(P, o + G_ROT, cf * x - sf * y, sf * x + cf * y, z + P[o + G_OFF + 2])
    return P[o + G_FAN] + x, P[o + G_FAN + 1] + y, P[o + G_FAN + 2] + z


@bare_kernel
def lower_tip(P, o, tip, q, j):
    """Return the tip in base_link."""
    sf, cf, sc, cc, _, _, _, _, s, z = lower_pose(P, o, tip, q, j)
    return tip_of_pose(P, o, tip, sf, cf, sc, cc, s, z)


@bare_kernel
def lower_jacobian(P, o, tip, q, j, J):
    """Write d p_base_tip / d (fan, coxa, femur, tibia), (3, 4), m/rad, in the axes of base_link."""
    k = o + G_TIP + 3 * tip
    sf, cf, sc, cc, sa, ca, sb, cb, s, _ = lower_pose(P, o, tip, q, j)
    sm, zm, sl, zl = P[k + 1] * cb, P[k + 1] * sb, P[o + G_L] * ca, P[o + G_L] * sa
    x, y = cc * s - sc * P[k], sc * s + cc * P[k]
    for i in range(4):
        if i == 0:
            ux, uy, uz = -P[o + G_SFAN] * (y + P[o + G_OFF + 1]), P[o + G_SFAN] * (x + P[o + G_OFF]), 0.0
        elif i == 1:
            ux, uy, uz = -y, x, 0.0
        else:
            # dA/dq3 = dB/dq3 = -sf, dB/dq4 = -st
            ds = P[o + G_SF] * (zl + zm) if i == 2 else P[o + G_ST] * zm
            uz = -P[o + G_SF] * (sl + sm) if i == 2 else -P[o + G_ST] * sm
            ux, uy = cc * ds, sc * ds
        J[0, i], J[1, i], J[2, i] = out_of_axes(P, o + G_ROT, cf * ux - sf * uy, sf * ux + cf * uy, uz)


@bare_kernel
def rates_of_pose(P, o, tip, sf, cf, sc, cc, sa, ca, sb, cb, s, fan_rate, vx, vy, vz):
    """Return the rates of coxa, femur, tibia for the velocity (m/s, base_link) of the tip and the fan's rate given.

    The inverse of the 3x3 Jacobian without a matrix: across the leg plane the coxa moves the tip, within it the
    planar 2R. Damped where the tip comes within 5 % of the femur's length of the coxa axis.
    """
    k = o + G_TIP + 3 * tip
    h = P[k]
    x, y = cc * s - sc * h, sc * s + cc * h
    ux, uy, uz = in_axes(P, o + G_ROT, vx, vy, vz)
    ux, uy = cf * ux + sf * uy, cf * uy - sf * ux
    # what the fan already does at the tip: sigma dq1 z x (p - fan axis)
    w = P[o + G_SFAN] * fan_rate
    ux, uy = ux + w * (y + P[o + G_OFF + 1]), uy - w * (x + P[o + G_OFF])
    coxa = divided(cc * uy - sc * ux, s, P[o + G_L])
    dA, dB = planar_rates(cc * ux + sc * uy + h * coxa, uz, P[o + G_L], P[k + 1], sa, ca, sb, cb)
    return coxa, -P[o + G_SF] * dA, -P[o + G_ST] * (dB - dA)


@bare_kernel
def lower_feet(P, q, out):
    """Write the six feet (6, 3) in base_link for the joint vector q (24 or more)."""
    for i in range(6):
        out[i, 0], out[i, 1], out[i, 2] = lower_tip(P, i * LEG, int(0), q, 4 * i)
