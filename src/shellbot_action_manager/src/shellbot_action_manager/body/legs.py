# SPDX-License-Identifier: MIT
"""The lower legs: joint angles for many feet at once, which limit is in the way, and their command at a tick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Optional

import numpy as np

from shellbot_action_manager.body.limbs import LimbCommand, LimbCommands
from shellbot_kinematics.workspace_legs import LegSet

JOINTS = ("coxa", "femur", "tibia")


@dataclass(frozen=True)
class LegGeometry:
    """The six equal lower legs with the fan at zero, each on the branch for walking: tip in front, knee up."""

    leg_set: LegSet  #: Closed forms and joint limits of the six legs
    #: Least femur plus tibia angle of a foot that stands: flatter, the gore beside the foot touches the ground
    shank_min: float = -np.inf

    @property
    def limits(self) -> np.ndarray:
        """Lower and upper limit of coxa, femur and tibia, (3, 2), rad."""
        return np.stack((self.leg_set.lower[0, 1:], self.leg_set.upper[0, 1:]), axis=1)

    def solve(self, p_base_feet: np.ndarray) -> np.ndarray:
        """Return coxa, femur and tibia angles, (6, m, 3), for feet (6, m, 3) in base_link; NaN where out of reach."""
        return self.leg_set.solve(p_base_feet)

    def forward(self, q_lower: np.ndarray) -> np.ndarray:
        """Return the feet in base_link, (6, 3), for joints (6, 4): fan, coxa, femur, tibia."""
        return self.leg_set.forward(np.asarray(q_lower, dtype=np.float64)[:, None, :])[:, 0]

    def margin(self, q: np.ndarray, stands: bool = False) -> np.ndarray:
        """Return how far (rad) each joint (6, ..., 3) is inside its limits: negative outside, -inf out of reach.

        With `stands` the tibia's entry counts the flatness of the shank, too.
        """
        inside = self.leg_set.margin(q)
        if stands:
            flat = q[..., 1] + q[..., 2] - self.shank_min
            inside[..., 2] = np.minimum(inside[..., 2], np.where(np.isnan(flat), -np.inf, flat))
        return inside

    def reachable(self, p_base_feet: np.ndarray, standing: Optional[np.ndarray] = None) -> bool:
        """Return whether all six feet (6, 3) in base_link are within reach, and the gores of `standing` (6,) free."""
        return self.is_free(self.solve(p_base_feet[:, None, :])[:, 0], standing)

    def is_free(self, q: np.ndarray, standing: Optional[np.ndarray] = None) -> bool:
        """Return whether the joints (6, 3) of all feet keep their limits, and the gores of `standing` (6,) are free."""
        if self.margin(q).min() < 0.0:
            return False
        return standing is None or bool(((q[:, 1] + q[:, 2] - self.shank_min >= 0.0) | ~standing).all())

    def explain(
        self, q: np.ndarray, required: float = 0.0, stands: bool = False, idle: Optional[np.ndarray] = None
    ) -> str:
        """Return in words which joint is in the way for angles (6, 3); empty when all keep the margin (rad), those of
        `idle` legs (6,) aside.
        """
        margin = self.margin(q, stands)
        if idle is not None:
            margin[idle] = np.inf
        worst = margin <= margin.min() + 1e-9  # legs in symmetry differ by rounding: name the first of them
        leg, joint = np.unravel_index(int(np.argmax(worst)), margin.shape)
        if margin[leg, joint] >= required:
            return ""
        if not np.isfinite(margin[leg, joint]):
            return f"the foot of lower_{leg + 1} would be out of reach"
        if self.margin(q)[leg, joint] > margin[leg, joint]:
            return f"the shell of lower_{leg + 1} would touch the ground"
        low, high = self.limits[joint] + np.array([required, -required])
        return (
            f"lower_{leg + 1}_{JOINTS[joint]} would go to {q[leg, joint]:.2f} rad, limits {low:.2f} to {high:.2f} rad"
        )


@dataclass(frozen=True)
class LowerCommand:
    """What the lower legs are commanded to at a tick."""

    q: np.ndarray  #: (6, 4) fan, coxa, femur, tibia, rad; always known
    #: (6, 3) Feet in base_link, m, when they are commanded as feet; None when they are commanded as joints
    p_base: Optional[np.ndarray]
    ahead: Optional[np.ndarray] = None  #: (6, 3) coxa, femur, tibia a tick later, rad, see `LimbCommand`


def feet_command(legs: LegGeometry, p_base: np.ndarray) -> LowerCommand:
    """Return the command for six feet (6, 3) in base_link, with the fan at zero."""
    q = np.zeros((6, 4))
    q[:, 1:] = legs.solve(p_base[:, None, :])[:, 0]
    return LowerCommand(q, p_base)


def limb_commands(lower: LowerCommand, upper: np.ndarray, planted: Optional[np.ndarray]) -> Dict[str, LimbCommand]:
    """Return the commands of the groups `fan`, `lower` and `upper`.

    Parameters
    ----------
    lower : LowerCommand
        Joints or feet of the lower legs; the six fans are one.
    upper : (6, 2) or (0, 2) array
        Shoulder, shell, rad; empty without upper legs.
    planted : (6,) bool array or None
        Feet that are to stand: they share the load alike. None: not planned.
    """
    fraction = None if planted is None else planted / max(int(planted.sum()), 1)
    limbs = {
        "fan": LimbCommand(np.array([[lower.q[:, 0].sum() / len(lower.q)]])),
        "lower": LimbCommand(lower.q[:, 1:], lower.p_base, load_share=fraction, ahead=lower.ahead),
    }
    if len(upper):
        limbs["upper"] = LimbCommand(upper)
    return limbs


def lower_command(limbs: LimbCommands) -> LowerCommand:
    """Return the command of the lower legs with their fans."""
    q = np.empty((6, 4))
    q[:, 0], q[:, 1:] = limbs["fan"].q[0, 0], limbs["lower"].q
    return LowerCommand(q, limbs["lower"].p_base)


def upper_joints(limbs: LimbCommands) -> np.ndarray:
    """Return the commanded joints of the upper legs, (6, 2) or (0, 2), rad."""
    return limbs["upper"].q if "upper" in limbs else np.zeros((0, 2))
