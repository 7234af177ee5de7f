# SPDX-License-Identifier: MIT
"""The closed ball: shuts what is not quite shut, stays level at rest, rolls by cmd_vel, holds its place."""

from __future__ import annotations

import math
from typing import Optional

import numpy as np

from shellbot_action_manager.behaviours.ball import OnPath, as_found, heading_of
from shellbot_action_manager.behaviours.ball_drive import unmeasured
from shellbot_action_manager.behaviours.protocol import Commands, Motion, State
from shellbot_action_manager.behaviours.registry import register
from shellbot_action_manager.behaviours.robot import Robot
from shellbot_action_manager.body.joint_watch import JointWatch
from shellbot_action_manager.body.legs import upper_joints
from shellbot_action_manager.body.rolling import RollingControl
from shellbot_action_manager.gait.twist_command import limit_change
from shellbot_action_manager.gait.walkspace import WalkspaceLimits

_BLIND = "no {} from the IMU: a ball cannot roll without, it stays shut; look at imu/data"
_AGAIN = "the IMU is back; the ball brakes, and cmd_vel counts again once it was zero"
_FAILED = "{} does not follow: the ball brakes; free the joint, then command zero and roll on, or request stand"
_LOST = "{} is lost: the ball brakes; mend it, or command zero and roll on, or request stand"
_FULL_OPENING = 1.4  # rad: a ball whose gores are open by no more is found as a ball that was pushing


@register("roll")
class Roll(OnPath):
    """Rolls as cmd_vel says: linear velocity in the level axes of a heading, which angular.z turns."""

    contact_model = "rolling"

    def __init__(self, name: str, robot: Robot) -> None:
        super().__init__(name, robot)
        config = robot.config.rolling
        self._control = RollingControl(config, self._start_distance)
        speeds = np.array([config.speed, config.speed, config.turn_rate])
        accelerations = np.array([config.acceleration, config.acceleration, config.turn_acceleration])
        self._limits = WalkspaceLimits(speeds, accelerations, np.zeros(3), np.zeros(3), np.zeros(3), "")
        self._heading, self._twist, self._blind = 0.0, np.zeros(3), False
        self._waits = False  # for a new command
        self._watch, self._failed = JointWatch(), ""

    @property
    def limits(self) -> WalkspaceLimits:
        """Those of rolling."""
        return self._limits

    def take_over(self, state: State) -> Optional[Motion]:
        """Recognise a ball, shut or with gores that were pushing."""
        transformation = self._robot.transformation
        if transformation is None or not transformation.is_folded(state):
            return None
        shells = np.abs(upper_joints(state.commanded.limbs) - self._robot.geometry.closed_upper).max()
        return as_found(state) if shells <= _FULL_OPENING else None

    def failure(self, state: State) -> Optional[str]:
        """Accept every attitude; with a joint that has failed it brakes, and is safest as the ball that it is."""
        return None

    def enter(self, state: State) -> None:
        """Go on with the heading, or begin with that of the body; a ball that still rolls is braked."""
        self._path().begin_closed(state)
        self._drive().reset()
        self._control.reset()
        self._waits, self._failed, self._lost = False, "", None
        self._watch.reset()
        self._heading, self._twist, self._blind = heading_of(state), np.zeros(3), False

    def step(self, dt: float, commands: Commands, state: State) -> Motion:
        """Return the next motion."""
        drive, control = self._drive(), self._control
        velocity, notice, leg = drive.measure(state), "", self._lost_now(commands)
        if velocity is None:
            notice = "" if self._blind else _BLIND.format(unmeasured(state))
            control.reset()
            self._twist, self._waits = np.zeros(3), True
        else:
            notice = _AGAIN if self._blind else self._watch_joints(dt, state)
            if leg:
                self._waits, self._failed = True, _LOST.format(leg)
                notice = self._failed
            self._waits = self._waits and bool(commands.twist.any())
            self._twist = self._limited(dt, np.zeros(3) if self._waits else commands.twist)
            self._heading += self._twist[2] * dt
            c, s = np.cos(self._heading), np.sin(self._heading)
            control.step(dt, np.array([[c, -s], [s, c]]) @ self._twist[:2], velocity)
        self._blind = velocity is None
        text = _BLIND.format(unmeasured(state)) if self._blind else (self._failed or _AGAIN) if self._waits else ""
        self._robot.announcer.say("transform", text)
        limbs = drive.step(dt, state, control.push, level=not control.active)
        activity = "rolling" if self._twist[:2].any() else "braking" if control.moving else ""
        return Motion(limbs, twist=self._twist.copy(), heading=self._heading, activity=activity, notice=notice)

    def _watch_joints(self, dt: float, state: State) -> str:
        """Brake, and return a notice, once a joint has failed; while the ball rests, nothing shows."""
        self._failed = self._failed if self._waits else ""
        if self._waits or not self._twist.any():  # it may still turn for some ticks
            self._watch.reset()
            return ""
        joint = self._watch.step(dt, self._path().commanded(state), state.q)
        if joint is None:
            return ""
        self._waits, self._failed = True, _FAILED.format(self._robot.geometry.joint_names[joint])
        return self._failed

    def _limited(self, dt: float, twist: np.ndarray) -> np.ndarray:
        top = self._limits.max_velocity
        goal = np.clip(twist, -top, top)
        goal[:2] *= min(1.0, top[0] / max(math.hypot(*goal[:2]), 1e-9))
        if not goal[:2].any():  # brakes at once
            goal[2] = limit_change(self._twist, goal, self._limits.max_acceleration, dt)[2]
            return goal
        return limit_change(self._twist, goal, self._limits.max_acceleration, dt)
