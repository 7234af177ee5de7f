# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Loops of the workspace tools over many points; the closed forms themselves are those of the solver's kernels."""

from __future__ import annotations

import math

from robot_mechanics.native.angles import sincos
from robot_mechanics.native.jit import kernel
from shellbot_kinematics._layout import G_SFAN, G_TIP, STOP_NONE
from shellbot_kinematics._lower_inverse import lower_branch
from shellbot_kinematics._lower_leg import lower_tip, to_coxa
from shellbot_kinematics._planar import planar_solve, wrap


@kernel
def legs_solve(geometry, tip, p, fan, side, knee, out):
    """Write coxa, femur, tibia (k, m, 3), rad in -pi .. pi, limits not looked at, for points p (k, m, 3) in base_link.

    A joint is NaN where the branch (side, knee) does not get there: all three nearer to the coxa axis than the leg's
    lateral offset, femur and tibia alone where the links are too short or too long.
    """
    for i in range(p.shape[0]):
        g = geometry[i]
        h = g[G_TIP + 3 * tip]
        sine, cosine = sincos(g[G_SFAN] * fan[i])
        for j in range(p.shape[1]):
            x, y, z = to_coxa(g, 0, p[i, j, 0], p[i, j, 1], p[i, j, 2], sine, cosine)
            if math.isnan(x + y + z):
                out[i, j, 0] = out[i, j, 1] = out[i, j, 2] = math.nan
                continue
            q2, q3, q4, _, _, stop = lower_branch(g, 0, tip, x, y, z, side, knee)
            out[i, j, 0] = wrap(q2, 0.0)
            out[i, j, 1] = wrap(q3, 0.0)
            out[i, j, 2] = wrap(q4, 0.0)
            near = x * x + y * y < h * h
            if near:
                out[i, j, 0] = math.nan
            if near or stop != STOP_NONE:
                out[i, j, 1] = out[i, j, 2] = math.nan


@kernel
def legs_forward(geometry, tip, q, out):
    """Write the tips (k, m, 3) in base_link for q (k, m, 4): fan, coxa, femur, tibia."""
    for i in range(q.shape[0]):
        for j in range(q.shape[1]):
            out[i, j, 0], out[i, j, 1], out[i, j, 2] = lower_tip(geometry[i], 0, tip, q[i, j], 0)


@kernel
def legs_margin(q, low, high, out):
    """Write how far coxa, femur, tibia (k, m, 3) lie within low, high (k, 4): negative outside, -inf for NaN."""
    for i in range(q.shape[0]):
        for j in range(q.shape[1]):
            for n in range(3):
                value = q[i, j, n]
                inside = min(value - low[i, n + 1], high[i, n + 1] - value)
                out[i, j, n] = -math.inf if math.isnan(value) else inside


@kernel
def legs_reach(geometry, tip, p, fan, low, high, out):
    """Write whether any of the four branches brings the tip to p (k, m, 3) within low, high (k, 4)."""
    for i in range(p.shape[0]):
        g = geometry[i]
        sine, cosine = sincos(g[G_SFAN] * fan[i])
        for j in range(p.shape[1]):
            x, y, z = to_coxa(g, 0, p[i, j, 0], p[i, j, 1], p[i, j, 2], sine, cosine)
            out[i, j] = False
            if math.isnan(x + y + z):
                continue
            for branch in range(4):
                side = 1.0 if branch < 2 else -1.0
                knee = -1.0 if branch % 2 == 0 else 1.0
                q2, q3, q4, _, _, stop = lower_branch(g, 0, tip, x, y, z, side, knee)
                if stop != STOP_NONE:
                    continue
                if _inside(q2, low[i, 1], high[i, 1]) and _inside(q3, low[i, 2], high[i, 2]):
                    out[i, j] = out[i, j] or _inside(q4, low[i, 3], high[i, 3])


@kernel
def _inside(angle, low, high):
    """Return whether the angle, turned by whole turns, lies in low .. high."""
    value = wrap(angle, 0.5 * (low + high))
    return low <= value <= high


@kernel
def plane_map(link, points, low, high, q, J):
    """Write joints q (2, m, 2) and the plane's Jacobian J (2, m, 2, 2) for points (m, 2) in a limb's plane, knee up and
    down; NaN where the branch does not get there within low, high (2,).

    link: (l1, l2, a0, b0, sg, sh), see _planar; rows of J: along the plane, up.
    """
    l1, l2, a0, b0, sg, sh = link
    for branch in range(2):
        knee = -1.0 if branch == 0 else 1.0
        for i in range(points.shape[0]):
            A, gamma, stop = planar_solve(points[i, 0], points[i, 1], l1, l2, knee)
            inner = wrap(sg * (a0 - A), 0.5 * (low[0] + high[0]))
            outer = wrap(sh * (b0 - a0 - gamma), 0.5 * (low[1] + high[1]))
            good = stop == STOP_NONE and low[0] <= inner <= high[0] and low[1] <= outer <= high[1]
            if not good:
                q[branch, i, 0] = q[branch, i, 1] = math.nan
                J[branch, i, 0, 0] = J[branch, i, 0, 1] = J[branch, i, 1, 0] = J[branch, i, 1, 1] = math.nan
                continue
            q[branch, i, 0], q[branch, i, 1] = inner, outer
            # tip = (l1 cos A + l2 cos B, l1 sin A + l2 sin B), dA/dq = dB/dq = -sg, dB/dq' = -sh
            sa, ca = sincos(A)
            sb, cb = sincos(A + gamma)
            J[branch, i, 0, 0], J[branch, i, 0, 1] = sg * (l1 * sa + l2 * sb), sh * l2 * sb
            J[branch, i, 1, 0], J[branch, i, 1, 1] = -sg * (l1 * ca + l2 * cb), -sh * l2 * cb
