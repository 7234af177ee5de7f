# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Kernels on a single lower leg: g is a row of ShellbotModel.legs, q its four joints.

The work is done in _lower_leg (packed robot and offsets), _planar, _upper_leg, _sphere, _limb_rules and _tick.
"""

from __future__ import annotations

import math

from robot_mechanics.native.jit import kernel
from shellbot_kinematics import _lower_inverse, _lower_leg
from shellbot_kinematics._axes import in_axes
from shellbot_kinematics._layout import *  # noqa: F403 - columns and codes belong to the same vocabulary
from shellbot_kinematics._layout import G_ROT, G_SFAN
from shellbot_kinematics._planar import clamp, planar_rates, planar_solve, wrap  # noqa: F401


@kernel
def to_coxa(g, px, py, pz, fan, direction):
    """Return a point (direction 0) or a vector (1) of base_link in the axes of the coxa at q2 = 0, for the fan angle
    given.
    """
    s, c = math.sin(g[G_SFAN] * fan), math.cos(g[G_SFAN] * fan)
    if direction == 0:
        return _lower_leg.to_coxa(g, 0, px, py, pz, s, c)
    x, y, z = in_axes(g, G_ROT, px, py, pz)
    return c * x + s * y, c * y - s * x, z


@kernel
def lower_tip(g, tip, q):
    """Return the tip (0 foot, 1 sphere centre) in base_link, m, for q = (fan, coxa, femur, tibia) in rad."""
    return _lower_leg.lower_tip(g, 0, tip, q, 0)


@kernel
def lower_branch(g, tip, x, y, z, side, knee):
    """Return coxa, femur, tibia (rad, unlimited), A and gamma, and the stop, for a target in the axes of the coxa."""
    return _lower_inverse.lower_branch(g, 0, tip, x, y, z, side, knee)


@kernel
def lower_rates(g, tip, q, fan_rate, vx, vy, vz, dq):
    """Write coxa, femur, tibia rates into dq[1:4] for the velocity (m/s, base_link) of the tip."""
    _lower_leg.lower_rates(g, 0, tip, q, 0, fan_rate, vx, vy, vz, dq)


@kernel
def lower_jacobian(g, tip, q, J):
    """Write d p_base_tip / d (fan, coxa, femur, tibia), (3, 4), m/rad, in the axes of base_link."""
    _lower_leg.lower_jacobian(g, 0, tip, q, 0, J)
