# SPDX-License-Identifier: MIT
"""How high and how low the feet may be where they are in the plane, by the reach of their legs."""

from __future__ import annotations

from typing import Tuple

import numpy as np

from shellbot_action_manager.body.body_pose import feet_in_base
from shellbot_action_manager.body.legs import LegGeometry
from shellbot_action_manager.gait.gait_table import Gait
from shellbot_action_manager.gait.swing import lift_profile
from shellbot_action_manager.gait.walking import SWING_SAMPLES

_HEIGHTS = np.linspace(-0.06, 0.12, 37)  # m: heights of a foot at which its reach is checked on rough ground
_LIFT_FRACTIONS = (1.0, 0.8, 0.6, 0.4, 0.25)


def free_lift(legs: LegGeometry, gait: Gait, pose: np.ndarray, leg: int, p_swing: np.ndarray) -> float:
    """Return how high a foot can swing, m: the gait's height of lift, or a fraction of it.

    Parameters
    ----------
    legs : LegGeometry
        The lower legs.
    gait : Gait
        Height and shape of the lift.
    pose : (6,) array
        Of the body relative to rest, m and rad.
    leg : int
        Index of the leg.
    p_swing : (n, 2) array
        Points of the ground over which it swings, at SWING_SAMPLES of the swing, in W as it will be then, m.
    """
    lift = np.array([lift_profile(u, gait.lift_peak)[0] for u in SWING_SAMPLES])
    feet = np.zeros((6, len(SWING_SAMPLES), 3))
    feet[..., :2] = p_swing
    for fraction in _LIFT_FRACTIONS:
        feet[..., 2] = fraction * gait.lift_height * lift
        q = legs.solve(feet_in_base(feet, pose, gait.stance_height))
        if (legs.margin(q)[leg] >= 0.0).all():
            break
    return fraction * gait.lift_height


def height_range(
    legs: LegGeometry,
    p_walk: np.ndarray,
    pose: np.ndarray,
    stance_height: float,
    swinging: np.ndarray,
    present: np.ndarray,
) -> Tuple[np.ndarray, np.ndarray]:
    """Return the least and the greatest height (6,) that each foot can have where it is in the plane, m in W.

    Parameters
    ----------
    legs : LegGeometry
        The lower legs.
    p_walk : (6, 3) array
        Feet in W, m; their heights do not matter.
    pose : (6,) array
        Of the body relative to rest, m and rad.
    stance_height : float
        Of the body at rest, m.
    swinging : (6,) bool array
        Feet in the air; the others have to be able to stand there.
    present : (6,) array
        What both are for a foot that can have no height at all, m.
    """
    feet = np.repeat(p_walk[:, None], _HEIGHTS.size, axis=1)
    feet[..., 2] = _HEIGHTS
    q = legs.solve(feet_in_base(feet, pose, stance_height))
    standing, swings = (legs.margin(q, stands).min(axis=-1) for stands in (True, False))
    free = np.where(swinging[:, None], swings, standing) >= 0.0
    low = np.where(free, _HEIGHTS, np.inf).min(axis=1)
    high = np.where(free, _HEIGHTS, -np.inf).max(axis=1)
    none = ~free.any(axis=1)
    return np.where(none, present, low), np.where(none, present, high)
