# SPDX-License-Identifier: MIT
"""Node `arm_motion`: joint_states in, joint_targets out; page of laws, gains and swinging; topic arm_target."""

from __future__ import annotations

import sys
import threading
from typing import Any, Dict

import numpy as np
import rospy
from dynamic_reconfigure.server import Server
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from arm_control.motion import ArmMotion, MotionPage, motion_page
from robot_mechanics.dynamics import DynamicModel
from robot_mechanics.errors import KinematicsError
from shellbot_common import Level, Notice, RobotProfile, SettingsError
from shellbot_common.init_node import init_node
from shellbot_common.log_node import NodeLog
from shellbot_common.parameters_node import wait_for_parameters
from shellbot_common.publisher_node import Publisher
from shellbot_control import Gains
from shellbot_control.gains_subscription_node import subscribe_gains


class ArmMotionNode:
    """Each joint_states is a tick; what comes on another topic, in another thread, counts from the next tick on."""

    def __init__(self, motion: ArmMotion, names: Any, controller: str) -> None:
        self._motion, self._names, self._log = motion, list(names), NodeLog("arm_motion")
        self._lock = threading.Lock()  # of the motion
        self._targets = Publisher("joint_targets", JointState, queue_size=1, tcp_nodelay=True)
        for name, value in vars(motion.page).items():
            rospy.set_param(f"~{name}", value)
        self._page = Server(motion_page(motion.page), self._on_page)
        self._subscribers = [
            rospy.Subscriber("stopped", Bool, self._on_stopped, queue_size=5),
            rospy.Subscriber("arm_target", JointState, self._on_target, queue_size=1),
            rospy.Subscriber("joint_states", JointState, self._on_joints, queue_size=1, tcp_nodelay=True),
            *subscribe_gains(controller, names, self._on_gains),
        ]

    def _on_page(self, page: Dict[str, Any], _level: int) -> Dict[str, Any]:
        try:
            with self._lock:
                self._motion.page = MotionPage(**{name: page[name] for name in vars(self._motion.page)})
        except SettingsError as error:
            self._log(Notice("page", Level.ERROR, f"page refused: {error}"))
            page.update(vars(self._motion.page))
            return page
        text = self._motion.warning()  # without the lock: it takes several ticks, which go on
        if text:
            self._log(Notice("gains", Level.WARN, text))
        return page

    def _on_stopped(self, message: Bool) -> None:
        with self._lock:
            self._motion.stopped = message.data

    def _on_gains(self, joint: str, gains: Gains) -> None:
        with self._lock:
            self._motion.set_stiffness(joint, gains.p)

    def _on_target(self, message: JointState) -> None:
        target = dict(zip(message.name, message.position))
        if len(target) == len(message.name) == len(message.position) > 0:
            with self._lock:
                refusal = self._motion.aim(target)
        else:
            refusal = f"{len(message.name)} names, {len(message.position)} positions; give each joint once, in rad"
        if refusal:
            self._log(Notice("target", Level.WARN, f"target refused: {refusal}"))

    def _on_joints(self, message: JointState) -> None:
        measured = dict(zip(message.name, zip(message.position, message.velocity)))
        if not set(self._names) <= set(measured):
            missing = ", ".join(sorted(set(self._names) - set(measured)))
            self._log(Notice("joints", Level.WARN, f"joint_states lack angle or speed of {missing}: no targets"))
            return
        q, v = np.transpose([measured[name] for name in self._names])
        try:
            with self._lock:
                interface = self._motion.page.interface
                command = self._motion.step(message.header.stamp.to_sec(), q, v)
        except SettingsError as error:
            self._log(Notice("joints", Level.WARN, f"no targets: {error}"))
            return
        targets = JointState(name=self._names, **{interface: command.tolist()})
        targets.header.stamp = message.header.stamp
        self._targets.publish(targets)


def main() -> None:
    """Run the node."""
    init_node("arm_motion", disable_rostime=True)
    try:
        description, text = wait_for_parameters("robot_description", "robot_profile")
    except rospy.ROSInterruptException:
        return
    try:
        profile = RobotProfile.from_text(text)
        classes = [profile.classes[profile.joints[name]] for name in profile.joint_names]
        armature = {name: joint.armature for name, joint in zip(profile.joint_names, classes)}
        model = DynamicModel.from_urdf(description, armature)
        motion = ArmMotion(model, [joint.stiffness for joint in classes])
        motion.page = MotionPage(**{k: rospy.get_param(f"~{k}", v) for k, v in vars(motion.page).items()})
    except (KinematicsError, SettingsError) as error:
        rospy.logfatal(f"arm_motion: {error}")
        sys.exit(1)
    node = ArmMotionNode(motion, model.joint_names, profile.controller)
    rospy.loginfo(f"arm_motion: {model!r}; law and gains: page Gains of the window; moves: topic arm_target")
    rospy.spin()
    del node
