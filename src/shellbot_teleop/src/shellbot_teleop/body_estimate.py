# SPDX-License-Identifier: MIT
"""Height and tilt of the body, from the feet that stand: odometry moves on the ground plane and has neither."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Optional, Tuple

import numpy as np

from shellbot_teleop.robot_monitor import ContactsInfo, OdomInfo

_LEAST_SPREAD = 0.03  # m: feet closer to a line than this tell no tilt


def ground_plane(p_base_foot: np.ndarray) -> Optional[Tuple[np.ndarray, float]]:
    """Fit the ground to standing feet.

    Parameters
    ----------
    p_base_foot : (n, 3) ndarray
        Tips of the standing feet in base_link, m.

    Returns
    -------
    tuple of ((3,) ndarray, float) or None
        Unit normal of the ground in base_link, pointing up, and the height of base_link above it in m; None for fewer
        than three feet, feet on a line, or positions that are not finite.
    """
    if len(p_base_foot) < 3 or not np.isfinite(p_base_foot).all():
        return None
    middle = p_base_foot.mean(axis=0)
    _, spread, axes = np.linalg.svd(p_base_foot - middle)
    if spread[1] < _LEAST_SPREAD:
        return None
    normal = axes[2] if axes[2][2] >= 0.0 else -axes[2]
    return normal, float(-normal @ middle)


def with_body(odom: Optional[OdomInfo], contacts: Optional[ContactsInfo]) -> Optional[OdomInfo]:
    """Complete odometry with the body's height, roll and pitch.

    Parameters
    ----------
    odom : OdomInfo or None
        Position and heading on the ground.
    contacts : ContactsInfo or None
        The feet.

    Returns
    -------
    OdomInfo or None
        With z, roll and pitch of the ground fit. For R = Rz(yaw) Ry(pitch) Rx(roll) the ground's normal in base_link is
        R^T e_z = (-sin(pitch), cos(pitch) sin(roll), cos(pitch) cos(roll)). Unchanged where the feet do not tell.
    """
    if odom is None or contacts is None:
        return odom
    plane = ground_plane(contacts.p_base_foot[np.array(contacts.contact, dtype=bool)])
    if plane is None:
        return odom
    normal, height = plane
    roll, pitch = math.atan2(normal[1], normal[2]), -math.asin(min(max(float(normal[0]), -1.0), 1.0))
    return replace(odom, position=(odom.position[0], odom.position[1], height), rpy=(roll, pitch, odom.rpy[2]))
