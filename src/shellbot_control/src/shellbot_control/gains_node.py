# SPDX-License-Identifier: MIT
"""Node ``gains``: one dynamic_reconfigure page for the gains of every joint, on controllers or on servos."""

from __future__ import annotations

import threading
import time
from typing import Any, Dict

import rospy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from dynamic_reconfigure.msg import Config
from dynamic_reconfigure.srv import Reconfigure

from shellbot_common import Level, Notice, ProfileError, RobotProfile
from shellbot_common.diagnostics_conversions import diagnostic_status, diagnostics
from shellbot_common.init_node import init_node
from shellbot_common.log_node import LOG, NodeLog
from shellbot_common.parameters_node import wait_for_parameters
from shellbot_common.publisher_node import Publisher
from shellbot_common.robot_profile import PARAMETER
from shellbot_control.errors import ConfigurationError
from shellbot_control.gain_forwarder import GainForwarder, receiver_summary
from shellbot_control.gain_presets import PRESET, GainPresets
from shellbot_control.gains import GainTable, check_controller_joints
from shellbot_control.gains_conversions import gains_from_config, gains_to_config
from shellbot_control.gains_page import gains_page
from shellbot_control.gains_server_node import GainsServer

CONTROLLERS = "controllers"  # ~receiver: every joint's own dynamic_reconfigure server, as of ros_control
# Calls in flight: most of an answer is waiting for a processor. rospy's servers let six callers wait, listen(5); one
# more would connect after 1 s, TCP's first retransmission.
WORKERS = 6


class GainsPageNode:
    """The page alone, for a node that maps it itself: it hears the latched ``gains/parameter_updates``."""

    def __init__(self, profile: RobotProfile, page: Any, presets: GainPresets, receiver: str) -> None:
        self._profile, self._presets, self._receiver = profile, presets, receiver
        self._diagnostics = Publisher("/diagnostics", DiagnosticArray, queue_size=1)
        self._server = GainsServer(page, profile, presets, self._on_page)

    def _on_page(self, page: Dict[str, Any], _level: int) -> Dict[str, Any]:
        page[PRESET] = self._presets.name_of(GainTable.from_page(page, self._profile.classes), page[PRESET])
        return page

    def run(self) -> None:
        """Report until shutdown, once per second of wall clock: the page works while the simulation is paused."""
        started, reported = time.monotonic(), ""
        while not rospy.is_shutdown():
            time.sleep(1.0)
            if rospy.is_shutdown():
                return  # connections are closed already
            summary = self._summary()
            publish_summary(self._diagnostics, summary, self._profile.name)
            # What has just appeared or fallen silent gets a moment before it is talked about.
            if summary.text != reported and (summary.level is Level.INFO or time.monotonic() - started > 3.0):
                reported = summary.text
                LOG[summary.level]("gains: %s", summary.text)

    def _summary(self) -> Notice:
        # what get_num_connections counts, with names; an operator's window hears the page, too
        listeners = self._server.update_topic.impl.get_stats_info()
        return receiver_summary(self._receiver, [str(entry[1]) for entry in listeners])


class GainsNode(GainsPageNode):
    """Forward the page to the ``pid`` server of every joint, now and whenever a controller (re)starts."""

    def __init__(self, profile: RobotProfile, page: Any, presets: GainPresets) -> None:
        self._forwarder = GainForwarder(profile.joints)
        self._changed = threading.Condition()
        self._log = NodeLog("gains")
        self._connections: Dict[str, Any] = {}
        self._proxies: Dict[str, rospy.ServiceProxy] = {}
        super().__init__(profile, page, presets, CONTROLLERS)
        for index in range(WORKERS):
            threading.Thread(target=self._work, name=f"gains {index}", daemon=True).start()
        self._subscribers = [
            rospy.Subscriber(f"{profile.controller}/{joint}/pid/parameter_updates", Config, self._on_announced, joint)
            for joint in profile.joints
        ]

    def _summary(self) -> Notice:
        with self._changed:
            return self._forwarder.summary(time.monotonic())

    def _on_page(self, page: Dict[str, Any], _level: int) -> Dict[str, Any]:
        table = GainTable.from_page(page, self._profile.classes)
        page[PRESET] = self._presets.name_of(table, page[PRESET])
        joint_gains = table.for_joints(self._profile.joints)
        with self._changed:
            self._forwarder.set_requested(joint_gains)
            self._changed.notify_all()
        return page

    def _on_announced(self, message: Config, joint: str) -> None:
        present = gains_from_config(message)
        if present is None:
            text = f"{joint} announced no usable p, i, d; set its class on the page to repair it"
            self._log(Notice(joint, Level.WARN, text))
            return
        # rospy gives every message of one connection the same header object: another object is another connection.
        connection = message._connection_header
        with self._changed:
            is_new = self._connections.get(joint) is not connection
            self._connections[joint] = connection
            notices = self._forwarder.announced(joint, present, is_new)
            self._changed.notify_all()
        if is_new:
            self._drop_proxy(joint)  # it leads to the controller that was there before
        self._log(*notices)

    def _work(self) -> None:
        """Send what is due, one joint at a time; several of these run side by side."""
        while not rospy.is_shutdown():
            with self._changed:
                due = self._forwarder.next_due(time.monotonic())
                if due is None:
                    retry = self._forwarder.next_retry()
                    self._changed.wait(1.0 if retry is None else min(max(retry - time.monotonic(), 0.01), 1.0))
                    continue
            joint, gains = due
            try:
                applied = gains_from_config(self._proxy(joint)(gains_to_config(gains)).config)
            except Exception as error:  # whatever a dying controller's socket raises: it is tried again
                self._drop_proxy(joint)
                with self._changed:
                    self._forwarder.failed(joint, time.monotonic(), str(error))
                continue
            with self._changed:
                notices = self._forwarder.confirmed(joint, gains, gains if applied is None else applied)
            self._log(*notices)

    def _proxy(self, joint: str) -> rospy.ServiceProxy:
        """Return the persistent connection to a joint's controller; a joint is served by one worker at a time."""
        if joint not in self._proxies:
            self._proxies[joint] = rospy.ServiceProxy(
                f"{self._profile.controller}/{joint}/pid/set_parameters", Reconfigure, persistent=True
            )
        return self._proxies[joint]

    def _drop_proxy(self, joint: str) -> None:
        proxy = self._proxies.pop(joint, None)
        if proxy is not None:
            proxy.close()


def publish_summary(publisher: rospy.Publisher, summary: Notice, robot: str) -> None:
    """Publish a summary to /diagnostics."""
    level = DiagnosticStatus.OK if summary.level is Level.INFO else DiagnosticStatus.WARN
    status = diagnostic_status("gains: forwarding", level, summary.text, {}, robot)
    publisher.publish(diagnostics(rospy.Time.now(), status))


def start_table(parameters: Dict[str, Any], profile: RobotProfile) -> GainTable:
    """Return the gains of the controllers' parameters; the servos' own stiffness if there are none for each class."""
    try:
        return GainTable.from_controllers(parameters, profile)
    except ConfigurationError as error:
        rospy.logwarn("gains: %s; the page starts at the stiffness in robot_profile", error)
        return GainTable.from_profile(profile)


def seed_page(table: GainTable) -> None:
    """Start the page at a table, where it has no value of its own (from before a restart)."""
    for name, value in table.to_page().items():
        if not rospy.has_param(f"~{name}"):
            rospy.set_param(f"~{name}", value)


def first_table(table: GainTable) -> GainTable:
    """Return what the page of this launch started with: controllers write changed gains into their parameters."""
    if not rospy.has_param("~start"):
        rospy.set_param("~start", table.to_page())
    return GainTable.from_page(rospy.get_param("~start"), table.classes)


def main() -> None:
    """Run the node."""
    init_node("gains")
    try:
        profile = RobotProfile.from_text(*wait_for_parameters(PARAMETER))
        (parameters,) = wait_for_parameters(profile.controller)
        check_controller_joints(parameters, profile)
        table = start_table(parameters, profile)
        seed_page(table)
        presets = GainPresets.of_robot(profile, first_table(table))
        page = gains_page(profile, table, presets)
        receiver = str(rospy.get_param("~receiver", CONTROLLERS))
        if receiver == CONTROLLERS:
            GainsNode(profile, page, presets).run()
        else:
            GainsPageNode(profile, page, presets, receiver).run()
    except (ConfigurationError, ProfileError) as error:
        rospy.logfatal("gains: %s", error)
        raise SystemExit(1) from error
    except rospy.ROSInterruptException:
        pass
