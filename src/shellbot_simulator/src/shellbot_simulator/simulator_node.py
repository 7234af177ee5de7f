# SPDX-License-Identifier: MIT
"""The simulator node: the physics loop between Gazebo's and ros_control's names."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import time
from typing import Any, ContextManager, Dict, Optional

import rospy
from std_msgs.msg import Float64MultiArray

from .camera_node import Camera
from .command_conversions import command_from_message
from .config import load_config
from .errors import CommandError, RenderError, SimulationDivergedError, SimulatorError
from .lockstep import CommandGate, Phase
from .node_parameters import NodeParameters, from_mapping, joint_gains
from .pacing import Pacer, RateMeter
from .pid_node import PidServers
from .robot_profile import RobotProfile
from .sensor_conversions import TICK_NS, stamp_ns
from .shellbot_profile import shellbot_profile, variant_of
from .simulator import Simulator
from .state_publisher_node import StatePublisher
from .viewer import Viewer, wants_viewer
from .world_services_node import Request, WorldServices

CONTROLLER = "shellbot_legs_controller"
_IDLE = 0.05  # s of wall time between looks at the requests while paused


class SimulatorNode:
    """Steps the simulator in lock-step with the controller, see docs/architecture.md, "Time".

    Parameters
    ----------
    parameters : NodeParameters
        The private parameters.
    urdf_text : str
        The robot description.
    controller : dict
        The parameters below `shellbot_legs_controller`.
    """

    def __init__(self, parameters: NodeParameters, urdf_text: str, controller: Dict[str, Any]) -> None:
        self._parameters = parameters
        self._simulator = _build_simulator(parameters, urdf_text, controller)
        self._state = self._simulator.reset(seed=parameters.seed_or_none)
        self._gate = CommandGate(TICK_NS)
        self._pacer = Pacer(parameters.rtf)
        self._meter = RateMeter()
        self._paused = parameters.paused
        self._published_tick: Optional[int] = None  # the tick whose command is awaited
        self._waited_since: Optional[float] = None
        self._reported = Phase.HOLD
        self._pid = PidServers(CONTROLLER, self._simulator.joint_names, self._simulator.profile.gains)
        self._publisher = StatePublisher(self._simulator)
        self._camera = Camera(self._simulator, parameters)
        self._services = WorldServices(self._gate.interrupt)
        self._viewer = self._open_viewer()
        self._subscriber = rospy.Subscriber(
            f"{CONTROLLER}/command", Float64MultiArray, self._on_command, queue_size=10, tcp_nodelay=True
        )

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
            self._camera.close()
            if self._viewer is not None:
                self._viewer.close()

    def _tick(self) -> None:
        """Publish state k, then step with the newest command from a state before k."""
        simulator = self._simulator
        tick = self._state.tick
        self._apply_gains()
        self._gate.published(stamp_ns(tick))
        self._publisher.publish(self._state)
        self._camera.offer(simulator)
        now = time.monotonic()
        self._pacer.ticked(now, self._gate.phase is not Phase.LOCKED)
        self._meter.ticked(now)
        self._publisher.publish_diagnostics(now, self._meter.factor(now), self._gate.phase, self._parameters.rtf)
        command = self._gate.take(stamp_ns(tick - 1))
        try:
            with _lock(self._viewer):
                if command is not None:
                    simulator.command(command)
                simulator.step_tick()
        except SimulationDivergedError as error:
            rospy.logfatal(f"{error}. Paused at t = {self._state.time:.2f} s: call /gazebo/reset_simulation and /gazebo/unpause_physics")
            self._paused = True
            return
        self._state = simulator.state()
        self._published_tick = tick
        self._refresh_viewer()

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
            rospy.loginfo(f"simulator: stamped commands arrive, lock-step from t = {self._state.time:.2f} s")
        elif phase is Phase.FALLBACK:
            rospy.logwarn(
                f"simulator: no command for t = {self._state.time - 0.01:.2f} s within {self._parameters.lockstep_timeout:g} s. Holding the "
                "last command, at no more than real time, until stamped commands come again; is the controller's chain running?"
            )
        self._reported = phase

    def _idle(self) -> None:
        time.sleep(_IDLE)
        self._waited_since = None
        self._pacer.restart(time.monotonic())
        self._apply_gains()
        self._refresh_viewer()

    def _serve_requests(self) -> None:
        while True:
            entry = self._services.next()
            if entry is None:
                return
            request, done = entry
            with _lock(self._viewer):
                self._serve(request)
            rospy.loginfo(f"simulator: {request.value} at t = {self._state.time:.2f} s")
            done.set()

    def _serve(self, request: Request) -> None:
        if request in (Request.PAUSE, Request.UNPAUSE):
            self._paused = request is Request.PAUSE
        elif request is Request.RESET_WORLD:
            self._simulator.reset_base()
            self._state = self._simulator.state()
        else:
            self._gate.reset()
            self._state = self._simulator.reset(seed=self._parameters.seed_or_none)
            self._published_tick = None
            self._waited_since = None
            self._reported = Phase.HOLD

    def _apply_gains(self) -> None:
        for joint, gains in self._pid.take_changes().items():
            self._simulator.set_gains(joint, gains.p, gains.i, gains.d, gains.i_clamp_min, gains.i_clamp_max, gains.antiwindup)

    def _on_command(self, message: Float64MultiArray) -> None:
        try:
            position, stamp = command_from_message(message, self._simulator.joint_names)
        except CommandError as error:
            rospy.logerr_throttle(1.0, str(error))
            return
        refusal = self._gate.offer(position, stamp)
        if refusal:
            rospy.logwarn_throttle(1.0, f"simulator: {refusal}")

    def _open_viewer(self) -> Optional[Viewer]:
        if not wants_viewer(self._parameters.viewer):
            return None
        try:
            return Viewer(self._simulator)
        except RenderError as error:
            rospy.logerr(f"simulator: {error}")
            return None

    def _refresh_viewer(self) -> None:
        if self._viewer is not None and not self._viewer.refresh():
            rospy.loginfo("simulator: the window was closed; the robot goes on without it")
            self._viewer = None


def main() -> None:
    """Run the node."""
    # rospy's own subscription to /clock would cost this node a round trip through the network per tick, of a time it makes itself
    rospy.init_node("simulator", disable_rostime=True)
    try:
        if not rospy.get_param("/use_sim_time", False):
            raise SimulatorError(
                "the parameter /use_sim_time is not true, so the other nodes would run in wall time: "
                "set it before the nodes start (rosparam set /use_sim_time true, or <param> in the launch file)"
            )
        urdf_text = rospy.get_param("robot_description", "")
        if not urdf_text:
            raise SimulatorError(
                f"the parameter {rospy.resolve_name('robot_description')} is missing: load it with shellbot_description's launch file"
            )
        node = SimulatorNode(from_mapping(rospy.get_param("~", {})), urdf_text, rospy.get_param(CONTROLLER, {}))
    except SimulatorError as error:
        rospy.logfatal(f"simulator: {error}")
        sys.exit(1)
    node.run()


def _build_simulator(parameters: NodeParameters, urdf_text: str, controller: Dict[str, Any]) -> Simulator:
    """Build the simulator with the controller's joints and gains.

    Raises
    ------
    SimulatorError
        If description, controller and settings do not fit together.
    """
    config = load_config(parameters.config or None)
    if parameters.friction:
        config = config.replace(friction=parameters.friction)
    found, wanted = variant_of(urdf_text), parameters.variant
    if wanted not in ("auto", found) and (wanted, found) != ("full", "simulation"):
        raise SimulatorError(f"~variant is {wanted}, but robot_description is {found}: give both launch files the same variant")
    profile = shellbot_profile(urdf_text)
    joints = controller.get("joints", [])
    if not joints:
        rospy.logwarn(f"simulator: no parameter {CONTROLLER}/joints; taking the order of the description (load controllers.yaml)")
    elif tuple(joints) != profile.joint_names:
        raise SimulatorError(
            f"{CONTROLLER}/joints ({len(joints)} joints) is not the order of the description ({len(profile.joint_names)} joints): "
            "load robot_description and controllers.yaml of the same variant"
        )
    gains, missing = joint_gains(controller, profile.joint_names, profile.gains)
    if missing:
        rospy.logwarn(
            f"simulator: no gains for {missing[0]}{f' and {len(missing) - 1} more' if missing[1:] else ''} under {CONTROLLER}/<joint>/pid; "
            "taking the servos' own stiffness"
        )
    return Simulator(urdf_text, config, _with_gains(profile, gains))


def _with_gains(profile: RobotProfile, gains: Any) -> RobotProfile:
    return dataclasses.replace(profile, gains=gains)


def _lock(viewer: Optional[Viewer]) -> ContextManager[Any]:
    return viewer.lock() if viewer is not None else contextlib.nullcontext()
