# SPDX-License-Identifier: MIT
"""What live tests of the modes share: the last messages by topic, and waiting."""

from __future__ import annotations

from shellbot_common.testing import PATIENCE, wait_until


class ModeWatch:
    """Base with `last`, the last message of each topic, which the test fills."""

    wall_limit = PATIENCE

    def until(self, condition, what):
        wait_until(condition, lambda: f"{what}; mode is\n{self.last.get('mode')}", self.wall_limit)

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
