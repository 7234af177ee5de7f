# SPDX-License-Identifier: MIT
"""Node `walk`: joint_states, IMU and foot forces in; joint_targets, mode, odom and its transform out."""

from __future__ import annotations

import math
import sys
import threading
from typing import Any

import numpy as np
import rospy
from geometry_msgs.msg import PoseStamped, Twist
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Bool

from humanoid_motion import walk_conversions as convert
from humanoid_motion.base_state import BaseTracker
from humanoid_motion.fall import FallParameters
from humanoid_motion.foot_wrenches import FootWrenches
from humanoid_motion.interface import Status
from humanoid_motion.parameters import WalkError, WalkParameters
from humanoid_motion.perform_action_node import MotionServer
from humanoid_motion.robot_core import SILENCE, HumanoidCore
from humanoid_motion.tick_inputs import TickInputs
from shellbot_common import Level, Notice, RobotProfile, SettingsError, Stamp, classify_stamp
from shellbot_common.init_node import init_node
from shellbot_common.log_node import NodeLog
from shellbot_common.motion_conversions import pose_in_odom, targets_message
from shellbot_common.operator_interface_node import OperatorInterface
from shellbot_common.publisher_node import Publisher
from shellbot_common.robot_profile import PARAMETER
from shellbot_common.transforms_node import TransformBroadcaster
from shellbot_control import Gains
from shellbot_control.gains_subscription_node import subscribe_gains
from shellbot_msgs.msg import Mode, Walkspace
from shellbot_msgs.srv import (
    MoveJoints,
    MoveJointsRequest,
    MoveJointsResponse,
    RequestMode,
    RequestModeRequest,
    RequestModeResponse,
)

_TWIST_TIMEOUT = 0.5  # s of simulated time: an older cmd_vel stops the walk


class WalkNode:
    """One tick of the core for each stamp of which joints, IMU and foot forces have come."""

    def __init__(
        self,
        core: HumanoidCore,
        profile: RobotProfile,
        parameters: WalkParameters,
        wrenches: FootWrenches,
        heading: str,
        contacts: str,
    ) -> None:
        self._parameters = parameters
        self._core, self._names, self._link = core, profile.joint_names, profile.base.link
        self._base = BaseTracker(heading)
        self._soles, self._wrenches = tuple(profile.contacts), wrenches
        self._lock, self._log = threading.Lock(), NodeLog("walk")
        self._time, self._twist_until, self._watched = -math.inf, -math.inf, -math.inf
        self._good = math.inf  # s, stamp of the last tick with good measurements; before the first none is missing
        self._targets = Publisher("joint_targets", JointState, queue_size=10, tcp_nodelay=True)
        self._odometry = Publisher("odom", Odometry, queue_size=10)
        self._mode = Publisher("mode", Mode, queue_size=5, latch=True)
        self._walkspace = Publisher("walkspace", Walkspace, queue_size=1, latch=True)
        self._walkspace.publish(convert.walkspace_message(parameters))
        self._shown = Status("", "", "")
        self._transforms = TransformBroadcaster()
        self._operator = OperatorInterface(self._stop_driving)
        self._actions = MotionServer(core, self._lock, self._operator)
        topics = [("joint_states", JointState), ("imu/data", Imu)]
        topics += convert.sole_topics(contacts, self._soles)
        self._topics = [name for name, _ in topics]
        self._inputs = TickInputs(len(topics))
        self._measurements = [
            rospy.Subscriber(name, kind, self._on_input, callback_args=index, queue_size=50, tcp_nodelay=True)
            for index, (name, kind) in enumerate(topics)
        ]
        self._stiffness = dict.fromkeys(self._names, 0.0)  # N m/rad; 0: not known
        self._gains = subscribe_gains(profile.controller, self._names, self._on_gains)
        self._commands = [
            rospy.Subscriber("stopped", Bool, self._on_stopped, queue_size=5),
            rospy.Subscriber("cmd_vel", Twist, self._on_twist, queue_size=1),
            rospy.Subscriber("walk_to", PoseStamped, self._on_goal, queue_size=1),
            rospy.Service("move_joints", MoveJoints, self._on_joints),
            rospy.Service("request_mode", RequestMode, self._on_request),
        ]

    def _on_stopped(self, message: Bool) -> None:
        with self._lock:
            (self._core.emergency_stop if message.data else self._core.rearm)()

    def _on_twist(self, message: Twist) -> None:
        twist = [message.linear.x, message.linear.y, message.angular.z]
        if self._operator.accepts_motion(message, any(twist)):
            objection = self._parameters.objection(np.array(twist))
            if objection:
                self._log(Notice("cmd_vel", Level.WARN, objection))
            with self._lock:
                self._core.command_twist(twist)
                self._twist_until = self._time + _TWIST_TIMEOUT

    def _on_gains(self, joint: str, gains: Gains) -> None:
        with self._lock:
            self._stiffness[joint] = gains.p
            self._core.engine.set_stiffness(np.array(list(self._stiffness.values())))

    def _stop_driving(self) -> None:
        with self._lock:
            self._twist_until = -math.inf

    def _on_goal(self, message: PoseStamped) -> None:
        if not self._operator.accepts(message):
            return
        try:
            goal = pose_in_odom(message, "walk_to", WalkError)
            with self._lock:
                self._core.walk_to(*goal)
                self._twist_until = math.inf
        except WalkError as error:
            self._log(Notice("walk_to", Level.ERROR, str(error)))

    def _on_joints(self, request: MoveJointsRequest) -> MoveJointsResponse:
        reason = self._operator.refusal(request)
        try:
            if reason:
                raise WalkError(reason)
            with self._lock:
                duration = self._core.move_joints(convert.targets_of(request), request.speed)
        except WalkError as error:
            return MoveJointsResponse(False, str(error), 0.0)
        return MoveJointsResponse(True, f"{len(request.name)} joint(s) will be there in {duration:.2f} s", duration)

    def _on_request(self, request: RequestModeRequest) -> RequestModeResponse:
        reason, accepted = self._operator.refusal(request), False
        with self._lock:
            if not reason:
                try:
                    accepted, reason = True, self._core.request(request.mode)
                except WalkError as error:
                    reason = str(error)
            return RequestModeResponse(accepted, reason, self._core.status().mode)

    def _on_input(self, message: Any, topic: int) -> None:
        with self._lock:
            messages = self._inputs.add(topic, message.header.stamp.to_nsec(), message)
        if messages is not None:
            self._on_tick(*messages)

    def watch(self) -> None:
        """Say once a second of wall clock which measurement is missing, if any."""
        for _ in self._log.each_second():
            with self._lock:
                is_idle, silent = self._time == self._watched, self._inputs.silent()
                self._watched = self._time
            if is_idle and silent:
                names = ", ".join(self._topics[index] for index in silent)
                text = f"nothing from {names}: holding the last command until it comes"
                self._log(Notice("silent", Level.WARN, text))
                self._show_hold(text, rospy.Time.from_sec(max(self._time, 0.0)))

    def _on_tick(self, states: JointState, imu: Imu, *feet: Any) -> None:
        stamp = states.header.stamp
        with self._lock:
            kind = classify_stamp(self._time, stamp.to_sec())
            if kind in (Stamp.REPEATED, Stamp.LATE):
                return
            if kind is Stamp.RESET:
                self._core.reset()
                self._base.reset()
                self._twist_until, self._good = -math.inf, math.inf
            self._time = stamp.to_sec()
            if self._time > self._twist_until:
                self._core.command_twist([0.0, 0.0, 0.0])
                self._twist_until = math.inf
            try:
                felt = dict(zip(self._soles, feet))
                feedback = convert.feedback_from_messages(states, imu, felt, self._names, self._wrenches)
                command = self._core.step(feedback, self._time)
            except WalkError as error:
                failure, status = f"{error}: holding the last command", self._core.status()
                is_held = status.mode != "stopped" and self._time - self._good > SILENCE
            else:
                failure, self._good = "", self._time
                state, status = self._base.step(self._time, self._core, feedback), self._core.status()
        if failure:
            self._log(Notice("tick", Level.WARN, failure))
            if is_held:
                self._show_hold(failure, stamp)
            else:
                self._show(status, stamp)
            return
        self._targets.publish(targets_message(self._names, command, stamp))
        self._odometry.publish(convert.odometry_message(state, stamp, self._link))
        self._transforms.sendTransform(convert.transforms(state, stamp, self._link))
        self._show(status, stamp)

    def _show_hold(self, text: str, stamp: rospy.Time) -> None:
        """Show that measurements are missing; before the first the robot holds nothing."""
        if math.isfinite(self._good):
            self._show(Status("stopped", "stopped", text[0].upper() + text[1:] + "."), stamp)

    def _show(self, status: Status, stamp: rospy.Time) -> None:
        """Show how the action and the robot are; called without the lock, which `report` takes, too."""
        self._actions.report(self._time)
        with self._lock:  # the thread of `watch` shows, too
            if status != self._shown:
                if status.mode != "motion" or status.target != self._shown.target:  # not each of its frames
                    rospy.loginfo("walk: %s", status.text)
                self._shown = status
                self._mode.publish(convert.mode_message(status, stamp))


def main() -> None:
    """Run the node."""
    # Time comes with the measurements; actionlib's timer does not survive a simulated clock that goes back.
    init_node("walk", disable_rostime=True)
    try:
        profile = RobotProfile.from_text(rospy.get_param(PARAMETER, ""))
        parameters = WalkParameters.load(rospy.get_param("~config"))
        urdf = rospy.get_param("robot_description", "")
        fall = FallParameters.load(rospy.get_param("~fall"))
        heading, contacts = rospy.get_param("~heading", "imu"), rospy.get_param("~contacts", "wrench")
        convert.sole_topics(contacts, ())  # before the kernels are loaded
        core = HumanoidCore(urdf, profile, parameters, fall, heading, rospy.get_param("~motions_file", ""))
        rospy.loginfo("walk: loading its kernels; after a change they are compiled first, for half a minute")
        core.warm_up()
    except (SettingsError, ValueError, KeyError) as error:
        rospy.logfatal("walk: %s", error)
        sys.exit(1)
    WalkNode(core, profile, parameters, FootWrenches(urdf, tuple(profile.contacts)), heading, contacts).watch()
