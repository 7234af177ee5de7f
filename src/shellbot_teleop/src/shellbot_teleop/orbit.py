# SPDX-License-Identifier: MIT
"""From where the robot is looked at: turned and zoomed with the mouse, following the robot or standing still."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Tuple

import numpy as np

from shellbot_common.view import View

_DEG_A_PIXEL = 0.4
_NEAR, _FAR = 0.25, 8.0  # m
_ABOVE_DEG = -89.0
_REACHES = 2.4  # from how far the whole robot is seen, in its reach


@dataclass(frozen=True)
class Orbit:
    """A viewpoint on a sphere around a point; while it follows, that is the robot, azimuth counts from its heading."""

    azimuth_deg: float = 28.0  #: Direction in which it looks, about z; 0: from behind
    elevation_deg: float = -34.0  #: Negative: from above
    distance: float = 1.15  #: m
    target: Tuple[float, float, float] = (0.0, 0.0, 0.08)  #: m
    yaw_deg: float = 0.0  #: Heading of what it follows
    follows: bool = True

    def framing(self, reach: float, is_fixed: bool) -> Orbit:
        """View of a robot whose joints are up to `reach` (m) from its root, which may be fixed to the ground."""
        distance = min(max(_REACHES * reach, Orbit().distance), _FAR)
        height = 0.4 * reach if is_fixed else Orbit().target[2]  # an arm stands on its root, other robots are around it
        return replace(self, distance=distance, target=(*self.target[:2], height))

    def turned(self, dx: float, dy: float) -> Orbit:
        """View after dragging the mouse by dx, dy pixels."""
        elevation = min(max(self.elevation_deg - dy * _DEG_A_PIXEL, _ABOVE_DEG), 15.0)
        return replace(self, azimuth_deg=self.azimuth_deg - dx * _DEG_A_PIXEL, elevation_deg=elevation)

    def zoomed(self, factor: float) -> Orbit:
        """View from another distance, within sensible bounds."""
        return replace(self, distance=min(max(self.distance * factor, _NEAR), _FAR))

    def from_above(self) -> Orbit:
        """View straight down with forward at the top, or the first view if it is that already."""
        above = self.elevation_deg > _ABOVE_DEG
        first = Orbit()
        return replace(
            self,
            azimuth_deg=0.0 if above else first.azimuth_deg,
            elevation_deg=_ABOVE_DEG if above else first.elevation_deg,
        )

    def on(self, position: np.ndarray, yaw: float) -> Orbit:
        """View of a robot at a place (3,), m, that looks along a bearing, rad; unchanged if it does not follow."""
        if not self.follows:
            return self
        return replace(
            self, target=(float(position[0]), float(position[1]), 0.5 * float(position[2])), yaw_deg=math.degrees(yaw)
        )

    def following(self, follows: bool) -> Orbit:
        """View that follows the robot, from behind as at first, or stands still where it is, without a jump."""
        azimuth, yaw = self.azimuth_deg, self.yaw_deg
        if follows:
            return replace(self, follows=True, azimuth_deg=Orbit().azimuth_deg)
        return replace(self, follows=False, azimuth_deg=azimuth + yaw, yaw_deg=0.0)

    @property
    def view(self) -> View:
        """The same for a renderer."""
        return View(self.target, self.distance, self.yaw_deg + self.azimuth_deg, self.elevation_deg)
