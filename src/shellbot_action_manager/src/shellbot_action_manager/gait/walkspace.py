# SPDX-License-Identifier: MIT
"""How fast the robot may walk: limits derived from what the legs can reach with the body as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

import numpy as np

from shellbot_action_manager.body.legs import LegGeometry
from shellbot_action_manager.gait.gait_table import Gait
from shellbot_action_manager.gait.walking import neutral_feet
from shellbot_kinematics.workspace_walk import StrokeReach, stroke_reach

_BEARINGS = 12
_RADII = np.linspace(0.0, 0.08, 17)  # m, 5 mm apart
_LEGS = np.arange(6)
_BOTH_DIRECTIONS = np.array([0, 1, _BEARINGS // 2, _BEARINGS // 2 + 1])[:, None]  # of it and its opposite


@dataclass(frozen=True)
class WalkspaceLimits:
    """Present limits of cmd_vel and body pose."""

    #: max_velocity, max_acceleration: (3,) Forward, sideways (m/s, m/s^2) and turning (rad/s, rad/s^2), each axis alone
    max_velocity: np.ndarray
    max_acceleration: np.ndarray
    #: min_shift, max_shift: (3,) Body from its rest pose, m
    min_shift: np.ndarray
    max_shift: np.ndarray
    max_tilt: np.ndarray  #: (3,) Roll, pitch, yaw of the body, both ways, rad
    gait: str  #: The gait that the limits belong to


def reach_along(reach: StrokeReach, offset: np.ndarray, both_directions: bool = False) -> np.ndarray:
    """Return how far (6,), m, each foot can be from its rest point in the directions of the offsets (6, 2).

    With `both_directions` it is how far it can be in those and in the opposite directions.
    """
    bearing = np.floor(np.arctan2(offset[:, 1], offset[:, 0]) / (2.0 * np.pi / _BEARINGS)).astype(int)
    around = (bearing + (_BOTH_DIRECTIONS if both_directions else _BOTH_DIRECTIONS[:2])) % _BEARINGS
    return reach.radius[_LEGS, around].min(axis=0)


def reach_usage(reach: StrokeReach, gait: Gait, twist: np.ndarray) -> float:
    """Return the fraction of the reach that a twist (3,) of the body needs at the gait's fastest period.

    Half a stance moves foot k by (v + w x n_k) duty T / 2, forth and back; the fraction is the largest over the legs.
    """
    half_stance = 0.5 * gait.duty_factor * gait.period_fast
    slip = gait.slip_scale.array
    vx, vy, w = np.asarray(twist, dtype=np.float64) * slip
    stroke = half_stance * np.stack((vx - w * reach.rest[:, 1], vy + w * reach.rest[:, 0]), axis=1)
    room = np.minimum(reach_along(reach, stroke, both_directions=True), 0.5 * gait.stride_limit)
    distance = np.hypot(stroke[:, 0], stroke[:, 1])
    if not distance.any():
        return 0.0
    if (room <= 0.0).any():
        return np.inf
    return float((distance / room).max())


def find_reach(legs: LegGeometry, gait: Gait, pose: np.ndarray, joint_margin: float) -> StrokeReach:
    """Search each leg's reachable ground around its rest point, at foot height 0 and at the top of the swing.

    Parameters
    ----------
    pose : (6,) array
        Body pose relative to rest: shift (m), roll, pitch, yaw (rad).
    joint_margin : float
        Distance that every joint keeps from its limits, rad.
    """
    return stroke_reach(
        legs.leg_set,
        neutral_feet(gait.stance_radius),
        gait.stance_height,
        gait.lift(1.0),  # the longest strokes are those of top speed
        pose,
        joint_margin,
        legs.shank_min,
        bearings=_BEARINGS,
        radii=_RADII,
    )


def speed_limits(reach: StrokeReach, gait: Gait) -> np.ndarray:
    """Return the greatest speed (3,) of each axis alone: what the reach allows, at most the gait's `speed_cap`."""
    limits = np.zeros(3)
    for axis in range(3):
        unit = np.zeros(3)
        unit[axis] = 1.0
        needed = max(reach_usage(reach, gait, unit), reach_usage(reach, gait, -unit))
        limits[axis] = 0.0 if not np.isfinite(needed) else min(1.0 / needed, gait.speed_cap[axis])
    return limits


def acceleration_limits(max_velocity: np.ndarray, gait: Gait, fraction: float) -> np.ndarray:
    """Return the greatest acceleration (3,): a fraction of what reaches top speed within one stance at the slow period.

    In the first stance from rest the feet start at their rest points; reaching top speed v within the stance time t
    takes them v t / 2 away, which is where a steady stance ends.
    """
    return fraction * max_velocity / (gait.duty_factor * gait.period_slow)


def scale_twist(
    twist: np.ndarray, reach: StrokeReach, gait: Gait, max_velocity: np.ndarray
) -> Tuple[np.ndarray, float]:
    """Return the twist shortened to the limits with its direction kept, and the fraction 0..1 of them that it uses."""
    twist = np.asarray(twist, dtype=np.float64)
    if not twist.any():
        return np.zeros(3), 0.0
    usage = twist_usage(twist, reach, gait, max_velocity)
    if not np.isfinite(usage):
        return np.zeros(3), 0.0
    return twist / max(usage, 1.0), min(usage, 1.0)


def twist_usage(twist: np.ndarray, reach: StrokeReach, gait: Gait, max_velocity: np.ndarray) -> float:
    """Return the fraction of the limits that a twist uses; above 1 it is too fast, infinite when an axis is shut.

    The limits of the single axes form an ellipsoid, the reach of the feet a convex body; the tighter one counts.
    """
    if np.any((max_velocity <= 0.0) & (twist != 0.0)):
        return np.inf
    axes = float(np.linalg.norm(np.divide(twist, max_velocity, out=np.zeros(3), where=max_velocity > 0.0)))
    return max(axes, reach_usage(reach, gait, twist))
