# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""The angle of a vector, and sine and cosine of an angle, for the closed forms: numba calls libm, 20 ns an atan2.

Polynomials of Sun's fdlibm (k_sin.c, k_cos.c, s_atan.c); within 5e-16 of the exact values for the angles of joints.
NaN is passed on.
"""

from __future__ import annotations

import math

import numpy as np

from robot_mechanics.native.jit import scalar_kernel
from robot_mechanics.native.series import FARTHEST, HALF_PI_1, HALF_PI_2, HALF_PI_3, PER_QUARTER, TAN_EIGHTH

HALF_PI = 0.5 * math.pi
QUARTER_PI = 0.25 * math.pi


@scalar_kernel
def in_quarter(x):
    """Return the quarter turns nearest to an angle (rad) within FARTHEST, and sine and cosine of the rest."""
    quarter = np.floor(x * PER_QUARTER + 0.5)
    r = ((x - quarter * HALF_PI_1) - quarter * HALF_PI_2) - quarter * HALF_PI_3
    z = r * r
    w = z * z
    s = (8.33333333332248946124e-03 + z * -1.98412698298579493134e-04) + w * (
        (2.75573137070700676789e-06 + z * -2.50507602534068634195e-08) + w * 1.58969099521155010221e-10
    )
    s = r + r * z * (-1.66666666666666324348e-01 + z * s)
    c = (4.16666666666666019037e-02 + z * -1.38888888888741095749e-03) + w * (
        (2.48015872894767294178e-05 + z * -2.75573143513906633035e-07)
        + w * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)
    )
    h = 0.5 * z
    one = 1.0 - h
    c = one + ((1.0 - one - h) + w * c)  # what is lost in 1 - z/2 comes back
    return quarter, s, c


@scalar_kernel
def sincos(x):
    """Return sine and cosine of an angle (rad); NaN for one that is not finite."""
    if not abs(x) < FARTHEST:
        if math.isfinite(x):
            return math.sin(x), math.cos(x)
        return math.nan, math.nan
    quarter, s, c = in_quarter(x)
    quadrant = int(quarter) & 3
    if quadrant & 1:
        s, c = c, -s
    if quadrant & 2:
        s, c = -s, -c
    return s, c


@scalar_kernel
def angle(y, x):
    """Return the angle (rad, -pi .. pi) of the vector (x, y), as atan2 does; 0 for the null vector, NaN for NaN."""
    ax, ay = abs(x), abs(y)
    steep = ay > ax
    long, short = (ay, ax) if steep else (ax, ay)
    if long == 0.0:
        return 0.0
    middle = short > TAN_EIGHTH * long
    up, down = (short - long, short + long) if middle else (short, long)
    t = up / down
    z = t * t
    w = z * z
    even = (3.33333333333329318027e-01 + w * 1.42857142725034663711e-01) + w * w * (
        (9.09088713343650656196e-02 + w * 6.66107313738753120669e-02)
        + w * w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02)
    )
    odd = (-1.99999999998764832476e-01 + w * -1.11111104054623557880e-01) + w * w * (
        (-7.69187620504482999495e-02 + w * -5.83357013379057348645e-02) + w * w * -3.65315727442169155270e-02
    )
    a = t - t * (z * even + w * odd)
    if middle:
        a += QUARTER_PI
    if steep:
        a = HALF_PI - a
    if x < 0.0:
        a = math.pi - a
    return math.copysign(a, y)


@scalar_kernel
def turn(square, cosine):
    """Return the angle (rad) of a rotation and what its axis times sine is to be multiplied by to become axis times
    angle, from that vector's square and the cosine.
    """
    if square < 1e-8 and cosine > 0.0:
        factor = 1.0 + square * (1.0 / 6.0 + square * (3.0 / 40.0))
        return math.sqrt(square) * factor, factor
    sine = math.sqrt(square)
    angle = math.atan2(sine, cosine)
    return angle, angle / (sine + 1e-300)
