# SPDX-License-Identifier: MIT
"""The whole chain in one process, without ROS: action manager, kinematics, odometry, and a robot at its end."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable, Optional, Sequence, Tuple

import numpy as np

from robot_evaluation.errors import DefinitionError
from robot_evaluation.trace import Trace, TraceRecorder
from robot_mechanics.errors import KinematicsError
from shellbot_action_manager.body.geometry import load_geometry
from shellbot_action_manager.config import load_config as load_action_config
from shellbot_action_manager.core import ActionManagerCore
from shellbot_action_manager.errors import ActionManagerError
from shellbot_action_manager.estimation.imu_input import ImuInput
from shellbot_action_manager.estimation.odometry import OdometryCore, OdometryState
from shellbot_action_manager.interface import ActionOutput, Feedback, OperatorCommands
from shellbot_common import TICK
from shellbot_common.performance import Outcome
from shellbot_control import ControlError, JointLimits
from shellbot_description import DescriptionError, driven_joint_names, expand
from shellbot_kinematics.reference_packing import pack_references
from shellbot_kinematics.solver import ShellbotSolver
from shellbot_simulator.core.errors import SimulatorError
from shellbot_simulator.core.simulator import Simulator
from shellbot_simulator.core.state import SimState

from .chain_config import MODE_LIMIT_S, ChainConfig
from .errors import ChainError, MissionFailed
from .simulated_robot import ChainRobot, SimulatedRobot

CORE_ERRORS = (ActionManagerError, ControlError, DescriptionError, KinematicsError, SimulatorError)
WALKING_LIMIT_S = 120.0  # of simulated time that `walk` waits for `until`


class Chain:
    """Ticks the same cores as the nodes, in the same order and with the same latency.

    At tick k the state s_k is measured; action manager, solver and filter turn it into command c_k; the physics then
    steps with c_(k-1), because on the wire c_k is still under way. The chain is deterministic: the same configuration
    and calls give the same numbers.

    Parameters
    ----------
    config : ChainConfig, optional
        What to build.
    robot : ChainRobot, optional
        What stands at the end of the chain; a `SimulatedRobot` by default.
    **changes
        Fields of ChainConfig to set, e.g. ``Chain(seed=3, friction=0.7)``.

    Raises
    ------
    DefinitionError
        If a core refuses its part of the configuration; the message is the core's.

    Attributes
    ----------
    robot, solver, manager, imu, odometry
        The robot and the cores, for experiments that change them between ticks.
    state : SimState
        The newest ground truth and measurement.
    output : ActionOutput or None
        What the action manager reported at the last tick.
    estimate : OdometryState or None
        What odometry reported at the last tick.
    commands : OperatorCommands
        What the operator wants; a twist must be renewed by `command_twist` before it gets old.
    """

    def __init__(
        self, config: Optional[ChainConfig] = None, robot: Optional[ChainRobot] = None, **changes: Any
    ) -> None:
        self.config = (config or ChainConfig()).replace(**changes)
        try:
            urdf = expand(self.config.variant, variables=self.config.design or None)
            self.limits = JointLimits.from_urdf(urdf, driven_joint_names(self.config.variant))
            self.robot = robot if robot is not None else SimulatedRobot(urdf, self.limits, self.config)
            self.solver = ShellbotSolver(urdf)
            settings = load_action_config(
                gait=self.config.gait,
                start_mode=self.config.start_mode,
                action_folders=self.config.action_folders,
            )
            if self.config.rolling is not None:
                settings = settings.replace(rolling=self.config.rolling)
            self.manager = ActionManagerCore(settings, load_geometry(self.config.variant, self.config.design or None))
            if self.config.feed_forward is not None:
                feed_forward = self.manager.config.feed_forward.replace(gravity=self.config.feed_forward)
                self.manager.feed(feed_forward)
            attitude, latency = self.manager.config.attitude, self.config.attitude_latency
            self.imu = ImuInput(attitude if latency is None else attitude.replace(latency=latency))
            self.odometry = OdometryCore(self.manager.config)
        except CORE_ERRORS as error:
            raise DefinitionError(str(error)) from error
        self.joint_names: Tuple[str, ...] = self.limits.names
        self._recorder = TraceRecorder(self.joint_names)
        self.reset()

    def reset(self, seed: Optional[int] = None, pose: str = "", attitude: Optional[Sequence[float]] = None) -> None:
        """Start again at time zero; every core forgets.

        Parameters
        ----------
        seed : int, optional
            Replaces the configuration's.
        pose : str
            Named pose of the description to start in; empty: the spawn pose.
        attitude : (4,) sequence of float, optional
            Quaternion x, y, z, w of base_link to start with; upright if not given.
        """
        if seed is not None:
            self.config = self.config.replace(seed=seed)
        self.robot.restart(self.config.seed, pose, attitude)
        for core in (self.solver, self.manager, self.imu, self.odometry):
            core.reset()
        self.state: SimState = self.simulator.state()
        self.output: Optional[ActionOutput] = None
        self.commands = OperatorCommands()
        self._pending: Optional[np.ndarray] = None
        self.estimate: Optional[OdometryState] = None
        self.odom: Tuple[float, float, float] = (math.nan, math.nan, math.nan)
        """The robot's own estimate: x, y in m, yaw in rad; NaN before the first tick"""
        self._last_time: Optional[float] = None
        self._recorder.clear()

    @property
    def simulator(self) -> Simulator:
        """The rigid bodies: ground truth, pushes, friction."""
        return self.robot.simulator

    @property
    def time(self) -> float:
        """Simulated time of the newest state, s."""
        return self.state.time

    @property
    def mode(self) -> str:
        """Name of the mode at the last tick."""
        return self.output.mode.name if self.output is not None else "waiting"

    @property
    def target(self) -> str:
        """Name of the mode that the robot is on its way to, or in, at the last tick."""
        return self.output.mode.target.label if self.output is not None else "waiting"

    @property
    def step(self) -> str:
        """Name of the present step of a transition between modes; empty at rest in a mode."""
        return self.output.mode.step if self.output is not None else ""

    def command_twist(self, twist: Sequence[float]) -> None:
        """Send a velocity command now: forward m/s, leftward m/s, turning rad/s."""
        self.commands = dataclasses.replace(self.commands, twist=np.array(twist, dtype=float), twist_time=self.time)

    def command_body_pose(self, body_pose: Sequence[float]) -> None:
        """Send a body pose now: x, y, z in m, roll, pitch, yaw in rad from the rest pose."""
        self.commands = dataclasses.replace(self.commands, body_pose=np.array(body_pose, dtype=float))

    def request_mode(self, name: str) -> Tuple[bool, str]:
        """Ask for a mode; returns whether it was accepted and a sentence."""
        return self.manager.request_mode(name)

    def tick(self) -> SimState:
        """Advance by 10 ms and return the new state."""
        state, output = self.state, self._think()
        applied, self._pending = self._pending, self._target
        self.robot.apply(applied)
        if self.config.record:
            self._record(state, output)
        try:
            self.robot.advance()
        except SimulatorError as error:
            raise ChainError(f"at simulated {self.time:.2f} s: {error}") from error
        self.state = self.simulator.state()
        return self.state

    def run(self, seconds: float, each_tick: Optional[Callable[[Chain], None]] = None) -> None:
        """Tick for `seconds` of simulated time with the present commands; `each_tick` is called before each tick."""
        for _ in range(int(round(seconds / TICK))):
            if each_tick is not None:
                each_tick(self)
            self.tick()

    def stand_up(self, limit_s: float = MODE_LIMIT_S) -> None:
        """Tick until the robot is at rest in mode hexapod, and half a second more.

        Raises
        ------
        MissionFailed
            If it is not there in time; with what the action manager reported last.
        """
        reason, end = "", self.time + limit_s
        while True:
            if self.mode == self.target == "hexapod" and not self.step:
                break
            if self.time > end:
                mode_text = self.output.mode.text if self.output is not None else "nothing"
                raise MissionFailed(f"not standing after {limit_s:g} s: mode {self.mode}, {mode_text} {reason}".strip())
            if self.target not in ("hexapod", "waiting"):
                _, reason = self.request_mode("hexapod")
            self.tick()
        self.run(0.5)

    def walk(
        self,
        twist: Sequence[float],
        seconds: Optional[float] = None,
        until: Optional[Callable[[Chain], bool]] = None,
        settle: bool = True,
    ) -> None:
        """Hold a velocity command for a time or until a condition is met, then stop and settle for 1.5 s.

        Parameters
        ----------
        twist : (3,) sequence
            Forward m/s, leftward m/s, turning rad/s.
        seconds : float, optional
            How long.
        until : callable, optional
            Called with this chain at each tick; walking ends when it returns True.
        settle : bool
            False: return while the robot still walks.

        Raises
        ------
        DefinitionError
            If neither an end by time nor by condition is given.
        MissionFailed
            If the condition is not met within two minutes.
        """
        if seconds is None and until is None:
            raise DefinitionError("walk needs an end: give seconds or until")
        end = self.time + (seconds if seconds is not None else WALKING_LIMIT_S)
        while self.time < end - 0.5 * TICK and not (until is not None and until(self)):
            self.command_twist(twist)
            self.tick()
        if seconds is None and self.time >= end - 0.5 * TICK:
            raise MissionFailed(f"walking {tuple(twist)} did not meet its end within {WALKING_LIMIT_S:g} s")
        if settle:
            self.command_twist((0.0, 0.0, 0.0))
            self.run(1.5)

    def perform(
        self, name: str, speed: float = 1.0, each_tick: Optional[Callable[[Chain], None]] = None, **parameters: float
    ) -> None:
        """Perform an action of the library and tick until it has ended and the robot is at rest in its mode.

        Parameters
        ----------
        name : str
            Of the action.
        speed : float
            Fraction of the speed that the limits allow.
        each_tick : callable, optional
            Called with this chain after each tick.
        **parameters
            Of the action, those that differ from their defaults.

        Raises
        ------
        MissionFailed
            If it is refused, or ends before its end; with the reason.
        """
        accepted, reason = self.manager.perform(name, parameters, speed)
        if not accepted:
            raise MissionFailed(f"{name} refused: {reason}")
        performer = self.manager.performer
        while performer.active or self.step:
            self.tick()
            if each_tick is not None:
                each_tick(self)
        status = performer.status
        assert status is not None
        if status.outcome is not Outcome.SUCCEEDED:
            raise MissionFailed(f"{name} did not end: {status.text}")

    def trace(self) -> Trace:
        """Return everything recorded since the reset.

        Raises
        ------
        ChainError
            If nothing was recorded.
        """
        if not self.config.record:
            raise ChainError("this chain does not record; build it with record=True")
        return self._recorder.trace()

    def _think(self) -> ActionOutput:
        state = self.state
        dt = 0.0 if self._last_time is None else state.time - self._last_time
        self._last_time = state.time
        measured, sample = self.robot.measured(state), state.imu
        self.imu.receive(state.time, sample.orientation, sample.angular_velocity, sample.specific_force)
        imu = self.imu.read(state.time)
        pose = None if self.estimate is None else np.array(self.odom)
        feedback = Feedback(measured, imu.orientation, imu.angular_velocity, pose, self.robot.effort(state))
        output = self.manager.step(state.time, self.commands, feedback)
        self.output = output
        self._target: Optional[np.ndarray] = None
        if output.references is not None:
            references = pack_references(output.references)
            self._target = self.robot.limited(state, self.solver.solve(references, measured, dt))
        if output.contacts is not None:
            self.estimate = self.odometry.step(state.time, output.contacts, imu)
            self.odom = (self.estimate.x, self.estimate.y, self.estimate.yaw)
        return output

    def _record(self, state: SimState, output: ActionOutput) -> None:
        truth, contacts = state.contacts.foot_contact, output.contacts
        # of the feet only: a ball's contacts are others
        estimated = contacts.in_contact if contacts is not None and contacts.model == "feet" else np.zeros_like(truth)
        self._recorder.append(
            t=state.time,
            p_world_base=state.p_world_base,
            q_world_base=state.quat_world_base,
            odom=self.odom,
            joint_position=state.q,
            joint_velocity=state.dq,
            joint_effort=state.effort,
            step_effort=state.step_effort,
            step_velocity=state.step_velocity,
            joint_target=self.robot.applied,
            contact_truth=truth,
            contact_estimated=estimated,
            lowest_foot_z=float(state.foot_height.min()),
        )
