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

    def stamp(self, topic):
        return self.last[topic].header.stamp.to_sec()

    def until_later(self, topic, seconds):
        """Wait by the stamps of a topic: the clock may run on while a starved listener sees no new message."""
        self.until(lambda: topic in self.last, topic)
        end = self.stamp(topic) + seconds
        self.until(lambda: self.stamp(topic) >= end, f"{topic} of {seconds:g} s later")

    def mode(self):
        message = self.last.get("mode")
        return (message.name, message.target, message.step) if message else None
