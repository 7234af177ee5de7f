# SPDX-License-Identifier: MIT
"""Notices of a node in the ROS log."""

from __future__ import annotations

import threading
import time
from typing import Iterator

import rospy

from shellbot_common.log_throttle import LogThrottle
from shellbot_common.notices import Level, Notice

LOG = {Level.INFO: rospy.loginfo, Level.WARN: rospy.logwarn, Level.ERROR: rospy.logerr}


class NodeLog:
    """Logs the notices of a node, throttled as `LogThrottle` says. For any thread.

    Parameters
    ----------
    name : str
        Of the node; every sentence begins with it.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._throttle, self._lock = LogThrottle(), threading.Lock()

    def __call__(self, *notices: Notice) -> None:
        """Log notices, and what was held back before; call it regularly, also without any."""
        with self._lock:
            due = self._throttle.pass_on(notices, time.monotonic())
        for notice in due:
            LOG[notice.level]("%s: %s", self._name, notice.text)

    def each_second(self) -> Iterator[None]:
        """Yield once a second of wall clock, also while the simulation is paused, until shutdown; log what is due."""
        while not rospy.is_shutdown():
            time.sleep(1.0)
            self()
            yield
