# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Sine and cosine of one angle together, faster than two calls of the C library, for kernels.

The angle is reduced to -pi/4 .. pi/4 by subtracting a multiple of pi/2 in three parts (Cody and Waite), each short
enough for its product to be exact; there the Taylor series up to x^15 and x^16 is exact to 5e-17. Error at most 2.3e-16
(1 unit in the last place) up to 1e5 rad, beyond which the C library is asked.
"""

from __future__ import annotations

import math

from robot_mechanics.native.jit import scalar_kernel
from robot_mechanics.native.series import COSINE, FARTHEST, HALF_PI_1, HALF_PI_2, HALF_PI_3, PER_QUARTER, SINE

_S3, _S5, _S7, _S9, _S11, _S13, _S15 = SINE
_C4, _C6, _C8, _C10, _C12, _C14, _C16 = COSINE


@scalar_kernel
def sincos(angle):
    """Return (sin, cos) of a finite angle in rad."""
    if abs(angle) > FARTHEST:
        return math.sin(angle), math.cos(angle)
    quarter = math.floor(angle * PER_QUARTER + 0.5)
    x = ((angle - quarter * HALF_PI_1) - quarter * HALF_PI_2) - quarter * HALF_PI_3
    z = x * x
    z2 = z * z
    # pairs first (Estrin): half the latency of a row of multiplications
    s = (_S3 + _S5 * z) + z2 * ((_S7 + _S9 * z) + z2 * ((_S11 + _S13 * z) + z2 * _S15))
    sine = x + x * z * s
    c = (_C4 + _C6 * z) + z2 * ((_C8 + _C10 * z) + z2 * ((_C12 + _C14 * z) + z2 * _C16))
    half = 0.5 * z
    one = 1.0 - half
    cosine = one + (((1.0 - one) - half) + z2 * c)
    n = int(quarter)
    swap = (n & 1) != 0
    a = cosine if swap else sine
    b = sine if swap else cosine
    return (-a if (n & 2) != 0 else a), (-b if ((n + 1) & 2) != 0 else b)


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
