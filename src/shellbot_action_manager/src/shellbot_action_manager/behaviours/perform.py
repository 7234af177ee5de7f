# SPDX-License-Identifier: MIT
"""Performing an action of the library: body, feet and upper shells go the planned way."""

from __future__ import annotations

from typing import Optional

from shellbot_action_manager.actions.postures import feet_in_walk_axes
from shellbot_action_manager.behaviours.on_feet import OnFeet, within_reach
from shellbot_action_manager.behaviours.protocol import Commands, Motion, State
from shellbot_action_manager.behaviours.registry import register
from shellbot_action_manager.body.body_pose import feet_in_base
from shellbot_action_manager.body.legs import feet_command, limb_commands, upper_joints
from shellbot_action_manager.body.upper_shells import move_toward
from shellbot_common.performance import Outcome

NO_ACTION = "there is no action to perform; send a goal to perform_action"


@register("perform")
class Perform(OnFeet):
    """Begins and ends in the rest stance, whatever happens between."""

    needs_all_legs = True

    def refusal(self, state: State) -> Optional[str]:
        """Refuse if no action is loaded."""
        if not self._robot.performer.active:
            return NO_ACTION
        return super().refusal(state)

    def step(self, dt: float, commands: Commands, state: State) -> Motion:
        """Return the next posture of the action."""
        robot, performer = self._robot, self._robot.performer
        upper = upper_joints(state.commanded.limbs)
        if not performer.plays:
            return Motion(state.commanded.limbs, state.commanded.planted, done=True)
        if commands.lost_legs:
            performer.cancel(because=f"lower_{commands.lost_legs[0]} is lost")
        posture = performer.step(dt, commands.foot_velocity)
        assert performer.status is not None
        p_walk = feet_in_walk_axes(posture.feet[0], robot.engine.p_walk)
        p_base = feet_in_base(p_walk, posture.pose[0], robot.engine.gait.stance_height)
        lower = within_reach(feet_command(robot.geometry.legs, p_base), state)
        planted = posture.stands[0]
        if len(upper):
            step = robot.config.upper.joint_rate * dt  # the operator may have commanded them elsewhere
            upper, _ = move_toward(posture.upper[0], upper, step, lower.q, robot.geometry)
        limbs = limb_commands(lower, upper, planted)
        return Motion(limbs, planted, progress=performer.status.progress, done=not performer.plays)

    def abort(self, reason: str) -> str:
        """End the action where it is."""
        self._robot.performer.end(Outcome.ABORTED, reason)
        return super().abort(reason)
