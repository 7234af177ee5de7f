# SPDX-License-Identifier: MIT
"""The ground that each foot reaches with the body as it is now."""

from __future__ import annotations

from typing import Optional

import numpy as np

from shellbot_action_manager.body.legs import LegGeometry
from shellbot_action_manager.gait.walking import neutral_feet
from shellbot_kinematics.workspace_walk import stroke_reach

_CHANGE = np.array([0.004, 0.03, 0.03])  # m, rad, rad: a walking body stays within it, so the search runs once
_BEARINGS = 48
_DISTANCES = np.linspace(0.0, 0.3, 121)  # m, 2.5 mm apart, farther than any foot reaches


class GroundReach:
    """Outlines of what the feet reach, searched again only when the body has moved against the ground.

    Parameters
    ----------
    legs : LegGeometry
        The lower legs, with the flattest shank.
    radius : float
        Circle of the points around which the reach is searched, m: the stance radius.
    joint_margin : float
        Distance that every joint keeps from its limits, rad.
    """

    def __init__(self, legs: LegGeometry, radius: float, joint_margin: float) -> None:
        self._legs, self._joint_margin = legs, joint_margin
        self._rest = neutral_feet(radius)
        self._searched: Optional[np.ndarray] = None

    def outlines(self, height: float, roll: float, pitch: float) -> np.ndarray:
        """Return closed outlines (6, n, 2) in base_footprint, m; NaN for a foot whose rest point is out of reach.

        Parameters
        ----------
        height : float
            Of base_link over the ground, m.
        roll, pitch : float
            Of base_link, rad.
        """
        now = np.array([height, roll, pitch])
        if self._searched is None or (np.abs(now - self._searched) > _CHANGE).any():
            self._searched, self._outlines = now, self._search(height, roll, pitch)
        return self._outlines

    def _search(self, height: float, roll: float, pitch: float) -> np.ndarray:
        found = stroke_reach(
            self._legs.leg_set,
            self._rest,
            max(height, 0.0),
            pose=np.array([0.0, 0.0, 0.0, roll, pitch, 0.0]),
            joint_margin=self._joint_margin,
            shank_min=self._legs.shank_min,
            bearings=_BEARINGS,
            radii=_DISTANCES,
        )
        radius = np.where(found.circle[:, None] > 0.0, found.radius, np.nan)
        bearing = np.append(found.bearing, found.bearing[0])
        direction = np.stack((np.cos(bearing), np.sin(bearing)), axis=1)
        return found.rest[:, None] + np.hstack((radius, radius[:, :1]))[..., None] * direction
