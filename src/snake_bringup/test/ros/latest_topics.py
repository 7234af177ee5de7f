# SPDX-License-Identifier: MIT
"""The newest message of each topic, and waiting for what they say: a mixin of the rostests of this package."""

from __future__ import annotations

import threading
import time

import rospy


class LatestTopics:
    """`latest[topic]` is the newest message; `limit` is the patience, s of wall clock: only a hung node meets it."""

    limit = 120.0

    @classmethod
    def listen(cls, *topics):
        """Subscribe to pairs of name and type."""
        cls.news = threading.Condition()
        cls.latest = {}
        for name, kind in topics:
            rospy.Subscriber(name, kind, cls.keep, name, queue_size=1, tcp_nodelay=True)

    @classmethod
    def keep(cls, message, name):
        with cls.news:
            cls.latest[name] = message
            cls.news.notify_all()

    @classmethod
    def wait(cls, condition, what, meanwhile=None):
        """Wait for a condition; `meanwhile`, if given, is called about 12 times a second."""
        until = time.monotonic() + cls.limit
        while True:
            with cls.news:
                if condition():
                    return
                cls.news.wait(0.04)
            if meanwhile is not None:
                meanwhile()
                time.sleep(0.04)
            if time.monotonic() > until:
                raise AssertionError(f"{what}: not within {cls.limit} s; mode is {cls.latest.get('mode')}")
