# SPDX-License-Identifier: MIT
"""What live tests of the modes share: the last messages by topic, and patience."""

from __future__ import annotations

import time

import rospy


class ModeWatch:
    """Base with `last`, the last message of each topic, which the test fills."""

    wall_limit = 120.0  # s of wall clock for anything to happen

    def until(self, condition, what):
        end = time.time() + self.wall_limit
        while not condition():
            if time.time() > end or rospy.is_shutdown():
                raise AssertionError(f"{what}: not within {self.wall_limit:g} s; mode is\n{self.last.get('mode')}")
            time.sleep(0.02)

    def mode(self):
        message = self.last.get("mode")
        return (message.name, message.target, message.step) if message else None
