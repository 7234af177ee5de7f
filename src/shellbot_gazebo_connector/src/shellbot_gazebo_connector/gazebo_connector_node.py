# SPDX-License-Identifier: MIT
"""Node ``gazebo_connector``: joint targets into the controllers of a simulator, Gazebo Classic or the embedded one."""

from __future__ import annotations

import dataclasses
import threading
import time
from typing import Dict, Tuple

import numpy as np
import rospy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from shellbot_common import Level, Notice, ProfileError, RobotProfile
from shellbot_common.diagnostics_conversions import diagnostic_status, diagnostics
from shellbot_common.init_node import init_node
from shellbot_common.log_node import NodeLog
from shellbot_common.parameters_node import wait_for_parameters
from shellbot_common.publisher_node import Publisher
from shellbot_common.robot_profile import PARAMETER
from shellbot_common.stop_interface_node import STOPPED_BY, StopInterface
from shellbot_control import ConfigurationError, Gains, JointLimits, check_controller_joints, controller_stiffness
from shellbot_control.arrival_conversions import status_message
from shellbot_control.gains_subscription_node import subscribe_gains
from shellbot_gazebo_connector.connector_conversions import command_to_message
from shellbot_gazebo_connector.connector_core import Command, ConnectorCore, Output
from shellbot_gazebo_connector.parameters import ConnectorParameters
from shellbot_msgs.msg import ReferenceStatus

SILENT_S = 2.0  # wall clock; so long without joint_states is worth a diagnostic


class GazeboConnectorNode:
    """Messages to the core and back."""

    def __init__(
        self, profile: RobotProfile, limits: JointLimits, parameters: ConnectorParameters, stiffness: Dict[str, float]
    ) -> None:
        self._robot = profile.name
        self._core = ConnectorCore(limits, parameters, profile.couplings)
        self._stiffness = stiffness  # of each joint, N m/rad
        self._core.set_stiffness(np.array(list(stiffness.values())))
        self._lock = threading.Lock()
        self._log = NodeLog("gazebo_connector")
        self._states_at = self._commands = 0.0
        self._command = Publisher(f"{profile.controller}/command", Float64MultiArray, queue_size=10, tcp_nodelay=True)
        self._effort = Publisher(f"{profile.controller}/effort", Float64MultiArray, queue_size=10, tcp_nodelay=True)
        self._status = Publisher("reference_status", ReferenceStatus, queue_size=5)
        self._diagnostics = Publisher("/diagnostics", DiagnosticArray, queue_size=1)
        self._stop_interface = StopInterface()
        if self._stop_interface.cause:
            rospy.logwarn("gazebo_connector: %s", self._core.stop(self._stop_interface.cause))
        self._stop_interface.show(self._core.stopped)
        self._stop_interface.advertise(self._stop, self._rearm)
        # The newest measured joints suffice, but every message of targets wants its command.
        rospy.Subscriber("joint_states", JointState, self._on_joint_states, queue_size=1, tcp_nodelay=True)
        self._gains = subscribe_gains(profile.controller, stiffness, self._on_gains)
        self._targets = rospy.Subscriber(
            "joint_targets", JointState, self._on_joint_targets, queue_size=50, tcp_nodelay=True
        )

    def run(self) -> None:
        """Report to /diagnostics once per second of wall clock until shutdown, also while the simulation is paused."""
        while not rospy.is_shutdown():
            before, self._commands = self._commands, 0
            self._publish_diagnostics(int(before))
            self._log()
            time.sleep(1.0)

    def _on_joint_states(self, message: JointState) -> None:
        self._states_at = time.monotonic()
        stamp = message.header.stamp
        with self._lock:
            self._do(self._core.on_joint_states(stamp.to_nsec(), message.name, message.position), stamp)

    def _on_joint_targets(self, message: JointState) -> None:
        stamp = message.header.stamp
        with self._lock:
            self._do(
                self._core.on_joint_targets(stamp.to_nsec(), message.name, message.position, message.effort), stamp
            )

    def _on_gains(self, joint: str, gains: Gains) -> None:
        with self._lock:
            self._stiffness[joint] = gains.p
            self._core.set_stiffness(np.array(list(self._stiffness.values())))

    def _rearm(self) -> Tuple[bool, str]:
        with self._lock:
            success, text = self._core.rearm()
            self._stop_interface.show(self._core.stopped)
            self._stop_interface.cause = ""
        self._stop_interface.keep()
        rospy.loginfo("gazebo_connector: %s", text)
        return success, text

    def _stop(self, cause: str) -> Tuple[bool, str]:
        with self._lock:
            text = self._core.stop(cause)
            self._do(Output(self._core.end_torque()), rospy.Time())
            self._stop_interface.show(self._core.stopped)
            self._stop_interface.cause = self._stop_interface.cause or cause
        rospy.logwarn("gazebo_connector: %s", text)
        self._stop_interface.keep()
        return True, text

    def _do(self, output: Output, stamp: rospy.Time) -> None:
        if output.command is not None:
            self._send(output.command)
            self._commands += 1
        if output.status is not None:
            self._status.publish(status_message(output.status, stamp))
        if output.notices:
            self._log(*output.notices)

    def _send(self, command: Command) -> None:
        if command.torque is not None and not self._effort.get_num_connections():
            text = "efforts without positions are ignored: of the simulators only the embedded one takes torques"
            self._log(Notice("effort", Level.ERROR, f"{text}; send positions in joint_targets"))
            command = dataclasses.replace(command, torque=None, holding=True)
        (self._command if command.torque is None else self._effort).publish(command_to_message(command))

    def _publish_diagnostics(self, commands: int) -> None:
        with self._lock:
            stopped, text = self._core.stopped, self._core.text
        sources = self._targets.get_num_connections()
        level, summary = DiagnosticStatus.OK, "following joint_targets"
        if text:
            level, summary = DiagnosticStatus.WARN, text
        elif time.monotonic() - self._states_at > SILENT_S:
            level, summary = DiagnosticStatus.WARN, "joint_states stand still: is the simulation paused or gone?"
        elif sources > 1:
            level, summary = DiagnosticStatus.WARN, f"{sources} nodes publish joint_targets: stop all but one"
        values = {"commands per second": commands, "stopped": stopped}
        status = diagnostic_status("gazebo_connector: commands", level, summary, values, self._robot)
        self._diagnostics.publish(diagnostics(rospy.Time.now(), status))


def main() -> None:
    """Run the node."""
    init_node("gazebo_connector")
    try:
        private = {key: value for key, value in rospy.get_param("~", {}).items() if key != STOPPED_BY[1:]}
        parameters = ConnectorParameters.from_mapping(private, "~")
        urdf, text = wait_for_parameters("robot_description", PARAMETER)
        profile = RobotProfile.from_text(text)
        (controller,) = wait_for_parameters(profile.controller)
        check_controller_joints(controller, profile)
        stiffness = controller_stiffness(controller, profile)
        GazeboConnectorNode(profile, JointLimits.from_urdf(urdf, profile.joints), parameters, stiffness).run()
    except (ConfigurationError, ProfileError) as error:
        rospy.logfatal("gazebo_connector: %s", error)
        raise SystemExit(1) from error
    except rospy.ROSInterruptException:
        pass
