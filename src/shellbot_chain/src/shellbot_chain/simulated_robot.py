# SPDX-License-Identifier: MIT
"""What a chain needs of the robot at its end, and the simulator as that robot."""

from __future__ import annotations

import math
import re
from collections import deque
from typing import Deque, Optional, Protocol, Sequence

import numpy as np

from shellbot_common.seed_streams import Stream, seeded
from shellbot_control import CommandFilter, JointLimits
from shellbot_description import named_pose_array, robot_profile
from shellbot_kinematics.reports import JointTargets
from shellbot_simulator.core.simulator import Simulator
from shellbot_simulator.core.state import SimState

from .chain_config import ChainConfig


class ChainRobot(Protocol):
    """The robot at the end of a `Chain`: the simulator itself, or driver and servos with the simulator behind them.

    Joint arrays are (n,), rad, in the order of `shellbot_description.driven_joint_names`.
    """

    @property
    def simulator(self) -> Simulator:
        """The rigid bodies."""

    @property
    def applied(self) -> np.ndarray:
        """The command in force."""

    @property
    def stall_torque(self) -> np.ndarray:
        """Greatest torque of each joint's servo, (n,) N m."""

    def restart(self, seed: Optional[int], pose: str = "", attitude: Optional[Sequence[float]] = None) -> None:
        """Put the robot back to its start, or to a named pose and attitude; None: no noise."""

    def measured(self, state: SimState) -> np.ndarray:
        """Return what the robot measures of its joints when `state` is true."""

    def effort(self, state: SimState) -> np.ndarray:
        """Return the torques (n,) that the robot measures of its joints when `state` is true, N m."""

    def limited(self, state: SimState, targets: JointTargets) -> Optional[np.ndarray]:
        """Return the joint targets as they leave the chain; None to hold."""

    def apply(self, command: Optional[np.ndarray]) -> None:
        """Command the robot; None holds the last command."""

    def advance(self) -> None:
        """Let 10 ms pass."""


def zero_errors(joints: Sequence[str], std_deg: float, seed: Optional[int]) -> np.ndarray:
    """Return by how much each joint reads more than it has, (n,) rad, of a standard deviation; without seed 0."""
    errors = np.zeros(len(joints))
    if seed is not None:
        errors = math.radians(std_deg) * seeded(seed, Stream.JOINT_ZEROS).standard_normal(len(joints))
    fans = [name.endswith("_fan") for name in joints]
    errors[fans] = errors[fans][:1]  # one motor
    return errors


class SimulatedRobot:
    """The simulator behind the command filter of the connector."""

    def __init__(self, urdf: str, limits: JointLimits, config: ChainConfig) -> None:
        if config.torque_scale != 1.0:  # the simulator limits torque to the effort of the URDF; gains stay
            urdf = re.sub(r'effort="([^"]+)"', lambda m: f'effort="{float(m[1]) * config.torque_scale!r}"', urdf)
        self.simulator = Simulator(urdf, robot_profile(config.variant, config.design or None), config.physics())
        self.filter = CommandFilter(limits)
        self.stall_torque = config.torque_scale * limits.effort
        self._variant = config.variant
        self._latency = config.command_latency
        self._late: Deque[Optional[np.ndarray]] = deque()
        self._offset_deg = config.joint_offset_deg
        #: rad that each joint reads more than it has: an error of its zero, (n,)
        self.joint_offset = np.zeros(len(limits.names))
        #: rad at which the servo of a joint is stuck, NaN for one that moves, (n,)
        self.stuck_at = np.full(len(limits.names), np.nan)

    @property
    def applied(self) -> np.ndarray:
        """The command in force, (n,) rad."""
        return self.simulator.applied_command

    def restart(self, seed: Optional[int], pose: str = "", attitude: Optional[Sequence[float]] = None) -> None:
        """Put the robot back to its spawn pose, or to a named pose and attitude; None: no noise."""
        q = named_pose_array(pose, self._variant) if pose else None
        self.simulator.reset(q, seed=seed, attitude=attitude)
        self.filter.reset()
        self._late = deque([None] * self._latency)
        self.joint_offset = zero_errors(self.filter.limits.names, self._offset_deg, seed)
        self.stuck_at[:] = np.nan

    def measured(self, state: SimState) -> np.ndarray:
        """Return the joints with the errors of their zeros, (n,) rad."""
        return state.q + self.joint_offset

    def effort(self, state: SimState) -> np.ndarray:
        """Return the torques of the joints, (n,) N m."""
        return state.effort

    def limited(self, state: SimState, targets: JointTargets) -> Optional[np.ndarray]:
        """Return the targets within the joints' limits and speeds, (n,) rad; None to hold."""
        self.filter.observe(self.measured(state))
        self.filter.efforts.set_stiffness(self.simulator.stiffness)
        effort = () if targets.effort is None else targets.effort
        command, _ = self.filter.apply(state.time, targets.names, targets.position, effort=effort)
        return command.position if command is not None else None

    def apply(self, command: Optional[np.ndarray]) -> None:
        """Command the servos after the latency of commands, one call a tick; None holds the last command."""
        self._late.append(command)
        command = self._late.popleft()
        if command is not None:
            command = command - self.joint_offset
            self.simulator.command(np.where(np.isnan(self.stuck_at), command, self.stuck_at))

    def advance(self) -> None:
        """Let 10 ms pass."""
        self.simulator.step_tick()
