# SPDX-License-Identifier: MIT
"""Stand up: from any folded posture to standing, then the feet step to the rest stance."""

from __future__ import annotations

from typing import Optional

import numpy as np

from shellbot_action_manager.behaviours.on_feet import MoveRunner, OnFeet
from shellbot_action_manager.behaviours.protocol import Commands, Motion, State
from shellbot_action_manager.behaviours.registry import register
from shellbot_action_manager.body.body_pose import REST_POSE
from shellbot_action_manager.body.legs import limb_commands, lower_command
from shellbot_action_manager.body.rising import plan_rise

_RISEN = 0.8  # progress when the body is up and the feet begin to step home


@register("stand_up")
class StandUp(OnFeet):
    """Folds the legs if they cannot push from where they are, raises the body, steps home."""

    def refusal(self, state: State) -> Optional[str]:
        """Refuse to push with the legs of a robot that lies on its side."""
        if state.tilt <= self._robot.config.posture.upright:
            return None
        return f"the robot is tilted by {np.degrees(state.tilt):.0f} deg; {self._robot.after_a_fall}"

    def enter(self, state: State) -> None:
        """Plan anew; the plan is made at the first step, with the gait that is commanded then."""
        self._runner: Optional[MoveRunner] = None

    def step(self, dt: float, commands: Commands, state: State) -> Motion:
        """Return the next motion."""
        robot, engine = self._robot, self._robot.engine
        upper = self.move_upper(dt, commands, state)
        notice = self.follow_gait(commands.gait)
        if self._runner is None:
            self._height = engine.gait.stance_height  # of the whole rise, whatever gait is chosen meanwhile
            geometry, start = robot.geometry, lower_command(state.commanded.limbs).q
            moves = plan_rise(start, self._height, geometry.sit_lower, geometry.legs, robot.config.posture)
            self._runner = MoveRunner(robot, moves)
        moves = self._runner.moves
        if moves.done:
            lower = self.walk(dt, np.zeros(3), REST_POSE, state)
            done = engine.at_rest
            limbs = limb_commands(lower, upper, engine.standing)
            return Motion(limbs, engine.standing, engine.phases, progress=0.9, done=done, notice=notice)
        planted = np.full(6, moves.on_feet)
        lower = self._runner.step(dt, state)
        if moves.done and lower.p_base is not None:
            pose = REST_POSE + np.array([0.0, 0.0, self._height - engine.gait.stance_height, 0.0, 0.0, 0.0])
            engine.start(lower.p_base + np.array([0.0, 0.0, self._height]), pose)
        limbs = limb_commands(lower, upper, planted)
        return Motion(limbs, planted, progress=_RISEN * moves.progress, notice=notice)
