# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""The planar 2R in which both kinds of legs end.

Its two links have lengths l1 and l2, and point at the angles A and B, measured from the plane's x axis (away from the
body) towards its z axis (up): A = a0 - sg*q, B = b0 - sg*q - sh*q' with the angles a0, b0 at q = 0 and the signs sg,
sh = +-1 of the joint axes against the plane's y axis (a positive turn about y lowers the tip). gamma = B - A is the
bend of the knee: negative bends the outer link down ("knee up").
"""

from __future__ import annotations

import math

from robot_mechanics.native.angles import angle, sincos
from robot_mechanics.native.jit import bare_kernel, joined_kernel
from shellbot_kinematics._layout import STOP_FAR, STOP_NEAR, STOP_NONE

TWO_PI = 2.0 * math.pi
_PER_TURN = 1.0 / TWO_PI
STEADY = 0.7  # rad: joints that move less from one tick to the next are on their branch beyond doubt
BEND = 0.05  # sine of the bend of the knee (or fraction of a link) below which rates are damped


@bare_kernel
def wrap(value, middle):
    """Return the angle plus the multiple of 2 pi that brings it within pi of `middle`."""
    return value - TWO_PI * math.floor((value - middle) * _PER_TURN + 0.5)


@bare_kernel
def clamp(x, low, high):
    """Return x within low .. high; NaN stays NaN."""
    if x < low:
        return low
    if x > high:
        return high
    return x


@bare_kernel
def planar_solve(x, z, l1, l2, knee):
    """Return A and gamma (rad) that bring the tip of the 2R to (x, z), or as near as its lengths allow, and the
    stop.
    """
    stop = STOP_NONE
    cosine = (x * x + z * z - l1 * l1 - l2 * l2) / (2.0 * l1 * l2)
    if cosine > 1.0:
        cosine, stop = 1.0, STOP_FAR
    elif cosine < -1.0:
        cosine, stop = -1.0, STOP_NEAR
    sine = knee * math.sqrt((1.0 - cosine) * (1.0 + cosine))
    gamma = angle(sine, cosine)
    long, across = l1 + l2 * cosine, l2 * sine
    return angle(z * long - x * across, x * long + z * across), gamma, stop


@joined_kernel
def planar_nearby(x, z, l1, l2, sg, sh, a0, b0, last):
    """Return q, q' (rad) for the tip at (x, z) with the knee bent to the side of `last`, the outer joint as it was, and
    how far (rad) its other bend is at least; -1 for that where the point, or the side, is in doubt.

    No angle is brought into a range: near the joints as they were it is in it.
    """
    cosine = (x * x + z * z - l1 * l1 - l2 * l2) / (2.0 * l1 * l2)
    if not abs(cosine) < 1.0:
        return 0.0, 0.0, -1.0
    zero = b0 - a0
    bend = zero - sh * last  # of the knee, as it was
    if not abs(bend) < math.pi:
        return 0.0, 0.0, -1.0
    sine = math.sqrt((1.0 - cosine) * (1.0 + cosine))
    if bend < 0.0:
        sine = -sine
    gamma = angle(sine, cosine)
    long, across = l1 + l2 * cosine, l2 * sine
    other = abs(bend + gamma)
    return (
        sg * (a0 - angle(z * long - x * across, x * long + z * across)),
        sh * (zero - gamma),
        min(other, TWO_PI - other),
    )


@bare_kernel
def planar_limited(x, z, l1, l2, A, gamma, sg, sh, a0, b0, low0, high0, low1, high1):
    """Return q, q' within their limits, the tip kept as near to (x, z) as one pass over the joints can, and the stop.

    A, gamma: the unlimited solution. The outer joint is clamped and the inner one turned so that the tip lies on the
    ray to the target (nearest point of the circle); if that is beyond the inner joint's limits, it is clamped and the
    outer link points at the target.
    """
    q1 = wrap(sh * (b0 - a0 - gamma), 0.5 * (low1 + high1))
    stop = STOP_NONE
    outer = clamp(q1, low1, high1)
    if outer != q1:
        stop = 3 if outer == low1 else 4
        sine, cosine = sincos(b0 - a0 - sh * outer)
        A = angle(z, x) - angle(l2 * sine, l1 + l2 * cosine)
    q0 = wrap(sg * (a0 - A), 0.5 * (low0 + high0))
    inner = clamp(q0, low0, high0)
    if inner != q0:
        stop = 1 if inner == low0 else 2
        A = a0 - sg * inner
        sine, cosine = sincos(A)
        B = angle(z - l1 * sine, x - l1 * cosine)
        outer = clamp(wrap(sh * (b0 - a0 - (B - A)), 0.5 * (low1 + high1)), low1, high1)
    return inner, outer, stop


@bare_kernel
def planar_rates(vx, vz, l1, l2, sa, ca, sb, cb):
    """Return the rates of A and B (their sines and cosines given) that move the tip at (vx, vz); damped near the
    stretched and the folded pose.

    Exact where the sine of the bend is above 0.05; below, the damping lambda^2 grows to (0.05 max(l1, l2))^2 / 4
    (Nakamura and Hanafusa's rule), so that rates stay bounded.
    """
    # tip = (l1 ca + l2 cb, l1 sa + l2 sb): J = [[-l1 sa, -l2 sb], [l1 ca, l2 cb]], det = l1 l2 sin(B - A)
    j00, j01, j10, j11 = -l1 * sa, -l2 * sb, l1 * ca, l2 * cb
    bend = abs(sb * ca - cb * sa)
    if bend >= BEND:
        det = j00 * j11 - j01 * j10
        return (j11 * vx - j01 * vz) / det, (j00 * vz - j10 * vx) / det
    fraction = 1.0 - bend / BEND
    damping = fraction * fraction * 0.25 * (BEND * max(l1, l2)) ** 2
    m00 = j00 * j00 + j01 * j01 + damping
    m01 = j00 * j10 + j01 * j11
    m11 = j10 * j10 + j11 * j11 + damping
    det = m00 * m11 - m01 * m01
    ux, uz = (m11 * vx - m01 * vz) / det, (m00 * vz - m01 * vx) / det
    return j00 * ux + j10 * uz, j01 * ux + j11 * uz


@bare_kernel
def divided(x, y, scale):
    """Return x / y, damped (Nakamura and Hanafusa's rule) where |y| is below 5 % of `scale`, bounded everywhere."""
    near = BEND * scale
    if abs(y) >= near:
        return x / y
    damping = 0.25 * (near - abs(y)) ** 2
    return x * y / (y * y + damping)
