# SPDX-License-Identifier: MIT
"""The node `emulated_robot`: servos on a pty in place of hardware, sensors and ground truth in place of the world."""

from __future__ import annotations

import sys
import time
from typing import List, Optional

import rospy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState
from std_srvs.srv import Trigger, TriggerRequest, TriggerResponse

from ax_bus.errors import ServoError
from robot_evaluation.errors import EvaluationError
from shellbot_common.diagnostics_conversions import diagnostic_status, diagnostics
from shellbot_common.init_node import init_node
from shellbot_common.parameters_node import wait_for_parameters
from shellbot_common.publisher_node import Publisher
from shellbot_common.robot_profile import PARAMETER
from shellbot_description import DescriptionError
from shellbot_motor_driver.map.driven_robot import SERVOS_PARAMETER
from shellbot_msgs.msg import Contacts
from shellbot_simulator.core.errors import RenderError
from shellbot_simulator.core.simulator import Simulator
from shellbot_simulator.node import sensor_conversions as convert
from shellbot_simulator.node.camera_node import Cameras
from shellbot_simulator.node.node_parameters import NodeParameters
from shellbot_simulator.node.viewer import Viewer, opens_viewer

from .emulated_robot import EmulatedBody
from .emulated_robot_params import EmulatedRobotParams, faults_of
from .emulated_robot_server import RobotReport, RobotServer

_DIAGNOSTICS_PERIOD = 1.0  # s
_DRIVER_ENDS = 11.0  # s
_SLOW = 0.02  # fraction of time that physics may leave out before the status is a warning


class EmulatedRobotNode:
    """Publishes what the process of the robot reports, and hands faults to it.

    Parameters
    ----------
    parameters : EmulatedRobotParams
        The private parameters.
    """

    def __init__(self, parameters: EmulatedRobotParams) -> None:
        body = _body(parameters)
        # bodies to look at: the real ones are in the other process
        self._mirror = Simulator(body.urdf, body.profile)
        self._base, self._imu_frame = self._mirror.profile.base.link, self._mirror.profile.imu
        self._names: List[str] = list(self._mirror.joint_names)
        self._covariance = convert.ImuCovariance(self._mirror.config)
        self._imu = Publisher("imu/data", Imu, queue_size=10)
        self._odometry = Publisher("ground_truth/odom", Odometry, queue_size=10)
        self._joints = Publisher("ground_truth/joint_states", JointState, queue_size=10)
        self._contacts = Publisher("ground_truth/foot_contacts", Contacts, queue_size=10)
        self._diagnostics = Publisher("/diagnostics", DiagnosticArray, queue_size=1)
        self._cameras = Cameras(
            self._mirror,
            NodeParameters(
                camera_rate=parameters.camera_rate,
                camera_width=parameters.camera_width,
                camera_height=parameters.camera_height,
            ),
        )
        self._viewer = self._open_viewer(parameters.viewer)
        # Last: whoever waits for the servos finds sensors, too.
        try:
            self._server = RobotServer(parameters.settings(body))
        except BaseException:  # a thread that still draws while the program ends can hang it
            self._close_views()
            raise
        self._service = rospy.Service("~apply", Trigger, self._apply)
        self._next_diagnostics = 0.0
        self._lost_before = 0.0
        rospy.loginfo(f"emulated robot: {body.profile.name}, servos at {self._server.port}")

    def run(self) -> None:
        """Run until the node is shut down or the robot's process has ended."""
        try:
            while not rospy.is_shutdown():
                report = self._server.report()
                if report is not None:
                    self._publish(report)
            # Real servos outlive the end of a launch: the driver lets the robot sit and switches its torque off.
            end = time.monotonic() + _DRIVER_ENDS
            while self._server.is_in_use() and time.monotonic() < end:
                self._server.report(0.1)
        finally:
            self._close_views()
            self._server.close()

    def _close_views(self) -> None:
        self._cameras.close()
        if self._viewer is not None:
            self._viewer.close()

    def _publish(self, report: RobotReport) -> None:
        stamp, state = rospy.Time.from_sec(report.stamp), report.state
        if self._imu.get_num_connections():
            self._imu.publish(convert.imu_message(state, stamp, self._covariance, self._imu_frame))
        if self._joints.get_num_connections():
            self._joints.publish(convert.joint_state_message(state, stamp, self._names))
        if self._odometry.get_num_connections():
            self._odometry.publish(convert.odometry_message(state, stamp, self._base))
        if self._contacts.get_num_connections():
            self._contacts.publish(convert.contacts_message(state, stamp, self._mirror.profile.contacts, self._base))
        self._show(report, stamp)
        now = time.monotonic()  # the stamp is by the wall clock, which may be set back
        if now >= self._next_diagnostics:
            self._next_diagnostics = now + _DIAGNOSTICS_PERIOD
            self._diagnose(report, stamp)

    def _show(self, report: RobotReport, stamp: rospy.Time) -> None:
        if self._viewer is not None:
            with self._viewer.lock():
                self._mirror.show(report.state)
            if not self._viewer.refresh():
                rospy.loginfo("emulated robot: the window was closed; the robot goes on without it")
                self._viewer = None
        elif self._cameras.is_requested:
            self._mirror.show(report.state)
        if self._cameras.is_requested:
            self._cameras.offer(self._mirror, stamp)

    def _diagnose(self, report: RobotReport, stamp: rospy.Time) -> None:
        lost, self._lost_before = report.lost_time - self._lost_before, report.lost_time
        level, text = DiagnosticStatus.OK, f"{report.voltage:.1f} V, {report.current:.1f} A"
        if lost > _SLOW * _DIAGNOSTICS_PERIOD:
            level = DiagnosticStatus.WARN
            text = f"this machine is too slow for real time: {lost:.2f} s of physics were left out in the last second"
        values = {
            "voltage [V]": f"{report.voltage:.2f}",
            "current [A]": f"{report.current:.2f}",
            "charge": f"{report.charge:.3f}",
            "physics left out [s]": f"{report.lost_time:.2f}",
            "feet on the ground": int(report.state.contacts.foot_contact.sum()),
            "other links on the ground": ", ".join(report.state.contacts.other_links) or "none",
            **{f"fault {kind}": count for kind, count in sorted(report.faults.items())},
        }
        status = diagnostic_status("emulated_robot: physics and servos", level, text, values, self._server.port)
        self._diagnostics.publish(diagnostics(stamp, status))

    def _apply(self, _request: TriggerRequest) -> TriggerResponse:
        """Inject what the parameter ~fault says now, and set the battery to ~charge if that is given."""
        try:
            faults = faults_of(rospy.get_param("~fault", []))
            charge: Optional[float] = rospy.get_param("~charge", None)
            if charge is not None:
                self._server.set_charge(EmulatedRobotParams.from_mapping({"charge": charge}).charge)
            self._server.inject(faults)
        except (EvaluationError, OSError) as error:
            return TriggerResponse(success=False, message=str(error))
        kinds = ", ".join(fault.kind for fault in faults) or "no fault; set the parameter ~fault first"
        return TriggerResponse(success=True, message=f"injected: {kinds}")

    def _open_viewer(self, setting: str) -> Optional[Viewer]:
        if not opens_viewer(setting):
            return None
        try:
            return Viewer(self._mirror)
        except RenderError as error:
            rospy.logerr(f"emulated robot: {error}")
            return None


def _body(parameters: EmulatedRobotParams) -> EmulatedBody:
    """Return a build of Shellbot, or without one the robot whose description is on the parameter server."""
    if parameters.variant:
        return EmulatedBody.of_shellbot(parameters.settings().robot)
    return EmulatedBody.from_texts(*wait_for_parameters("robot_description", PARAMETER, SERVOS_PARAMETER))


def main() -> int:
    """Run the node; returns the exit status."""
    init_node("emulated_robot")
    try:
        EmulatedRobotNode(EmulatedRobotParams.from_mapping(rospy.get_param("~", {}))).run()
    except (EvaluationError, DescriptionError, ServoError) as error:
        rospy.logfatal(f"emulated robot: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
