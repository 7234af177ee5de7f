# SPDX-License-Identifier: MIT
"""Node `snake_motion`: requests and joint_states in, joint_targets, mode and odometry out, at each joint_states."""

from __future__ import annotations

import math
import sys
import threading
from typing import Optional, Tuple

import rospy
from geometry_msgs.msg import PoseStamped, Twist
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Bool, String

from shellbot_common import Level, Notice, RobotProfile, SettingsError
from shellbot_common.init_node import init_node
from shellbot_common.log_node import NodeLog
from shellbot_common.motion_conversions import pose_in_odom, targets_message
from shellbot_common.operator_interface_node import OperatorInterface
from shellbot_common.parameters_node import wait_for_parameters
from shellbot_common.publisher_node import Publisher
from shellbot_common.robot_profile import PARAMETER
from shellbot_common.transforms_node import TransformBroadcaster
from shellbot_control import ConfigurationError, JointOrder, TargetsError
from shellbot_msgs.msg import Mode, ReferenceStatus, Walkspace
from shellbot_msgs.srv import RequestMode, RequestModeRequest, RequestModeResponse
from snake_motion import snake_conversions as conversions
from snake_motion.attitude import Attitude
from snake_motion.config import load_engine_config
from snake_motion.core import SnakeCore
from snake_motion.drive import VelocityDrive
from snake_motion.engine import SnakeEngine
from snake_motion.engine_io import EngineOutput
from snake_motion.from_description import read_description
from snake_motion.gait_table import GaitTable, load_rows
from snake_motion.odometry import load_slips, slips_file
from snake_motion.velocity_map import load_maps


class SnakeNode:
    """Runs the core at each joint_states; there is no timer that could delay a tick."""

    def __init__(self, core: SnakeCore, profile: RobotProfile) -> None:
        self._core, self._profile = core, profile
        self._order = JointOrder(profile.joint_names)
        self._lock = threading.RLock()
        self._log = NodeLog("snake_motion")
        self._attitude = Attitude()
        self._is_blind = False
        self._shown: Optional[Tuple[str, ...]] = None
        nodelay = {"queue_size": 1, "tcp_nodelay": True}
        self._targets = Publisher("joint_targets", JointState, **nodelay)
        self._odom = Publisher("odom", Odometry, **nodelay)
        self._mode = Publisher("mode", Mode, queue_size=5, latch=True)
        self._walkspace = Publisher("walkspace", Walkspace, queue_size=1, latch=True)
        self._walkspace.publish(conversions.walkspace_message(core.drive.limits))
        self._waypoint = Publisher("waypoint_state", String, queue_size=1, latch=True)
        self._waypoint_state = ""
        self._transforms = TransformBroadcaster()
        self._operator = OperatorInterface(self._stop_driving)
        self._service = rospy.Service("request_mode", RequestMode, self._on_request)
        self._subscribers = [
            rospy.Subscriber("stopped", Bool, self._on_stopped, queue_size=5),
            rospy.Subscriber("reference_status", ReferenceStatus, self._on_reference_status, queue_size=1),
            rospy.Subscriber("gait", String, self._on_gait, queue_size=5),
            rospy.Subscriber("cmd_vel", Twist, self._on_cmd_vel, queue_size=1, tcp_nodelay=True),
            rospy.Subscriber("move_base_simple/goal", PoseStamped, self._on_waypoint, queue_size=1),
            rospy.Subscriber("imu/data", Imu, self._on_imu, queue_size=10, tcp_nodelay=True),
            rospy.Subscriber("joint_states", JointState, self._on_joint_states, queue_size=1, tcp_nodelay=True),
        ]

    def run(self) -> None:
        """Log what was held back, until shutdown."""
        for _ in self._log.each_second():
            pass

    def _on_joint_states(self, message: JointState) -> None:
        stamp, t = message.header.stamp, message.header.stamp.to_sec()
        try:
            q = self._order.pick(message.name, message.position, allow_extra=True)
            is_felt = bool(message.effort) and all(map(math.isfinite, message.effort))
            effort = self._order.pick(message.name, message.effort, True, "effort") if is_felt else None
        except TargetsError as error:
            self._log(Notice("joints", Level.ERROR, f"joint_states ignored: {error}"))
            return
        with self._lock:
            output = self._core.step(t, q, self._attitude.at(t), effort)
            if output is None:
                return
            self._targets.publish(targets_message(self._profile.joint_names, output.motion.position, stamp))
            self._show(output.motion, stamp)
            if output.waypoint.value != self._waypoint_state:
                self._waypoint_state = output.waypoint.value
                self._waypoint.publish(self._waypoint_state)
        if output.state is not None:
            self._odom.publish(conversions.odometry_message(output.state, stamp))
            self._transforms.sendTransform(conversions.transforms(output.state, self._profile.base.link, stamp))
            if self._is_blind:
                self._is_blind = False
                self._log(Notice("imu", Level.INFO, "the attitude on imu/data is back: odometry goes on"))
        elif t > 1.0:
            self._is_blind = True
            self._log(Notice("imu", Level.WARN, "no attitude on imu/data: no odometry, and gaits begin on any side"))
        if output.notice:
            self._log(Notice("drive", Level.WARN, output.notice))

    def _show(self, motion: EngineOutput, stamp: rospy.Time) -> None:
        """Send the latched mode when something changed."""
        shown = (motion.mode, motion.gait, str(motion.direction), motion.text)
        if shown != self._shown:
            if self._shown is None or motion.text != self._shown[-1]:
                log = rospy.logerr if motion.failed else rospy.loginfo
                log("snake_motion: %s: %s", motion.mode, motion.text)
            self._shown = shown
            self._mode.publish(conversions.mode_message(motion, stamp))

    def _on_gait(self, message: String) -> None:
        # it goes on like a velocity: it ends with the operator that requested it
        if not self._operator.accepts_motion(message, bool(message.data.strip())):
            return
        with self._lock:
            accepted, reason = self._core.request_gait(message.data)
        if not accepted:
            rospy.logwarn("snake_motion: %s", reason)

    def _on_request(self, request: RequestModeRequest) -> RequestModeResponse:
        reason = self._operator.refusal(request)
        with self._lock:
            accepted, reason = (False, reason) if reason else self._core.engine.request_mode(request.mode)
            return RequestModeResponse(accepted=accepted, reason=reason, mode=self._core.engine.mode)

    def _on_stopped(self, message: Bool) -> None:
        with self._lock:
            (self._core.engine.emergency_stop if message.data else self._core.engine.rearm)()

    def _on_reference_status(self, message: ReferenceStatus) -> None:
        with self._lock:
            self._core.hold(message.header.stamp.to_sec(), message.text if message.holding else "")

    def _on_cmd_vel(self, message: Twist) -> None:
        twist = conversions.twist_of(message)
        if self._operator.accepts_motion(message, any(twist)):
            with self._lock:
                self._core.command(twist)

    def _stop_driving(self) -> None:
        with self._lock:
            self._core.command(conversions.twist_of(Twist()))

    def _on_waypoint(self, message: PoseStamped) -> None:
        try:
            goal = pose_in_odom(message, "waypoint")
            with self._lock:
                self._core.go_to(goal)
        except SettingsError as error:
            rospy.logwarn("snake_motion: %s", error)
            return
        rospy.loginfo("snake_motion: to x %.2f m, y %.2f m, yaw %.0f deg", goal[0], goal[1], math.degrees(goal[2]))

    def _on_imu(self, message: Imu) -> None:
        with self._lock:
            t, orientation = message.header.stamp.to_sec(), conversions.orientation_of(message)
            self._attitude.update(t, orientation, conversions.rate_of(message))


def main() -> None:
    """Run the node."""
    init_node("snake_motion", disable_rostime=True)  # time comes with joint_states
    try:
        urdf, text = wait_for_parameters("robot_description", PARAMETER)
    except rospy.ROSInterruptException:
        return
    try:
        profile = RobotProfile.from_text(text)
        config = load_engine_config(rospy.get_param("~settings_file", "") or None)
        geometry, limits, _ = read_description(urdf, profile, config)
        scale = float(rospy.get_param("~time_scale", 1.0))
        rows = load_rows(rospy.get_param("~gaits_file", "") or None)
        gaits = GaitTable(rows, geometry.modules, limits, scale)
        maps = load_maps(geometry.modules, rospy.get_param("~maps_folder", "") or None)
        slips = load_slips(rospy.get_param("~odometry_file", "") or slips_file(geometry.modules))
        drive = VelocityDrive(maps, geometry.modules, scale, str(rospy.get_param("~sideways_by", "side_winding")))
        engine = SnakeEngine(gaits, config, str(rospy.get_param("~start_mode", "go")))
        first = str(rospy.get_param("~gait", ""))
        if first:
            engine.request_at_start(first)
            rospy.delete_param("~gait")  # of the launch: after a crash the robot lies still until it is commanded
    except (SettingsError, ConfigurationError) as error:
        rospy.logfatal("snake_motion: %s", error)
        sys.exit(1)
    for refusal in gaits.refusals.values():
        rospy.logwarn("snake_motion: %s", refusal)
    core = SnakeCore(engine, drive, geometry, slips)
    SnakeNode(core, profile).run()
