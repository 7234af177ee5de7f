# SPDX-License-Identifier: MIT
"""Node `odometry`: foot_contacts and imu/data in, odom and the transforms odom -> base_footprint -> base_link out."""

from __future__ import annotations

import math
import sys
import threading
import time

import numpy as np
import rospy
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry

from shellbot_action_manager.config import ActionManagerConfig, load_config
from shellbot_action_manager.errors import ActionManagerError
from shellbot_action_manager.estimation.odometry import OdometryCore
from shellbot_action_manager.node import odometry_conversions as conversions
from shellbot_action_manager.node.diagnostics_conversions import diagnostics_message
from shellbot_action_manager.node.imu_node import ImuListener, with_imu_latency
from shellbot_action_manager.node.memory_node import NodeMemory
from shellbot_common import Level, Notice, Stamp, classify_stamp
from shellbot_common.init_node import init_node
from shellbot_common.log_node import NodeLog
from shellbot_common.publisher_node import Publisher
from shellbot_common.transforms_node import TransformBroadcaster
from shellbot_msgs.msg import Contacts

BLIND_TICKS = 100  # ticks without an attitude before it is reported


class OdometryNode:
    """Runs the core at each foot_contacts, which carry the measured contacts and the stamp of joint_states."""

    def __init__(self, config: ActionManagerConfig) -> None:
        self._core, self._memory = OdometryCore(config), NodeMemory("~memory")
        self._lock = threading.Lock()
        self._imu = ImuListener(config.attitude)
        self._blind = 0
        self._time, self._ticks, self._longest = -math.inf, 0, 0.0
        self._log = NodeLog("odometry")
        self._odom = Publisher("odom", Odometry, queue_size=1, tcp_nodelay=True, latch=True)
        self._diagnostics = Publisher("/diagnostics", DiagnosticArray, queue_size=1)
        self._transforms = TransformBroadcaster()
        self._subscribers = [
            # A dropped tick is distance missing from the sum: on a busy machine ticks may wait, but none is lost.
            rospy.Subscriber("foot_contacts", Contacts, self._on_contacts, queue_size=200, tcp_nodelay=True),
        ]

    def run(self) -> None:
        """Publish diagnostics once a second of wall clock until shutdown."""
        for _ in self._log.each_second():
            with self._lock:
                ticks, longest, stamp, memory = self._ticks, self._longest, self._time, self._core.memory
                self._ticks, self._longest = 0, 0.0
            if ticks:
                self._memory.store(memory)
                self._imu.remember()
            self._diagnostics.publish(diagnostics_message(rospy.get_name(), stamp, ticks, longest, None))

    def _on_contacts(self, message: Contacts) -> None:
        start = time.perf_counter()
        stamp, t = message.header.stamp, message.header.stamp.to_sec()
        contacts = conversions.contacts_from_message(message)
        if not np.isfinite(contacts.position).all():
            text = "foot_contacts has a position that is no number; holding the estimate"
            self._log(Notice("contacts", Level.WARN, text))
            return
        with self._lock:
            kind = classify_stamp(self._time, t)
            if kind in (Stamp.REPEATED, Stamp.LATE):
                return
            if kind is Stamp.RESET:
                rospy.logwarn("odometry: the clock went back, the simulation was reset; starting at the origin")
                self._core.reset()
            if kind is Stamp.FIRST and self._core.resume(self._memory.before, t):
                rospy.logwarn("odometry: restarted; going on from the last place, as if the robot had not moved since")
            self._time = t
            imu = self._imu.read(t)
            self._blind = 0 if imu.orientation is not None else self._blind + 1
            if self._blind > BLIND_TICKS:
                self._log(Notice("imu", Level.WARN, "no attitude on imu/data; the heading comes from the feet alone"))
            try:
                state = self._core.step(t, contacts, imu)
            except ActionManagerError as error:
                self._log(Notice("core", Level.WARN, f"holding the estimate: {error}"))
                return
            self._ticks += 1
            self._longest = max(self._longest, time.perf_counter() - start)
        self._odom.publish(conversions.odometry_to_message(state, stamp))
        try:
            self._transforms.sendTransform(list(conversions.transforms_from_state(state, stamp)))
        except rospy.ROSException:  # shut down in between
            return


def main() -> None:
    """Run the node."""
    # Time comes with foot_contacts; /clock at every tick would only cost processor time.
    init_node("odometry", disable_rostime=True)
    try:
        config = with_imu_latency(load_config(path=rospy.get_param("~settings_file", "") or None))
    except ActionManagerError as error:
        rospy.logfatal(f"odometry: {error}")
        sys.exit(1)
    OdometryNode(config).run()
