# SPDX-License-Identifier: MIT
"""Relax: the joints are commanded to where they are, so that they follow the hand and the weight."""

from __future__ import annotations

import numpy as np

from shellbot_action_manager.behaviours.protocol import Behaviour, Commands, Motion, State
from shellbot_action_manager.behaviours.registry import register
from shellbot_action_manager.body.legs import LowerCommand, limb_commands, upper_joints


@register("relax")
class Relax(Behaviour):
    """Follows the measured joints of the lower legs, but not into their stops. What touches the ground is not known."""

    contact_model = "none"

    def step(self, dt: float, commands: Commands, state: State) -> Motion:
        """Return the measured joints as command."""
        q = self._robot.geometry.q_lower(state.q).copy()
        low, high = self._robot.geometry.legs.limits.T
        margin = self._robot.config.joint_margin
        q[:, 1:] = np.clip(q[:, 1:], low + margin, high - margin)
        limbs = limb_commands(LowerCommand(q, None), upper_joints(state.commanded.limbs), None)
        return Motion(limbs, state.commanded.planted)
