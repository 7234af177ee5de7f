# SPDX-License-Identifier: MIT
"""What the action manager asks of the lower legs: joint angles for many feet at once, and which limit is in the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy as np

from shellbot_action_manager.walking import LEG_AZIMUTH

JOINTS = ("coxa", "femur", "tibia")

_COS, _SIN = np.cos(LEG_AZIMUTH)[:, None], np.sin(LEG_AZIMUTH)[:, None]


@dataclass(frozen=True)
class LegGeometry:
    """Lengths and joint limits of the six equal lower legs (metre, radian), with the fan at zero.

    Attributes
    ----------
    base_radius, base_height : float
        Fan axis from the body's centre.
    fan_length, coxa_length, femur_length, tibia_length : float
        Denavit-Hartenberg a of the four links.
    coxa_drop : float
        d of the coxa (negative: the femur's axis lies below).
    lateral_offset : float
        d of the femur along the horizontal axis.
    limits : (3, 2) array
        Lower and upper limit of coxa, femur and tibia.
    shank_min : float
        Least femur plus tibia angle of a foot that stands: flatter, the gore beside the foot touches the ground.
    """

    base_radius: float
    base_height: float
    fan_length: float
    coxa_length: float
    coxa_drop: float
    femur_length: float
    lateral_offset: float
    tibia_length: float
    limits: np.ndarray
    shank_min: float = -np.inf

    def solve(self, p_base_feet: np.ndarray) -> np.ndarray:
        """Return coxa, femur and tibia angles, (6, m, 3), for feet (6, m, 3) in base_link; NaN where out of reach.

        Notes
        -----
        From the coxa axis, with d the lateral offset: s = +sqrt(x^2 + y^2 - d^2), q2 = atan2(y, x) - atan2(d, s), then
        the planar arm with reach s - l2. The branch with the tip outside the coxa axis and the knee up is for walking.
        """
        p = np.asarray(p_base_feet, dtype=np.float64)
        c, s = _COS, _SIN
        x = c * p[..., 0] + s * p[..., 1] - (self.base_radius + self.fan_length)
        y = c * p[..., 1] - s * p[..., 0]
        down = self.base_height + self.coxa_drop - p[..., 2]
        with np.errstate(invalid="ignore"):
            reach_xy = np.sqrt(x * x + y * y - self.lateral_offset**2)
            coxa = np.arctan2(y, x) - np.arctan2(self.lateral_offset, reach_xy)
            out = reach_xy - self.coxa_length
            cos_knee = (out**2 + down**2 - self.femur_length**2 - self.tibia_length**2) / (
                2.0 * self.femur_length * self.tibia_length
            )
            tibia = np.arccos(cos_knee)
            femur = np.arctan2(down, out) - np.arctan2(
                self.tibia_length * np.sin(tibia), self.femur_length + self.tibia_length * np.cos(tibia)
            )
        coxa = np.remainder(coxa + np.pi, 2.0 * np.pi) - np.pi
        return np.stack((coxa, femur, tibia), axis=-1)

    def forward(self, q_lower: np.ndarray) -> np.ndarray:
        """Return the feet in base_link, (6, 3), for joints (6, 4): fan, coxa, femur, tibia."""
        q = np.asarray(q_lower, dtype=np.float64)
        fan, coxa = LEG_AZIMUTH + q[:, 0], LEG_AZIMUTH + q[:, 0] + q[:, 1]
        knee = q[:, 2] + q[:, 3]
        out = self.coxa_length + self.femur_length * np.cos(q[:, 2]) + self.tibia_length * np.cos(knee)
        down = self.femur_length * np.sin(q[:, 2]) + self.tibia_length * np.sin(knee)
        side = self.lateral_offset
        x = self.base_radius * np.cos(LEG_AZIMUTH) + self.fan_length * np.cos(fan)
        y = self.base_radius * np.sin(LEG_AZIMUTH) + self.fan_length * np.sin(fan)
        x = x + out * np.cos(coxa) - side * np.sin(coxa)
        y = y + out * np.sin(coxa) + side * np.cos(coxa)
        return np.stack((x, y, self.base_height + self.coxa_drop - down), axis=1)

    def margin(self, q: np.ndarray, stands: bool = False) -> np.ndarray:
        """Return how far (rad) each joint (..., 3) is inside its limits: negative outside, -inf out of reach.

        With `stands` the tibia's entry counts the flatness of the shank, too.
        """
        inside = np.minimum(q - self.limits[:, 0], self.limits[:, 1] - q)
        if stands:
            inside[..., 2] = np.minimum(inside[..., 2], q[..., 1] + q[..., 2] - self.shank_min)
        return np.where(np.isnan(inside), -np.inf, inside)

    def reachable(self, p_base_feet: np.ndarray, standing: Optional[np.ndarray] = None) -> bool:
        """Return whether all six feet (6, 3) in base_link are within reach, and the gores of `standing` (6,) free."""
        q = self.solve(p_base_feet[:, None, :])[:, 0]
        free = (self.margin(q) >= 0.0).all()
        if free and standing is not None:
            free = (self.margin(q, stands=True)[standing] >= 0.0).all()
        return bool(free)

    def explain(self, q: np.ndarray, margin_wanted: float = 0.0, stands: bool = False) -> str:
        """Return in words which joint is in the way for angles (6, 3); empty when all keep the margin (rad)."""
        margin = self.margin(q, stands)
        leg, joint = np.unravel_index(int(np.argmin(margin)), margin.shape)
        if margin[leg, joint] >= margin_wanted:
            return ""
        if not np.isfinite(margin[leg, joint]):
            return f"the foot of lower_{leg + 1} would be out of reach"
        if self.margin(q)[leg, joint] > margin[leg, joint]:
            return f"the shell of lower_{leg + 1} would touch the ground"
        low, high = self.limits[joint] + np.array([margin_wanted, -margin_wanted])
        return (
            f"lower_{leg + 1}_{JOINTS[joint]} would go to {q[leg, joint]:.2f} rad, limits {low:.2f} to {high:.2f} rad"
        )
