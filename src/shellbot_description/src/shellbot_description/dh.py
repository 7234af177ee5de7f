# SPDX-License-Identifier: MIT
"""Denavit-Hartenberg tables of the limbs and the fixed transforms to their sphere centres.

Standard convention: a row is Rot(z, theta) Trans(z, d) Trans(x, a) Rot(x, alpha). The first row is the fixed one from
`base_link` to the first joint axis; each later row i is turned by joint i, on top of its theta.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Tuple

import numpy as np

from shellbot_description.errors import DescriptionError
from shellbot_description.names import LEG_COUNT
from shellbot_description.variables import Variables


class DhRow(NamedTuple):
    """One row, SI: alpha (rad), a (m), theta (rad), d (m), `fixed` or `revolute`, and the joint's name."""

    alpha: float
    a: float
    theta: float
    d: float
    kind: str = "revolute"
    name: str = ""


def _azimuth(k: int) -> float:
    if isinstance(k, bool) or k not in range(1, LEG_COUNT + 1):
        raise DescriptionError(f"leg {k!r} does not exist; legs are numbered 1 to {LEG_COUNT}")
    return (k - 1) * (math.pi / 3)


def dh_table_lower(variables: Variables, k: int) -> Tuple[DhRow, ...]:
    """Return the rows of lower leg `k` (1..6): base (fixed), fan, coxa, femur, tibia; the last frame is the foot."""
    leg = variables.lower
    return (
        DhRow(0.0, leg.base_radius, _azimuth(k), leg.base_height, "fixed", f"lower_{k}_base"),
        DhRow(0.0, leg.fan_length, 0.0, 0.0, "revolute", f"lower_{k}_fan"),
        DhRow(-math.pi / 2, leg.coxa_length, 0.0, leg.coxa_drop, "revolute", f"lower_{k}_coxa"),
        DhRow(0.0, leg.femur_length, 0.0, leg.femur_offset, "revolute", f"lower_{k}_femur"),
        DhRow(0.0, leg.tibia_length, 0.0, 0.0, "revolute", f"lower_{k}_tibia"),
    )


def dh_table_upper(variables: Variables, k: int) -> Tuple[DhRow, ...]:
    """Return the rows of upper leg `k` (1..6): base (fixed), shoulder, shell; the last frame is the shell's."""
    leg = variables.upper
    return (
        DhRow(math.pi / 2, leg.base_radius, _azimuth(k) + leg.azimuth, leg.base_height, "fixed", f"upper_{k}_base"),
        DhRow(0.0, leg.shoulder_length, 0.0, 0.0, "revolute", f"upper_{k}_shoulder"),
        DhRow(0.0, 0.0, 0.0, 0.0, "revolute", f"upper_{k}_shell"),
    )


def dh_transform(row: DhRow, q: float = 0.0) -> np.ndarray:
    """Return the (4, 4) transform of a row with its joint at `q` (rad)."""
    ct, st = math.cos(row.theta + q), math.sin(row.theta + q)
    ca, sa = math.cos(row.alpha), math.sin(row.alpha)
    return np.array(
        [
            [ct, -st * ca, st * sa, row.a * ct],
            [st, ct * ca, -ct * sa, row.a * st],
            [0.0, sa, ca, row.d],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def sphere_centre_in_foot(variables: Variables) -> Tuple[float, float]:
    """Return x and y (m) of the lower sphere centre in the foot frame (x along the shank)."""
    leg = variables.lower
    return (
        leg.sphere_x + leg.sphere_radius * math.cos(leg.sphere_alpha),
        leg.sphere_y + leg.sphere_radius * math.sin(leg.sphere_alpha),
    )


def sphere_centre_in_shell(variables: Variables) -> Tuple[float, float]:
    """Return x and y (m) of the upper sphere centre in the shell frame."""
    leg = variables.upper
    return (
        leg.sphere_x + leg.sphere_radius * math.cos(leg.sphere_delta),
        leg.sphere_y + leg.sphere_radius * math.sin(leg.sphere_delta),
    )


def _in_plane(x: float, y: float, angle: float, alpha: float) -> np.ndarray:
    transform = dh_transform(DhRow(alpha, 0.0, angle, 0.0))
    transform[:2, 3] = (x, y)
    return transform


def foot_to_lower_sphere_centre(variables: Variables) -> np.ndarray:
    """Return T_foot_sphere (4, 4).

    The sphere frame is parallel to a base frame in the closed ball: z along the ball's axis (up), x from the centre to
    the middle of the gore's equator edge. The report's last row has a further quarter turn, which would lay z into
    the equator plane, against its own words ("z normal to the plane that divides the halves"); that is left out.
    """
    leg = variables.lower
    return _in_plane(*sphere_centre_in_foot(variables), leg.sphere_alpha + leg.sphere_beta, math.pi / 2)


def shell_to_upper_sphere_centre(variables: Variables) -> np.ndarray:
    """Return T_shell_sphere (4, 4): turned by delta + 90 deg + epsilon, z up and x to the gore in the closed ball."""
    leg = variables.upper
    angle = leg.sphere_delta + math.pi / 2 + leg.sphere_epsilon
    return _in_plane(*sphere_centre_in_shell(variables), angle, -math.pi / 2)
