# SPDX-License-Identifier: MIT
"""Control of a robot on the wire, for the node that takes its commands: who has it, and whose commands count."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable
from urllib.parse import urlparse

import rosgraph
import rospy
from std_msgs.msg import Empty, String
from std_srvs.srv import SetBool, SetBoolRequest, SetBoolResponse

from shellbot_common.control_lease import ControlLease, LeaseConfig
from shellbot_common.log_node import NodeLog
from shellbot_common.notices import Level, Notice
from shellbot_common.package_files import package_file
from shellbot_common.publisher_node import Publisher

_IDLE = 1.0  # s


class OperatorInterface:
    """
    Service ``take_control``, topic ``operator_alive``, latched topic ``operator``; refuses commands of other operators.

    Parameters
    ----------
    stop : callable
        Called, from a thread, when the operator in control drove and fell silent, lost control or gave it up: the
        velocity last commanded may not count any longer.

    Raises
    ------
    SettingsError
        The file in the parameter ``~operators_file`` is invalid.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        path = rospy.get_param("~operators_file", "") or package_file("shellbot_common", "config/operators.yaml")
        self._stop, self._lease = stop, ControlLease(LeaseConfig.load(path), _described)
        self._changed = threading.Condition()
        self._log = NodeLog(rospy.get_name().strip("/"))
        self._holder = Publisher("operator", String, queue_size=5, latch=True)
        self._holder.publish("")
        self._endpoints = [
            rospy.Service("take_control", SetBool, self._on_request),
            rospy.Subscriber("operator_alive", Empty, self._on_sign, queue_size=1, tcp_nodelay=True),
        ]
        threading.Thread(target=self._watch, name="operator_watch", daemon=True).start()

    def accepts(self, message: Any) -> bool:
        """Tell whether a command counts: a message, or the request of a service; what does not is logged."""
        return not self.refusal(message)

    def refusal(self, message: Any) -> str:
        """Return why a command does not count, or ""; what does not is logged, too."""
        with self._changed:
            return self._logged(self._lease.refusal(sender_of(message), time.monotonic()))

    def accepts_motion(self, message: Any, moves: bool) -> bool:
        """Tell whether a velocity counts, or what goes on like one; `moves`: it is not zero."""
        with self._changed:
            return not self._logged(self._lease.motion_refusal(sender_of(message), moves, time.monotonic()))

    def _logged(self, reason: str) -> str:
        if reason:
            self._log(Notice("operator", Level.WARN, reason))
        return reason

    def _on_sign(self, message: Empty) -> None:
        with self._changed:
            self._lease.is_alive(sender_of(message), time.monotonic())

    def _on_request(self, request: SetBoolRequest) -> SetBoolResponse:
        name = sender_of(request)
        with self._changed:
            before, drives = self._lease.holder, self._lease.drives
            granted, text = self._lease.take(name, time.monotonic()) if request.data else self._lease.give_up(name)
            changed = self._lease.holder != before
            if changed:
                self._holder.publish(self._lease.holder)
            self._changed.notify_all()
        (rospy.loginfo if granted else rospy.logwarn)(f"{rospy.get_name().strip('/')}: {text}")
        if changed and drives:
            self._stop()
        return SetBoolResponse(granted, text)

    def _watch(self) -> None:
        """Notice at once when the operator in control falls silent."""
        while not rospy.is_shutdown():
            with self._changed:
                due = self._lease.next_check(time.monotonic())
                self._changed.wait(_IDLE if due is None else due)
                drives = self._lease.drives
                text = self._lease.silence(time.monotonic())
                if text and not self._lease.holder:
                    self._holder.publish("")
            if text and drives:
                self._stop()
            if text:  # again and again where an operator's machine is too slow
                self._log(Notice("silence", Level.WARN, text))


def sender_of(message: Any) -> str:
    """Return the name of the node that sent a message or called a service."""
    return str((getattr(message, "_connection_header", None) or {}).get("callerid", "an unknown node")).lstrip("/")


def _described(name: str) -> str:
    """Return a node's name with the machine on which it runs."""
    try:
        host = urlparse(rosgraph.Master(rospy.get_name()).lookupNode(f"/{name}")).hostname
    except (rosgraph.MasterError, OSError):
        host = None  # it has gone
    return f"{name} on {host}" if host else name
