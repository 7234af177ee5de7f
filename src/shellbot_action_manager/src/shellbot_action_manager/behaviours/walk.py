# SPDX-License-Identifier: MIT
"""Walking and posing, and the steps on the way down that are walking with less: stopping, centring, stepping out."""

from __future__ import annotations

from typing import Optional, Tuple

import numpy as np

from shellbot_action_manager.behaviours.on_feet import OnFeet
from shellbot_action_manager.behaviours.protocol import Commands, Motion, State
from shellbot_action_manager.behaviours.registry import register
from shellbot_action_manager.body.body_pose import REST_POSE, feet_in_base
from shellbot_action_manager.body.legs import limb_commands, lower_command
from shellbot_action_manager.body.postures import FootMove, find_standing
from shellbot_action_manager.body.rising import FAN_CLOSED_FROM, Moves

_NO_TWIST = np.zeros(3)


@register("walk")
class Walk(OnFeet):
    """Obeys twist, body pose and gait; stands where neither is commanded."""

    def take_over(self, state: State) -> Optional[Motion]:
        """Go on from a robot that is found on its feet; feet in the air are put down first."""
        robot, q = self._robot, lower_command(state.commanded.limbs).q
        if np.abs(q[:, 0]).max() >= FAN_CLOSED_FROM:
            return None
        height, posture = robot.engine.gait.stance_height, robot.config.posture
        found = find_standing(robot.geometry.legs.forward(q), state.tilt, height, posture)
        if found is None:
            return None
        robot.engine.start(found.p_walk, found.pose)
        planted = found.p_walk[:, 2] <= 0.0
        robot.settling = None
        if not planted.all():
            down = found.p_walk * np.array([1.0, 1.0, 0.0])
            start, goal = (feet_in_base(feet, found.pose, height) for feet in (found.p_walk, down))
            robot.settling = Moves(robot.geometry.legs, [FootMove(start, goal, posture.settle_time)])
        return Motion(state.commanded.limbs, planted)

    @property
    def footsteps(self) -> Optional[np.ndarray]:
        """Where the gait puts the feet that are in the air."""
        return None if self._robot.settling is not None else self._robot.engine.footsteps

    def step(self, dt: float, commands: Commands, state: State) -> Motion:
        """Return the next motion: feet that were found in the air are put down before anything else."""
        robot, upper = self._robot, self.move_upper(dt, commands, state)
        if robot.settling is not None:
            lower, planted = robot.settling.step(dt), state.commanded.planted
            if robot.settling.done:
                robot.settling, planted = None, np.ones(6, dtype=bool)
            activity = "settling" if robot.settling is not None else ""
            return Motion(limb_commands(lower, upper, planted), planted, activity=activity, progress=0.5)
        lower, done, notice = self._drive(dt, commands, state)
        engine, activity = robot.engine, ""
        if engine.walking:
            activity = "walking" if engine.twist.any() else "stepping_home"
        ground = engine.terrain.z.copy() if engine.rough else None
        standing = engine.standing
        limbs = limb_commands(lower, upper, standing)
        return Motion(limbs, standing, engine.phases, engine.twist.copy(), ground, activity, 0.5, done, notice=notice)

    def _drive(self, dt: float, commands: Commands, state: State) -> tuple:
        """Return the legs' command, whether the behaviour has ended, and a notice."""
        config, engine, lost = self._robot.config, self._robot.engine, commands.lost_legs
        gait = commands.gait
        if engine.lost_legs.any_idle:
            gait = config.limp.gait
        elif engine.gait.name == config.limp.gait:
            gait = gait or config.gait
        notice = self.follow_gait(gait)
        self._robot.announcer.say("lost_legs", _lost_text(lost))
        twist = commands.twist if len(lost) < 2 else _NO_TWIST
        return self.walk(dt, twist, commands.body_pose, state, lapsed=commands.lapsed), False, notice


def _lost_text(lost: Tuple[int, ...]) -> str:
    if not lost:
        return ""
    legs = " and ".join(f"lower_{leg}" for leg in lost)
    return f"walking without {legs}" if len(lost) == 1 else f"{legs} are lost; standing, four legs do not walk"


@register("stop_walking")
class StopWalking(Walk):
    """Brings the feet home; the body keeps its pose."""

    def _drive(self, dt: float, commands: Commands, state: State) -> tuple:
        return self.walk(dt, _NO_TWIST, commands.body_pose, state), self._robot.engine.at_rest, ""


@register("centre_body")
class CentreBody(Walk):
    """Brings the body to its rest pose."""

    def _drive(self, dt: float, commands: Commands, state: State) -> tuple:
        lower, engine = self.walk(dt, _NO_TWIST, REST_POSE, state), self._robot.engine
        return lower, engine.at_rest and engine.pose_reached, ""


@register("step_out")
class StepOut(Walk):
    """Steps to the circle on which the feet stand when the robot sits."""

    def _drive(self, dt: float, commands: Commands, state: State) -> tuple:
        geometry = self._robot.geometry
        x, y, _ = geometry.legs.forward(geometry.sit_lower)[0]
        lower = self.walk(dt, _NO_TWIST, REST_POSE, state, float(np.hypot(x, y)))
        return lower, self._robot.engine.at_rest, ""
