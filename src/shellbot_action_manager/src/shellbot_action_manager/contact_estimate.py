# SPDX-License-Identifier: MIT
"""Which feet stand: what the gait says, confirmed by the measured joints. The same on the robot and in simulators."""

from __future__ import annotations

from typing import Optional

import numpy as np

from shellbot_action_manager.body_pose import rotation_from_rpy, rpy_from_quaternion


def estimate_contacts(
    p_base_feet: np.ndarray, planted: np.ndarray, orientation: Optional[np.ndarray], tolerance: float
) -> np.ndarray:
    """Return which feet stand, (6,) bool.

    Parameters
    ----------
    p_base_feet : (6, 3) array
        Measured feet in base_link, m.
    planted : (6,) bool array
        Feet that are told to stand.
    orientation : (4,) array or None
        Quaternion x, y, z, w of base_link; None: the body is taken as level.
    tolerance : float
        Height above the lowest planted foot up to which a foot may stand, m.
    """
    if not planted.any():
        return np.zeros(6, dtype=bool)
    height = p_base_feet[:, 2]
    if orientation is not None:
        roll, pitch, _ = rpy_from_quaternion(orientation)
        height = p_base_feet @ rotation_from_rpy(roll, pitch, 0.0)[2]
    return planted & (height <= height[planted].min() + tolerance)
