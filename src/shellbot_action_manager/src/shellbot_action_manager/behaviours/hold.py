# SPDX-License-Identifier: MIT
"""Hold: the joints stay where they are commanded to be."""

from __future__ import annotations

import numpy as np

from shellbot_action_manager.behaviours.protocol import Behaviour, Commands, Motion, State
from shellbot_action_manager.behaviours.registry import register
from shellbot_action_manager.body.legs import lower_command
from shellbot_action_manager.body.limbs import held


@register("hold")
class Hold(Behaviour):
    """Sitting, stopped, or lying as it fell: no joint moves."""

    def take_over(self, state: State) -> Motion:
        """Take over any posture; feet that lie in one plane far enough under the body count as standing."""
        q, posture = lower_command(state.commanded.limbs).q, self._robot.config.posture
        height = self._robot.geometry.legs.forward(q)[:, 2]
        flat = np.ptp(height) <= posture.plane_tolerance and height.max() < -posture.pushing_height
        return Motion(state.commanded.limbs, np.full(6, flat))

    def step(self, dt: float, commands: Commands, state: State) -> Motion:
        """Return the present command as joints."""
        return Motion(held(state.commanded.limbs), state.commanded.planted, heading=state.commanded.heading)
