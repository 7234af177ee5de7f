# SPDX-License-Identifier: MIT
"""The physics loop of the simulator node: publish, step, wait for the command."""

from __future__ import annotations

import contextlib
import time
from typing import Any, ContextManager, Optional

import rospy
from std_msgs.msg import Float64MultiArray

from shellbot_common import TICK, Level, Notice
from shellbot_common.log_node import NodeLog
from shellbot_simulator.core.errors import CommandError, RenderError, SimulationDivergedError
from shellbot_simulator.core.simulator import Simulator

from .camera_node import Cameras
from .command_conversions import command_from_message
from .lockstep import Command, CommandGate, Phase
from .node_parameters import NodeParameters
from .obstacle_services_node import ObstacleServices
from .pacing import Pacer, RateMeter
from .pid_node import PidServers
from .sensor_conversions import TICK_NS, stamp_ns
from .state_publisher_node import StatePublisher
from .viewer import Viewer, opens_viewer
from .world_services_node import Request, WorldServices

_IDLE = 0.05  # s of wall time between looks at the requests while paused
_TORQUE_TICKS = 60  # a torque acts no longer without a newer command; the connector, which knows more, holds before


class PhysicsLoop:
    """Steps the simulator in lock-step with the controller, see docs/architecture.md, "Time".

    Parameters
    ----------
    simulator : Simulator
        The robot; it is reset here.
    parameters : NodeParameters
        The private parameters.
    """

    def __init__(self, simulator: Simulator, parameters: NodeParameters) -> None:
        self._parameters = parameters
        self._log = NodeLog("simulator")
        self._simulator = simulator
        self._state = self._simulator.reset(seed=parameters.seed_or_none)
        self._gate = CommandGate(TICK_NS)
        self._pacer = Pacer(parameters.rtf)
        self._meter = RateMeter()
        self._paused = parameters.paused
        self._published_tick: Optional[int] = None  # the tick whose command is awaited
        self._waited_since: Optional[float] = None
        self._torque_ends: Optional[int] = None  # the tick at which the torques in force are too old
        self._reported = Phase.HOLD
        self._pid = PidServers(
            simulator.profile.controller, {joint: simulator.gains(joint) for joint in simulator.joint_names}
        )
        self._publisher = StatePublisher(self._simulator)
        self._cameras = Cameras(self._simulator, parameters)
        self._services = WorldServices(self._gate.interrupt, self._serve)
        self._obstacles = ObstacleServices(self._simulator, self._services.in_loop)
        self._viewer = self._open_viewer()
        self._subscribers = [
            rospy.Subscriber(
                f"{simulator.profile.controller}/{name}",
                Float64MultiArray,
                self._on_command,
                callback_args=name == "effort",
                queue_size=10,
                tcp_nodelay=True,
            )
            for name in ("command", "effort")
        ]

    def run(self) -> None:
        """Run until the node is shut down."""
        rospy.on_shutdown(self._gate.interrupt)
        rospy.loginfo(
            f"simulator: {self._simulator.joint_count} joints, {self._simulator.mass:.3f} kg, "
            f"step {1e3 * self._simulator.config.timestep:g} ms, rtf {self._parameters.rtf:g}"
        )
        try:
            while not rospy.is_shutdown():
                self._serve_requests()
                if self._paused:
                    self._idle()
                elif self._command_is_here() and self._is_due():
                    self._tick()
        finally:
            self._cameras.close()
            if self._viewer is not None:
                self._viewer.close()

    def _tick(self) -> None:
        """Publish state k, then step with the newest command from a state before k."""
        simulator = self._simulator
        tick = self._state.tick
        self._apply_gains()
        self._gate.published(stamp_ns(tick))
        self._publisher.publish(self._state)
        self._cameras.offer(simulator)
        self._obstacles.publish(tick)
        now = time.monotonic()
        self._pacer.ticked(now, self._gate.phase is not Phase.LOCKED)
        self._meter.ticked(now)
        self._publisher.publish_diagnostics(now, self._meter.factor(now), self._gate.phase, self._parameters.rtf)
        command = self._gate.take(stamp_ns(tick - 1))
        try:
            with _lock(self._viewer):
                if command is not None:
                    (simulator.command_torque if command.is_torque else simulator.command)(command.values)
                    self._torque_ends = tick + _TORQUE_TICKS if command.is_torque else None
                elif self._torque_ends is not None and tick >= self._torque_ends:
                    self._end_torque()
                simulator.step_tick()
        except SimulationDivergedError as error:
            rospy.logfatal(f"{error}. Paused: call /gazebo/reset_simulation, then /gazebo/unpause_physics")
            self._paused = True
            return
        self._state = simulator.state()
        self._published_tick = tick
        self._refresh_viewer()

    def _end_torque(self) -> None:
        self._torque_ends = None
        self._simulator.hold()
        text = f"no command for {_TORQUE_TICKS * TICK:g} s after torques: holding the joints where they are"
        rospy.logwarn(f"simulator: {text}; is the node that sends them running?")

    def _command_is_here(self) -> bool:
        """Wait for the command of the state last published; False means: look at the requests, then come again."""
        if self._published_tick is None:
            return True
        now = time.monotonic()
        self._waited_since = now if self._waited_since is None else self._waited_since
        left = self._waited_since + self._parameters.lockstep_timeout - now
        if not self._gate.wait(stamp_ns(self._published_tick), max(0.0, left)):
            if time.monotonic() - self._waited_since >= self._parameters.lockstep_timeout:
                self._gate.give_up()
            return False
        self._waited_since = None
        self._report_phase()
        return True

    def _is_due(self) -> bool:
        """Sleep until the next tick; False if the sleep was cut short, so that requests are served."""
        delay = self._pacer.delay(time.monotonic(), self._gate.phase is not Phase.LOCKED)
        if delay > _IDLE:
            time.sleep(_IDLE)
            return False
        if delay > 0.0:
            time.sleep(delay)
        return True

    def _report_phase(self) -> None:
        phase = self._gate.phase
        if phase is self._reported:
            return
        if phase is Phase.LOCKED:
            if self._reported is Phase.HOLD:
                self._meter = RateMeter()  # until now it was real time at most
            rospy.loginfo(f"simulator: stamped commands arrive, lock-step from t = {self._state.time:.2f} s")
        elif phase is Phase.FALLBACK:
            self._simulator.hold()
            self._torque_ends = None
            rospy.logwarn(
                f"simulator: no command for t = {self._state.time - TICK:.2f} s within "
                f"{self._parameters.lockstep_timeout:g} s. Holding the last command, at no more than real time, until "
                "stamped commands come again; are the nodes from joint_states to the command running?"
            )
        self._reported = phase

    def _idle(self) -> None:
        time.sleep(_IDLE)
        self._waited_since = None
        self._pacer.restart(time.monotonic())
        self._meter = RateMeter()
        self._apply_gains()
        self._refresh_viewer()

    def _serve_requests(self) -> None:
        while True:
            carry_out = self._services.next()
            if carry_out is None:
                return
            with _lock(self._viewer):
                carry_out()
            self._follow_in_viewer()

    def _serve(self, request: Request) -> None:
        if request in (Request.PAUSE, Request.UNPAUSE):
            self._paused = request is Request.PAUSE
        elif request is Request.RESET_WORLD:
            self._simulator.reset_base()
            self._state = self._simulator.state()
        else:
            self._gate.reset()
            self._state = self._simulator.reset(seed=self._parameters.seed_or_none)
            self._published_tick = self._torque_ends = None
            self._waited_since = None
            self._reported = Phase.HOLD
        rospy.loginfo(f"simulator: {request.value} at t = {self._state.time:.2f} s")
        if request in (Request.RESET_WORLD, Request.RESET_SIMULATION):
            self._obstacles.show(self._state.tick)
            for sentence in self._simulator.overlapping_obstacles():
                rospy.logwarn(f"simulator: after the reset {sentence}; delete it")

    def _apply_gains(self) -> None:
        for joint, gains in self._pid.take_changes().items():
            self._simulator.set_gains(
                joint, gains.p, gains.i, gains.d, gains.i_clamp_min, gains.i_clamp_max, gains.antiwindup
            )

    def _on_command(self, message: Float64MultiArray, is_torque: bool) -> None:
        try:
            values, stamp = command_from_message(message, self._simulator.joint_names)
        except CommandError as error:
            self._log(Notice("command", Level.ERROR, str(error)))
            return
        refusal = self._gate.offer(Command(values, is_torque), stamp)
        if refusal:
            self._log(Notice("command", Level.WARN, refusal))

    def _open_viewer(self) -> Optional[Viewer]:
        if not opens_viewer(self._parameters.viewer):
            return None
        try:
            return Viewer(self._simulator)
        except RenderError as error:
            rospy.logerr(f"simulator: {error}")
            return None

    def _follow_in_viewer(self) -> None:
        if self._viewer is None:
            return
        try:
            self._viewer.follow(self._simulator)
        except RenderError as error:
            rospy.logerr(f"simulator: {error}")
            self._viewer = None

    def _refresh_viewer(self) -> None:
        if self._viewer is not None and not self._viewer.refresh():
            rospy.loginfo("simulator: the window was closed; the robot goes on without it")
            self._viewer = None


def _lock(viewer: Optional[Viewer]) -> ContextManager[Any]:
    return viewer.lock() if viewer is not None else contextlib.nullcontext()
