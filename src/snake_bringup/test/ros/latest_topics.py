# SPDX-License-Identifier: MIT
"""The newest message of each topic, and waiting for what they say: a mixin of the rostests of this package."""

from __future__ import annotations

import rospy

from shellbot_common.testing import PATIENCE, wait_until


class LatestTopics:
    """`latest[topic]` is the newest message; `limit` is the patience, s of wall clock: only a hung node meets it."""

    limit = PATIENCE

    @classmethod
    def listen(cls, *topics):
        """Subscribe to pairs of name and type."""
        cls.latest = {}
        for name, kind in topics:
            rospy.Subscriber(name, kind, cls.keep, name, queue_size=1, tcp_nodelay=True)

    @classmethod
    def keep(cls, message, name):
        cls.latest[name] = message

    @classmethod
    def wait(cls, condition, what, meanwhile=lambda: None, period=0.01):
        """Wait for a condition, as `wait_until`."""
        wait_until(condition, lambda: f"{what}; mode is {cls.latest.get('mode')}", cls.limit, meanwhile, period)
