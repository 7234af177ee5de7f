# SPDX-License-Identifier: MIT
"""Node ``gazebo_pace``: lock-step of Gazebo and the chain (see `pace`).

With ``--begin`` it lets a Gazebo that starts paused go when the controller is loaded: start_controllers then requests
its start, which a paused Gazebo answers in its first step.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import threading
import time

import rospy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Empty

from shellbot_common import SettingsError, labelled_stamp
from shellbot_common.diagnostics_conversions import diagnostic_status, diagnostics
from shellbot_common.init_node import init_node
from shellbot_common.parameters_node import wait_for_parameters
from shellbot_common.publisher_node import Publisher
from shellbot_gazebo_connector.gazebo_steps import MASTER_URI, GazeboSteps
from shellbot_gazebo_connector.pace import PATIENCE, Pace
from shellbot_gazebo_connector.spawn_arguments import SPAWNED

LOOK = 0.05  # s of wall clock between looks at the patience
SETTLE = 0.2  # s of wall clock from a pause to a clock that stands


class GazeboPaceNode:
    """Stamps to the core, its decisions to Gazebo."""

    def __init__(self, controller: str) -> None:
        self._command = f"{controller}/command"
        (step,) = wait_for_parameters("/gazebo/time_step")
        self._pace = Pace(float(step))
        self._changed, self._due = threading.Condition(), False
        self._is_silent = False  # joints and IMU, after a reset of the clock
        self._lost = 0  # ticks without a command, as reported
        self._diagnostics = Publisher("/diagnostics", DiagnosticArray, queue_size=1)

    def begin(self) -> None:
        """Unpause when the joints are in place and the controller is loaded, which then listens to its command."""
        while not rospy.get_param(SPAWNED, False) and not rospy.is_shutdown():
            time.sleep(LOOK)
        command = Publisher(self._command, Float64MultiArray, queue_size=1)
        while command.get_num_connections() == 0 and not rospy.is_shutdown():
            time.sleep(LOOK)
        command.unregister()
        if not rospy.is_shutdown():
            rospy.ServiceProxy("/gazebo/unpause_physics", Empty)()

    def run(self) -> None:
        """Make the steps, and report once a second of wall clock, until shutdown; then leave Gazebo running."""
        steps = self._connect()
        rospy.Subscriber("joint_states", JointState, self._on_states, queue_size=1, tcp_nodelay=True)
        rospy.Subscriber(self._command, Float64MultiArray, self._on_command, queue_size=10, tcp_nodelay=True)
        began, simulated = time.monotonic(), rospy.get_time()
        while not rospy.is_shutdown():
            with self._changed:
                self._changed.wait_for(lambda: self._due, LOOK)
                due, self._due = self._due, False
            now = time.monotonic()
            try:
                self._act(steps, due, now)
            except OSError as error:
                rospy.logwarn("gazebo_pace: lost Gazebo (%s); connecting again", error)
                self._pace.follows = False
                steps = self._connect()
            if now - began >= 1.0:
                self._report((rospy.get_time() - simulated) / (now - began))
                began, simulated = now, rospy.get_time()
        with contextlib.suppress(OSError):  # Gazebo may be gone
            steps.pause(False)

    def _act(self, steps: GazeboSteps, due: bool, now: float) -> None:
        if due and self._pace.follows:
            steps.make(self._pace.steps())
        elif due:
            steps.pause(True)
            time.sleep(SETTLE)
            steps.make(self._pace.begin(rospy.get_time()))
        elif self._pace.follows and self._pace.is_silent(now):
            rospy.logwarn("gazebo_pace: joint_states without an answer for %g s: Gazebo runs without waiting", PATIENCE)
            self._pace.follows = False
            steps.pause(False)
        elif self._pace.is_stuck(now):
            steps.make(1)

    def _connect(self) -> GazeboSteps:
        uri = os.environ.get("GAZEBO_MASTER_URI", MASTER_URI)
        while True:
            try:
                return GazeboSteps(uri)
            except OSError as error:
                text = f"cannot reach Gazebo's master at {uri}: {error}; GAZEBO_MASTER_URI must be that of gzserver"
                rospy.logwarn_throttle(10.0, f"gazebo_pace: {text}. Trying again")
                rospy.rostime.wallsleep(1.0)
                if rospy.is_shutdown():
                    raise rospy.ROSInterruptException from error

    def _on_states(self, message: JointState) -> None:
        with self._changed:
            self._pace.on_states(message.header.stamp.to_sec(), time.monotonic())

    def _on_command(self, message: Float64MultiArray) -> None:
        stamp_ns = None
        with contextlib.suppress(SettingsError):  # no stamp, but the controllers follow the command
            stamp_ns = labelled_stamp(message.layout.dim[0].label) if message.layout.dim else None
        if stamp_ns is not None:
            with self._changed:
                self._due = self._pace.on_command(1e-9 * stamp_ns, time.monotonic()) or self._due
                self._changed.notify()

    def _report(self, factor: float) -> None:
        level, text = DiagnosticStatus.OK, "Gazebo goes in lock-step with the chain"
        if not self._pace.follows:
            level, text = DiagnosticStatus.WARN, "no commands with a stamp come: Gazebo runs without waiting for them"
        lost, self._lost = self._pace.lost - self._lost, self._pace.lost
        if lost and self._pace.follows:
            level, text = DiagnosticStatus.WARN, f"{lost} ticks of the last second had no command"
        until = self._pace.silent_until(rospy.get_time())
        if until is not None:
            text = f"the clock was set back: joints and IMU are silent until {until:.1f} s"
            level = DiagnosticStatus.WARN
            if not self._is_silent:
                rospy.logwarn("gazebo_pace: %s; /gazebo/reset_world puts the robot back without that", text)
        self._is_silent = until is not None
        values = {"real-time factor": f"{factor:.2f}", "ticks without a command": self._pace.lost}
        status = diagnostic_status("gazebo_pace", level, text, values)
        self._diagnostics.publish(diagnostics(rospy.Time.now(), status))


def main() -> None:
    """Run the node."""
    parser = argparse.ArgumentParser(prog="gazebo_pace", description=__doc__)
    parser.add_argument("controller", help="its commands answer joint_states")
    parser.add_argument("--begin", action="store_true", help="unpause Gazebo when the controller is loaded")
    options = parser.parse_args(rospy.myargv()[1:])
    init_node("gazebo_pace")
    with contextlib.suppress(rospy.ROSInterruptException):
        node = GazeboPaceNode(options.controller)
        if options.begin:
            node.begin()
        node.run()
