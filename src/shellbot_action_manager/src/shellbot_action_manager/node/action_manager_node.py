# SPDX-License-Identifier: MIT
"""Node `action_manager`: what the operator commands in, limb_references out; a tick is the arrival of joint_states."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import rospy
from diagnostic_msgs.msg import DiagnosticArray
from dynamic_reconfigure.server import Server
from geometry_msgs.msg import Pose, Twist, Vector3
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String, UInt8MultiArray

from shellbot_action_manager.body.geometry import RobotGeometry, load_geometry
from shellbot_action_manager.config import ActionManagerConfig, load_config
from shellbot_action_manager.core import ActionManagerCore
from shellbot_action_manager.errors import ActionManagerError
from shellbot_action_manager.estimation.lost_servos import LostServos
from shellbot_action_manager.gait.gait_page import feed_forward_from_page, gait_page, gaits_from_page, page_from_gaits
from shellbot_action_manager.interface import ActionOutput, Feedback, OperatorCommands
from shellbot_action_manager.modes.mode_machine import ModeStatus
from shellbot_action_manager.node import action_manager_conversions as conversions
from shellbot_action_manager.node.diagnostics_conversions import diagnostics_message
from shellbot_action_manager.node.imu_node import ImuListener, with_imu_latency
from shellbot_action_manager.node.memory_node import NodeMemory
from shellbot_action_manager.node.perform_action_node import PerformActionServer
from shellbot_common import Level, Notice, Stamp, classify_stamp
from shellbot_common.init_node import init_node
from shellbot_common.log_node import NodeLog
from shellbot_common.operator_interface_node import OperatorInterface
from shellbot_common.publisher_node import Publisher
from shellbot_kinematics.limb_references_conversions import references_to_message
from shellbot_msgs.msg import Contacts, Footsteps, LimbReferences, ServoStates, UpperShells, Walkspace
from shellbot_msgs.msg import Mode as ModeMsg
from shellbot_msgs.srv import RequestMode, RequestModeRequest, RequestModeResponse

SILENCE = 10  # s of wall clock without joint_states before it is reported: a driver's start takes some
ODOMETRY_AGE = 0.5  # s: an older odometry says nothing, but to the first tick that finds the robot
ODOMETRY_WAIT = 0.5  # s of wall clock, at the start, for the latched odometry
FOOTSTEPS_PERIOD = 0.05  # s between two messages of planned footsteps
PROGRESS_STEP = 0.05  # the latched mode is sent again when its progress grew by this


class ActionManagerNode:
    """Runs the core at each joint_states; there is no timer that could delay a tick."""

    def __init__(self, config: ActionManagerConfig, geometry: RobotGeometry) -> None:
        self._core, self._memory = ActionManagerCore(config, geometry), NodeMemory("~memory")
        self._measured = conversions.MeasuredJoints(geometry.joint_names)
        self._lock = threading.RLock()
        self._log = NodeLog("action_manager")
        self._commands = OperatorCommands(gait=config.gait)
        self._imu = ImuListener(config.attitude)
        self._lost_servos = LostServos()
        self._lost_by_hand: Tuple[int, ...] = ()
        self._lost_by_servos: Tuple[int, ...] = ()
        self._odometry: Tuple[float, Optional[np.ndarray]] = (-np.inf, None)  # stamp, x, y, yaw
        with suppress(rospy.ROSException):  # the last one of before a restart: a ball goes on with its heading
            self._on_odometry(rospy.wait_for_message("odom", Odometry, ODOMETRY_WAIT))
        self._time = -np.inf
        self._stopped = False
        self._published: Optional[ModeStatus] = None
        self._limits: Optional[Walkspace] = None
        self._ticks, self._durations = 0, [0.0]
        self._footsteps_time = -np.inf
        nodelay = {"queue_size": 1, "tcp_nodelay": True}
        self._references_pub = Publisher("limb_references", LimbReferences, **nodelay)
        self._contacts_pub = Publisher("foot_contacts", Contacts, **nodelay)
        self._footsteps_pub = Publisher("footsteps", Footsteps, queue_size=1)
        self._mode_pub = Publisher("mode", ModeMsg, queue_size=5, latch=True)
        self._walkspace_pub = Publisher("walkspace", Walkspace, queue_size=1, latch=True)
        self._diagnostics_pub = Publisher("/diagnostics", DiagnosticArray, queue_size=1)
        self._operator = OperatorInterface(self._stop_driving)
        self._service = rospy.Service("request_mode", RequestMode, self._on_request)
        self._actions = PerformActionServer(self._core, self._lock, self._operator)
        self._page = Server(gait_page(config.gaits, config.feed_forward), self._on_gait_page)
        self._subscribers: List[rospy.Subscriber] = [
            rospy.Subscriber("stopped", Bool, self._on_stopped, queue_size=5),
            rospy.Subscriber("gait", String, self._on_gait, queue_size=5),
            rospy.Subscriber("body_pose", Pose, self._on_body_pose, queue_size=1, tcp_nodelay=True),
            rospy.Subscriber("upper_shells", UpperShells, self._on_upper_shells, queue_size=1),
            rospy.Subscriber("foot_velocity", Vector3, self._on_foot_velocity, queue_size=1, tcp_nodelay=True),
            rospy.Subscriber("lost_legs", UInt8MultiArray, self._on_lost_legs, queue_size=5),
            rospy.Subscriber("servo_states", ServoStates, self._on_servo_states, queue_size=1),
            rospy.Subscriber("odom", Odometry, self._on_odometry, queue_size=1, tcp_nodelay=True),
            rospy.Subscriber("cmd_vel", Twist, self._on_cmd_vel, queue_size=1, tcp_nodelay=True),
            rospy.Subscriber("joint_states", JointState, self._on_joint_states, queue_size=1, tcp_nodelay=True),
        ]

    def run(self) -> None:
        """Publish diagnostics once a second of wall clock until shutdown, also while the simulation is paused."""
        self._actions.announce()
        silent = 0  # s
        for _ in self._log.each_second():
            with self._lock:
                ticks, self._ticks = self._ticks, 0
                durations, self._durations = self._durations, [0.0]
                status, stamp, payload = self._published, self._time, self._core.payload.latest
                memory = self._core.memory
            if ticks:
                self._memory.store(memory)
                self._imu.remember()
            silent = 0 if ticks or status is not None else silent + 1
            if silent == SILENCE:  # at every start the robot takes a moment longer than this node
                rospy.logwarn(
                    f"action_manager: waiting for {rospy.resolve_name('joint_states')}; start a simulator or the driver"
                )
            message = diagnostics_message(rospy.get_name(), stamp, ticks, max(durations), status, payload)
            self._diagnostics_pub.publish(message)

    def _on_joint_states(self, message: JointState) -> None:
        start = time.perf_counter()
        with self._lock:
            stamp, t = message.header.stamp, message.header.stamp.to_sec()
            kind = classify_stamp(self._time, t)
            if kind is Stamp.LATE:
                return
            if kind is Stamp.RESET:
                rospy.logwarn("action_manager: the clock went back, the simulation was reset; starting anew")
                self._commands = OperatorCommands(gait=self._commands.gait, lost_legs=self._commands.lost_legs)
            if kind is Stamp.FIRST:
                self._core.resume(self._memory.before, t)
            feedback = self._feedback(message, t)
            self._time = t
            output = self._core.step(t, self._commands, feedback)
            if output.references is not None:
                self._references_pub.publish(references_to_message(output.references, stamp))
            if output.contacts is not None:
                self._contacts_pub.publish(conversions.contacts_to_message(output.contacts, stamp))
            self._publish_changes(output, stamp)
            self._publish_footsteps(t, stamp)
            self._ticks += 1
            self._durations.append(time.perf_counter() - start)
        self._actions.report(t)
        if output.notice:
            self._log(Notice("core", Level.WARN, output.notice))

    def _feedback(self, message: JointState, t: float) -> Feedback:
        imu = self._imu.read(t)
        if imu.orientation is None and self._core.twist.any():
            self._log(Notice("imu", Level.WARN, "no attitude on imu/data; walking without holding the heading"))
        stamp, pose = self._odometry
        starts = self._core.motion is None and stamp <= t  # also where the first joint_states lack a joint
        known = starts or abs(t - stamp) <= ODOMETRY_AGE  # that of before a reset is from later
        q, effort = self._measured.positions(message), self._measured.efforts(message)
        return Feedback(q, imu.orientation, imu.angular_velocity, pose if known else None, effort)

    def _publish_changes(self, output: ActionOutput, stamp: rospy.Time) -> None:
        """Send the latched topics when something changed."""
        new, published = output.mode, self._published
        if (
            published is None
            or replace(new, progress=0.0) != replace(published, progress=0.0)
            or abs(new.progress - published.progress) >= PROGRESS_STEP
        ):
            changed = published is None or (new.mode, new.target, new.text) != (
                published.mode,
                published.target,
                published.text,
            )
            if changed and " refused: " not in new.text:  # a refusal was logged where it was made
                rospy.loginfo(f"action_manager: {new.name}: {new.text}")
            self._published = new
            self._mode_pub.publish(conversions.mode_to_message(new, stamp))
        if output.walkspace is not self._limits:
            self._limits = output.walkspace
            self._walkspace_pub.publish(conversions.walkspace_to_message(output.walkspace, self._core.gaits, stamp))

    def _publish_footsteps(self, t: float, stamp: rospy.Time) -> None:
        """Send the planned footsteps now and then, if they are subscribed to."""
        due = abs(t - self._footsteps_time) >= FOOTSTEPS_PERIOD - 1e-6  # also after a reset
        if due and self._footsteps_pub.get_num_connections():
            self._footsteps_time = t
            self._footsteps_pub.publish(conversions.footsteps_to_message(self._core.footsteps, stamp))

    def _on_request(self, request: RequestModeRequest) -> RequestModeResponse:
        reason = self._operator.refusal(request)
        with self._lock:
            accepted, reason = (False, reason) if reason else self._core.request_mode(request.mode)
            mode = self._core.mode.label
        if not accepted:  # what is accepted becomes the mode's text, which is logged when it changes
            rospy.logwarn(f"action_manager: request '{request.mode}' refused: {reason}")
        return RequestModeResponse(accepted=accepted, reason=reason, mode=mode)

    def _on_stopped(self, message: Bool) -> None:
        with self._lock:
            (self._core.emergency_stop if message.data else self._core.rearm)()

    def _on_cmd_vel(self, message: Twist) -> None:
        twist = conversions.twist_to_array(message)
        if self._operator.accepts_motion(message, bool(twist.any())):
            with self._lock:
                self._commands = replace(self._commands, twist=twist, twist_time=self._time)

    def _stop_driving(self) -> None:
        """Let no velocity count any longer: who commanded it is gone. The robot brakes as at the end of a stream."""
        with self._lock:
            self._commands = replace(self._commands, twist_time=-np.inf, foot_velocity_time=-np.inf)

    def _on_odometry(self, message: Odometry) -> None:
        with self._lock:
            self._odometry = (message.header.stamp.to_sec(), conversions.odometry_to_pose(message))

    def _on_foot_velocity(self, message: Vector3) -> None:
        velocity = np.array([message.x, message.y, message.z])
        if self._operator.accepts_motion(message, bool(velocity.any())):
            with self._lock:
                self._commands = replace(self._commands, foot_velocity=velocity, foot_velocity_time=self._time)

    def _on_body_pose(self, message: Pose) -> None:
        if self._operator.accepts(message):
            with self._lock:
                self._commands = replace(self._commands, body_pose=conversions.body_pose_to_array(message))

    def _on_upper_shells(self, message: UpperShells) -> None:
        shells = np.array([message.sphere_centre_height, message.opening_angle])
        if self._operator.accepts(message):
            with self._lock:
                self._commands = replace(self._commands, upper_shells=shells)

    def _on_gait(self, message: String) -> None:
        if self._operator.accepts(message):
            with self._lock:
                self._commands = replace(self._commands, gait=message.data)

    def _on_lost_legs(self, message: UInt8MultiArray) -> None:
        try:
            lost = conversions.lost_legs(message)
        except ValueError as error:
            rospy.logwarn(f"action_manager: {error}")
            return
        with self._lock:
            self._lost_by_hand = lost
            self._lose_legs()

    def _on_servo_states(self, message: ServoStates) -> None:
        servos = [(servo.joint, servo.age, servo.torque_enabled) for servo in message.servos]
        with self._lock:
            self._lost_by_servos = self._lost_servos.update(message.header.stamp.to_sec(), servos)
            self._lose_legs()

    def _lose_legs(self) -> None:
        lost = tuple(sorted({*self._lost_by_hand, *self._lost_by_servos}))
        self._commands = replace(self._commands, lost_legs=lost)

    def _on_gait_page(self, page: Dict[str, Any], _level: int) -> Dict[str, Any]:
        with self._lock:
            try:
                gaits = gaits_from_page(page, self._core.gaits)
                self._core.feed(feed_forward_from_page(page, self._core.config.feed_forward))
                self._core.change_gaits(gaits)
            except ActionManagerError as error:
                rospy.logwarn(f"action_manager: page of gaits refused, nothing changed: {error}")
                page.update(page_from_gaits(self._core.gaits, self._core.config.feed_forward))
        return page


def main() -> None:
    """Run the node."""
    # Time comes with joint_states; /clock at every tick would only cost processor time.
    init_node("action_manager", disable_rostime=True)
    try:
        config = load_config(
            path=rospy.get_param("~settings_file", "") or None,
            gaits_path=rospy.get_param("~gaits_file", "") or None,
            modes_path=rospy.get_param("~modes_file", "") or None,
            gait=str(rospy.get_param("~gait", "tripod")),
            start_mode=str(rospy.get_param("~start_mode", "hexapod")),
            action_folders=[folder for folder in str(rospy.get_param("~action_folders", "")).split(":") if folder],
        )
        config = with_imu_latency(config)
        geometry = load_geometry(
            str(rospy.get_param("~variant", "simulation")), str(rospy.get_param("~variables", "")) or None
        )
    except ValueError as error:  # of this package or the description
        rospy.logfatal(f"action_manager: {error}")
        sys.exit(1)
    ActionManagerNode(config, geometry).run()
