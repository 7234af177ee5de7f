# SPDX-License-Identifier: MIT
"""What the behaviours on the feet have in common: walking engine, upper shells, waiting for joints, tipping over."""

from __future__ import annotations

from typing import Optional

import numpy as np

from shellbot_action_manager.behaviours.protocol import Behaviour, Commands, State
from shellbot_action_manager.behaviours.robot import Robot
from shellbot_action_manager.body.legs import LowerCommand, lower_command, upper_joints
from shellbot_action_manager.body.rising import Moves
from shellbot_action_manager.body.upper_shells import clamp_upper, move_toward
from shellbot_action_manager.errors import UnknownGaitError

_TEXT_TIME = 2.0  # s: how long a sentence with a measured figure stays, or each tick would be a line of the log
_CATCHING_UP = 3.0  # s for joints to come to where a move begins: while torque comes up, or after a stop


class OnFeet(Behaviour):
    """Base of the behaviours in which the robot stands, walks, or is on its way up or down."""

    def failure(self, state: State) -> Optional[str]:
        """Report a tilt with which no robot stands: holding is better than walking on in the air."""
        if state.tilt <= self._robot.config.posture.upright:
            return None
        degrees = np.degrees(state.tilt)
        return f"tipped over by {degrees:.0f} deg, holding; {self._robot.after_a_fall}"

    def abort(self, reason: str) -> str:
        """Drop what was under way."""
        self._robot.settling = None
        self._robot.announcer.say("follow", "")
        return super().abort(reason)

    def walk(
        self,
        dt: float,
        twist: np.ndarray,
        pose: np.ndarray,
        state: State,
        home_radius: Optional[float] = None,
        lapsed: bool = False,
    ) -> LowerCommand:
        """Return the legs' command for a twist (3,) and a body pose (6,); zero twist steps home and stands.

        It brakes hard to a twist that is zero because its commands lapsed.
        """
        engine, geometry, feet = self._robot.engine, self._robot.geometry, None
        if engine.rough:
            feet = geometry.legs.forward(geometry.q_lower(state.q))
        command = engine.step(
            dt, twist, pose, state.yaw, home_radius, feet, None if state.rpy is None else state.rpy[:2], lapsed
        )
        self._robot.announcer.say("body_pose", self._robot.engine.text)
        return within_reach(command, state)

    def move_upper(self, dt: float, commands: Commands, state: State) -> np.ndarray:
        """Return the command of the upper legs on the way to what the operator commands, or up by default."""
        geometry, config = self._robot.geometry, self._robot.config.upper
        present = upper_joints(state.commanded.limbs)
        if geometry.upper is None or "upper_shells" not in commands.obeyed:
            return present
        goal, text = geometry.up_upper, ""
        if commands.upper_shells is not None:
            inside, text = clamp_upper(commands.upper_shells, config)
            pair = geometry.upper.solve(*inside)
            goal = np.tile(pair, (6, 1)) if np.isfinite(pair).all() else present
        lower = lower_command(state.commanded.limbs).q
        upper, blocked = move_toward(goal, present, config.joint_rate * dt, lower, geometry)
        self._robot.announcer.say("upper", blocked or text)
        return upper

    def follow_gait(self, name: str) -> str:
        """Change to the commanded gait; return a notice. An unknown one is refused and changes nothing."""
        engine, say = self._robot.engine, self._robot.announcer.say
        try:
            ready = engine.set_gait(name or engine.gait.name)
        except UnknownGaitError as error:
            return str(error) if say("gait", str(error)) else ""
        say("gait", "" if ready or not name else f"changing the gait to {name}")
        return ""


def within_reach(command: LowerCommand, state: State) -> LowerCommand:
    """Return the command with the joints of a foot out of reach as they were; kinematics goes as near as it can."""
    unknown = np.isnan(command.q)
    if not unknown.any():
        return command
    unreachable = unknown.any(axis=1)
    previous = lower_command(state.commanded.limbs).q
    return LowerCommand(np.where(unreachable[:, None], previous, command.q), command.p_base, command.ahead)


class MoveRunner:
    """Steps planned moves, and waits while the joints do not follow.

    Parameters
    ----------
    robot : Robot
        Its settings and announcer.
    moves : Moves
        What to do.
    """

    def __init__(self, robot: Robot, moves: Moves) -> None:
        self._robot, self.moves = robot, moves
        self._late_for, self._text, self._text_for = 0.0, "", 0.0

    def step(self, dt: float, state: State) -> LowerCommand:
        """Return the legs' command one tick later; the present one while a joint is too far behind."""
        present = lower_command(state.commanded.limbs)
        return present if self._behind(dt, present, state) else self.moves.step(dt)

    def _behind(self, dt: float, present: LowerCommand, state: State) -> bool:
        error = np.abs(present.q - self._robot.geometry.q_lower(state.q))
        worst = int(np.argmax(error))
        late = bool(error.flat[worst] > self._robot.config.posture.follow_error)
        self._late_for = self._late_for + dt if late else 0.0
        self._text_for += dt
        if self._late_for <= _CATCHING_UP:
            self._text = ""
        elif not self._text or self._text_for >= _TEXT_TIME:
            self._text_for = 0.0
            self._text = f"waiting for {self._robot.geometry.joint_names[worst]}, {error.flat[worst]:.2f} rad behind; "
            self._text += "are kinematics and the connector or motor driver running?"
        self._robot.announcer.say("follow", self._text)
        return late
