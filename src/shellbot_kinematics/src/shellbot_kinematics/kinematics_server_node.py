# SPDX-License-Identifier: MIT
"""Node `kinematics`: limb_references in, joint_targets out; services compute_fk and compute_ik."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any, Dict

import numpy as np
import rospy
from diagnostic_msgs.msg import DiagnosticArray
from dynamic_reconfigure.server import Server
from sensor_msgs.msg import JointState

from robot_mechanics.errors import KinematicsError
from shellbot_common import Level, Notice
from shellbot_common.init_node import init_node
from shellbot_common.log_node import NodeLog
from shellbot_common.publisher_node import Publisher
from shellbot_kinematics.cfg import KinematicsConfig
from shellbot_kinematics.kinematics_conversions import answer_fk, answer_ik, summary_to_message
from shellbot_kinematics.node_tick_conversions import answer_references
from shellbot_kinematics.server_core import ServerCore
from shellbot_kinematics.solver import ShellbotSolver
from shellbot_kinematics.solver_config import SolverConfig
from shellbot_msgs.msg import LimbReferences as LimbReferencesMsg
from shellbot_msgs.srv import ComputeFK, ComputeIK

PATIENCE = 3.0  # s of wall clock before a warning: at each start references arrive shortly before joint states


class KinematicsServer:
    """Answers each limb_references at once with joint_targets; a timer would delay the tick."""

    def __init__(self, solver: ShellbotSolver) -> None:
        self._core = ServerCore(solver)
        self._lock = threading.Lock()
        self._log = NodeLog("kinematics")
        self._stamp = rospy.Time()
        self._warn_from = time.monotonic() + PATIENCE
        self._targets = Publisher("joint_targets", JointState, queue_size=1, tcp_nodelay=True)
        self._diagnostics = Publisher("/diagnostics", DiagnosticArray, queue_size=1)
        # the page starts with the parameters; a respawned node finds the values last set on the page there
        for name, value in solver.config.to_page().items():
            rospy.set_param(f"~{name}", value)
        self._page = Server(KinematicsConfig, self._on_page)
        self._services = [
            rospy.Service("compute_fk", ComputeFK, lambda r: answer_fk(solver, r, self._measured())),
            rospy.Service("compute_ik", ComputeIK, lambda r: answer_ik(solver, r, self._measured())),
        ]
        self._subscribers = [
            rospy.Subscriber("joint_states", JointState, self._on_joint_states, queue_size=1, tcp_nodelay=True),
            rospy.Subscriber("limb_references", LimbReferencesMsg, self._on_references, queue_size=1, tcp_nodelay=True),
        ]

    def run(self) -> None:
        """Publish diagnostics until shutdown, once a second of wall clock: also while the simulation is paused."""
        for _ in self._log.each_second():
            with self._lock:
                summary = self._core.summary()
            self._diagnostics.publish(summary_to_message(summary, rospy.get_name(), self._stamp))

    def _measured(self) -> np.ndarray:
        with self._lock:
            return self._core.measured.copy()

    def _on_joint_states(self, message: JointState) -> None:
        with self._lock:
            complaint = self._core.update_measured(message.name, message.position)
        if complaint:
            self._log(Notice("joint_states", Level.WARN, complaint))

    def _on_page(self, page: Dict[str, Any], _level: int) -> Dict[str, Any]:
        with self._lock:
            before = self._core.solver.config.to_page()
            now, refused = self._core.set_page(page)
        if refused:
            rospy.logwarn(f"kinematics: page refused, nothing changed: {refused}")
        elif now != before:
            rospy.loginfo(f"kinematics: {', '.join(f'{name} {value}' for name, value in now.items())}")
        page.update(now)
        return page

    def _on_references(self, message: LimbReferencesMsg) -> None:
        start = time.perf_counter()
        with self._lock:
            answer = answer_references(self._core, message)
            if answer.message is not None:
                self._stamp = message.header.stamp
                self._targets.publish(answer.message)
                self._core.note_duration(time.perf_counter() - start)
        if answer.complaint and (self._core.has_joint_states or time.monotonic() > self._warn_from):
            self._log(Notice("references", Level.WARN, answer.complaint))
        if answer.targets is not None and answer.targets.complaint:
            self._log(Notice("targets", Level.WARN, answer.targets.complaint))


def wait_for_description() -> str:
    """Return the parameter robot_description as soon as it is set; log what is missing."""
    name = rospy.resolve_name("robot_description")
    tries = 0
    while not rospy.is_shutdown():
        text = rospy.get_param("robot_description", "")
        if text:
            return str(text)
        if tries % 25 == 0:  # every 5 s
            rospy.logwarn(
                f"kinematics: waiting for the parameter {name}; load it with shellbot_description's description.launch"
            )
        tries += 1
        time.sleep(0.2)
    return ""


def main() -> None:
    """Run the node."""
    # No node time is needed here, and /clock at every tick would only cost processor time
    init_node("kinematics", disable_rostime=True)
    text = wait_for_description()
    if not text:
        return
    try:
        solver = ShellbotSolver(text, SolverConfig.from_mapping(rospy.get_param("~", {})))
    except KinematicsError as error:
        rospy.logfatal(f"kinematics: {error}")
        sys.exit(1)
    rospy.loginfo("kinematics: loading its kernels; after a change they are compiled first, for some seconds")
    start = time.perf_counter()
    solver.warm_up()  # before anything is advertised: the first tick must not wait for the compiler
    seconds = time.perf_counter() - start
    rospy.loginfo(
        f"kinematics: {solver.model.n} joints, solver {solver.config.solver}, kernels ready in {seconds:.2f} s"
    )
    KinematicsServer(solver).run()
