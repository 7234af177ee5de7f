# SPDX-License-Identifier: MIT
"""What the joints are commanded: along the targets, held, or on the way to the pose "sit"."""

from __future__ import annotations

from typing import Optional

import numpy as np

from shellbot_common import Level
from shellbot_motor_driver.driving.driver_config import Setpoint
from shellbot_motor_driver.driving.motion import Motion
from shellbot_motor_driver.map.servo_map import ServoMap
from shellbot_motor_driver.safety.ladder import Phase, Reaction
from shellbot_motor_driver.safety.rungs import Rungs
from shellbot_motor_driver.safety.setpoint import SetpointGate

Array = np.ndarray
_SAT_BEFORE_OFF = 0.5  # s


class Commander:
    """Turn targets and the ladder's phase into commanded joint angles.

    Parameters
    ----------
    velocity : (n,) array
        Limits of the servos' joints, rad/s.
    config : Setpoint
        Thresholds and speeds.
    rungs : Rungs
        The ladder.

    Attributes
    ----------
    gate : SetpointGate
        Accepted targets.
    motion : Motion
        The command.
    has_targets : bool
        Whether targets came since the last arming; only then are they missed.
    sat_since : float or None
        When the pose "sit" was reached, s.
    """

    def __init__(self, servo_map: ServoMap, velocity: Array, config: Setpoint, rungs: Rungs) -> None:
        self._config, self._rungs = config, rungs
        self.gate = SetpointGate(servo_map, config)
        self.motion = Motion(servo_map.lower, servo_map.upper, velocity, config)
        joints = servo_map.joint_of_servo
        self.sit = servo_map.robot.sitting[joints]
        self._sits_from = tuple(limit[joints] for limit in servo_map.robot.sits_from())
        self._names = [servo_map.joint_names[joint] for joint in joints]
        self.has_targets = False
        self.sat_since: Optional[float] = None

    def offer(self, targets: Array, stamp: float, now: float) -> None:
        """Take targets, (n_joints,) rad, given at ``stamp``, s."""
        if self.gate.offer(targets, stamp, now):
            self.has_targets = True
            if self.gate.clamped:
                self._rungs.say("clamped", Level.WARN, self.gate.clamped)

    def expect(self, now: float) -> None:
        """Let targets be missed from now on, whether some have come or not."""
        if not self.has_targets:
            self.has_targets = True
            self.gate.stamp = now

    def forget(self) -> None:
        """Follow nothing until targets come; none are missed."""
        self.gate.reset()
        self.has_targets = False

    def arm(self) -> None:
        """Start afresh: the next targets are the first, and are approached slowly."""
        self.forget()
        self.sat_since = None
        self.motion.resume()

    def step(self, phase: Phase, dt: float, now: float, measured: Optional[Array]) -> None:
        """Move the command by one tick.

        Parameters
        ----------
        phase : Phase
            What the robot does.
        dt, now : float
            Length of the tick and present time, s.
        measured : (n,) array or None
            Where the joints are, rad; None if nothing is read.
        """
        if phase is Phase.FOLLOWING and self.gate.targets is not None:
            distance = self.motion.follow(self.gate.targets, dt)
            if distance:
                self._rungs.say("catch_up", Level.INFO, f"approaching the targets slowly: {distance:.2f} rad away")
        elif phase in (Phase.SITTING, Phase.SAT):
            self._sit_down(dt, now)
        elif phase is Phase.OFF:
            if measured is not None:
                self.motion.reset(measured)
        else:
            self.motion.hold(dt)
        if phase not in (Phase.SITTING, Phase.SAT):
            self.sat_since = None
        if phase is Phase.BUS_DOWN:
            self._switch_off("the bus is down, so the robot cannot sit", now)

    def _sit_down(self, dt: float, now: float) -> None:
        """Go to the pose "sit", or stay where the robot must not sit from; there it counts as sat."""
        position, (low, high) = self.motion.position, self._sits_from
        beyond = np.flatnonzero((position < low) | (position > high))
        if len(beyond):
            self.motion.hold(dt)
            if self.sat_since is None:
                i = beyond[0]
                text = f"{self._names[i]} is at {np.degrees(position[i]):.0f} deg, from where the robot does not sit"
                self._rungs.say("stays", Level.WARN, f"{text}: it stays as it is")
        elif not self.motion.go(self.sit, self._config.sit_speed, dt):
            return
        self.sat_since = now if self.sat_since is None else self.sat_since
        if now - self.sat_since >= _SAT_BEFORE_OFF:
            self._switch_off("sits", now)

    def _switch_off(self, why: str, now: float) -> None:
        """Let the rungs that demand it end in torque off."""
        for rung in self._rungs.all:
            if rung.reaction is Reaction.SIT_AND_OFF:
                self._rungs.set(rung.key, Reaction.OFF, f"{rung.text} ({why}, torque is off)", True, now)
