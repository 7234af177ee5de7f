# SPDX-License-Identifier: MIT
"""Node ``gazebo_pace``: Gazebo waits for the chain where the machine is too slow for real time (see `pace`).

With ``--begin-with CONTROLLER`` it lets a Gazebo that starts paused go when that controller is loaded: the spawner then
requests its start, which a paused Gazebo answers in its first step.
"""

from __future__ import annotations

import argparse
import contextlib
import threading
import time
from typing import Callable, Optional

import rospy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Empty

from shellbot_common.publisher_node import Publisher
from shellbot_gazebo_connector.pace import Pace

LOOK = 0.05  # s of wall clock between looks at the patience
SAID = 0.05  # fraction of the time that Gazebo waits from which it is a warning


class GazeboPaceNode:
    """Stamps to the core, its decisions to Gazebo's services."""

    def __init__(self) -> None:
        self._pace, self._lock = Pace(), threading.Lock()
        self._services = {True: "/gazebo/pause_physics", False: "/gazebo/unpause_physics"}
        for name in self._services.values():
            rospy.wait_for_service(name)
        self._calls = {
            pause: rospy.ServiceProxy(name, Empty, persistent=True) for pause, name in self._services.items()
        }
        self._diagnostics = Publisher("/diagnostics", DiagnosticArray, queue_size=1)
        rospy.Subscriber("joint_states", JointState, self._on_states, queue_size=1, tcp_nodelay=True)
        rospy.Subscriber("joint_targets", JointState, self._on_targets, queue_size=1, tcp_nodelay=True)

    def begin_with(self, controller: str) -> None:
        """Unpause as soon as a controller is loaded, which then listens to its command."""
        command = Publisher(f"{controller}/command", Float64MultiArray, queue_size=1)
        while command.get_num_connections() == 0 and not rospy.is_shutdown():
            time.sleep(LOOK)
        command.unregister()
        with self._lock:
            self._call(False)

    def run(self) -> None:
        """Watch the patience and report once a second of wall clock until shutdown; then leave Gazebo running."""
        began, paused_for = time.monotonic(), 0.0
        while not rospy.is_shutdown():
            time.sleep(LOOK)
            self._decide(self._pace.check)
            now = time.monotonic()
            if now - began >= 1.0:
                self._report((self._pace.paused_for - paused_for) / (now - began))
                began, paused_for = now, self._pace.paused_for
        with self._lock:
            if self._pace.paused:
                self._call(False)

    def _on_states(self, message: JointState) -> None:
        stamp = message.header.stamp.to_sec()
        self._decide(lambda now: self._pace.on_states(stamp, now))

    def _on_targets(self, message: JointState) -> None:
        stamp = message.header.stamp.to_sec()
        self._decide(lambda now: self._pace.on_targets(stamp, now))

    def _decide(self, ask: Callable[[float], Optional[bool]]) -> None:
        with self._lock:
            pause = ask(time.monotonic())
            if pause is not None:
                self._call(pause)

    def _call(self, pause: bool) -> None:
        try:
            self._calls[pause]()
        except (rospy.ServiceException, rospy.ROSException):  # Gazebo is gone, or was restarted
            self._calls[pause] = self._connect(pause)

    def _connect(self, pause: bool) -> rospy.ServiceProxy:
        return rospy.ServiceProxy(self._services[pause], Empty, persistent=True)

    def _report(self, fraction: float) -> None:
        level, text = DiagnosticStatus.OK, "Gazebo is not held back"
        if fraction > SAID:
            level = DiagnosticStatus.WARN
            text = f"Gazebo waits for the chain for {100.0 * fraction:.0f} % of the time: the machine is too slow"
        values = [KeyValue("waiting [%]", f"{100.0 * fraction:.1f}")]
        status = DiagnosticStatus(level=level, name="gazebo_pace", message=text, values=values)
        message = DiagnosticArray(status=[status])
        message.header.stamp = rospy.Time.now()
        self._diagnostics.publish(message)


def main() -> None:
    """Run the node."""
    parser = argparse.ArgumentParser(prog="gazebo_pace", description=__doc__)
    parser.add_argument("--begin-with", metavar="CONTROLLER", help="unpause Gazebo when this controller is loaded")
    options = parser.parse_args(rospy.myargv()[1:])
    rospy.init_node("gazebo_pace")
    with contextlib.suppress(rospy.ROSInterruptException):
        node = GazeboPaceNode()
        if options.begin_with:
            node.begin_with(options.begin_with)
        node.run()
