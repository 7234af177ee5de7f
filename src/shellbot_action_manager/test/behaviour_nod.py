# SPDX-License-Identifier: MIT
"""How a behaviour is added: this file in behaviours/, and its name in a row of modes.yaml. Nothing else."""

from __future__ import annotations

import numpy as np

from shellbot_action_manager.behaviours.on_feet import OnFeet
from shellbot_action_manager.behaviours.protocol import Commands, Motion, State
from shellbot_action_manager.behaviours.registry import register
from shellbot_action_manager.body.legs import limb_commands, upper_joints

DURATION = 1.0  # s
ANGLE = 0.08  # rad


@register("nod")
class Nod(OnFeet):
    """Bows the body once, on feet that stay where they are."""

    def enter(self, state: State) -> None:
        self._time = 0.0

    def step(self, dt: float, commands: Commands, state: State) -> Motion:
        self._time += dt
        progress = min(self._time / DURATION, 1.0)
        pose = np.zeros(6)
        pose[4] = ANGLE * np.sin(np.pi * progress) ** 2
        lower, engine = self.walk(dt, np.zeros(3), pose, state), self._robot.engine
        done = progress == 1.0 and engine.pose_reached
        limbs = limb_commands(lower, upper_joints(state.commanded.limbs), engine.standing)
        return Motion(limbs, engine.standing, engine.phases, progress=progress, done=done)
