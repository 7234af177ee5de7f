# SPDX-License-Identifier: MIT
"""Height and tilt of the body from its contacts: odometry moves on the ground plane and has neither."""

from __future__ import annotations

from dataclasses import replace
from typing import Optional

import numpy as np

from shellbot_common.ground_plane import fit_plane, plane_normal, tilt_over
from shellbot_teleop.robot_monitor import ContactsInfo, OdomInfo

_LEAST_SPREAD = 0.03  # m: feet closer to a line than this tell no tilt


def with_body(odom: Optional[OdomInfo], contacts: Optional[ContactsInfo]) -> Optional[OdomInfo]:
    """Complete odometry with the body's height, roll and pitch.

    Parameters
    ----------
    odom : OdomInfo or None
        Position and heading on the ground.
    contacts : ContactsInfo or None
        The feet, or the part that a ball rolls on.

    Returns
    -------
    OdomInfo or None
        With z, roll and pitch of the ground fit, or with z of the ball, which has no roll and pitch. Unchanged where
        the contacts do not determine them: fewer than three feet, on a line, or not finite.
    """
    if odom is None or contacts is None:
        return odom
    up = contacts.ball_up
    if up is not None and contacts.p_base_ground is not None:
        height = -float(contacts.p_base_ground @ up)
        return replace(odom, position=(odom.position[0], odom.position[1], height))
    feet = contacts.p_base_foot[np.array(contacts.contact, dtype=bool)]
    if len(feet) < 3 or not np.isfinite(feet).all():
        return odom
    seen_from_above = feet[:, :2] - feet[:, :2].mean(axis=0)
    if np.linalg.svd(seen_from_above, compute_uv=False)[1] < _LEAST_SPREAD:
        return odom
    plane = fit_plane(feet)
    roll, pitch = tilt_over(plane)
    height = -float(plane[2] * plane_normal(plane)[2])
    position = (odom.position[0], odom.position[1], height)
    return replace(odom, position=position, rpy=(roll, pitch, odom.rpy[2]), has_tilt=True)
