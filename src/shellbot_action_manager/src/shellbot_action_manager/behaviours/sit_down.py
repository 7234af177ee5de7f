# SPDX-License-Identifier: MIT
"""Sit down: the body sinks over feet that stay where they are, then the legs fold."""

from __future__ import annotations

import numpy as np

from shellbot_action_manager.behaviours.on_feet import MoveRunner, OnFeet
from shellbot_action_manager.behaviours.protocol import Commands, Motion, State
from shellbot_action_manager.behaviours.registry import register
from shellbot_action_manager.body.body_pose import feet_in_base
from shellbot_action_manager.body.legs import limb_commands
from shellbot_action_manager.body.rising import plan_lie_down


@register("sit_down")
class SitDown(OnFeet):
    """From the stance of step_out to the sitting posture."""

    def enter(self, state: State) -> None:
        """Plan from the feet where they are commanded to stand."""
        robot, engine = self._robot, self._robot.engine
        p_base = feet_in_base(engine.p_walk, engine.pose, engine.gait.stance_height)
        moves = plan_lie_down(p_base, robot.geometry.sit_lower, robot.geometry.legs, robot.config.posture)
        self._runner = MoveRunner(robot, moves)

    def step(self, dt: float, commands: Commands, state: State) -> Motion:
        """Return the next motion."""
        upper, moves = self.move_upper(dt, commands, state), self._runner.moves
        planted = np.ones(6, dtype=bool)
        limbs = limb_commands(self._runner.step(dt, state), upper, planted)
        return Motion(limbs, planted, progress=moves.progress, done=moves.done)
