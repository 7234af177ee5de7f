# SPDX-License-Identifier: MIT
"""The emergency stop's names on the wire, alike for the nodes next to the joints: connector and motor driver."""

from __future__ import annotations

import threading
from typing import Any, Callable, List, Optional, Tuple

import rospy
from std_msgs.msg import Bool
from std_srvs.srv import Trigger, TriggerResponse

from shellbot_common.parameters_node import keep_parameter
from shellbot_common.publisher_node import Publisher

STOPPED_BY = "~stopped_by"

Answer = Tuple[bool, str]


class StopInterface:
    """Topic and service ``emergency_stop``, service ``rearm``, latched topic ``stopped``, and the cause of a stop.

    A stop outlives a crash of its node: the cause is kept on the parameter server, where the node finds it when it is
    respawned. A fresh launch clears it.

    Attributes
    ----------
    cause : str
        Who stopped the robot; empty if it is not stopped. Set with the lock of the state held, then kept without it.
    """

    def __init__(self) -> None:
        self.cause = str(rospy.get_param(STOPPED_BY, ""))
        self._shown: Optional[bool] = None
        self._lock = threading.Lock()
        self._stopped = Publisher("stopped", Bool, queue_size=1, latch=True)
        self._inputs: List[Any] = []

    def show(self, stopped: bool) -> None:
        """Publish whether the robot is stopped, if that is new."""
        with self._lock:
            if stopped != self._shown:
                self._shown = stopped
                self._stopped.publish(stopped)

    def keep(self) -> None:
        """Keep the present cause over a crash. The caller holds no lock: the master may hang."""
        keep_parameter(STOPPED_BY, lambda: self.cause)

    def advertise(self, stop: Callable[[str], Answer], rearm: Callable[[], Answer]) -> None:
        """Listen for stops and rearming.

        Parameters
        ----------
        stop : callable
            Takes the cause in words; returns success and a sentence.
        rearm : callable
            Returns success and a sentence.
        """

        def on_topic(message: Bool) -> None:
            if message.data:
                sender = message._connection_header.get("callerid", "an unknown node")
                stop(f"topic emergency_stop from {sender}")

        self._inputs = [
            rospy.Service("emergency_stop", Trigger, lambda _: TriggerResponse(*stop("service emergency_stop"))),
            rospy.Service("rearm", Trigger, lambda _: TriggerResponse(*rearm())),
            rospy.Subscriber("emergency_stop", Bool, on_topic, queue_size=5),
        ]
