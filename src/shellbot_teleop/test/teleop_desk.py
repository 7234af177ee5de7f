# SPDX-License-Identifier: MIT
"""A station of the page's server without browser and ROS, for the tests."""

from __future__ import annotations

import json

from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.effects import (
    PublishTwist,
)
from shellbot_teleop.limits import Limits
from shellbot_teleop.link_events import LinkState, OperatorSeen
from shellbot_teleop.web.station import Station


class Desk:
    """A station with a clock that the test turns, and everything that came out of it."""

    def __init__(self, config, keymap):
        self.t = 100.0
        self.config = config
        self.done, self.performed, self.notices = [], [], []
        self.station = Station(
            CommandModel(config, keymap),
            config,
            self.done.append,
            self.performed.append,
            lambda page, notice: self.notices.append((page, notice.text)),
            lambda: self.t,
        )
        self.station.observe(LinkState(True, "connected"))
        self.station.observe(Limits((0.4, 0.3, 1.0), (-0.05,) * 3, (0.05,) * 3, (0.2,) * 3, "tripod", True))
        self.clear()

    def clear(self):
        for each in (self.done, self.performed, self.notices):
            each.clear()

    def send(self, page, kind, **values):
        self.station.receive(page, json.dumps({"type": kind, **values}))

    def take(self, page):
        """Open a page and let the robot give it control."""
        self.station.open(page, f"10.0.0.{page}")
        self.send(page, "do", action="control.take")
        self.station.observe(OperatorSeen("teleop_web", True))

    def pass_time(self, seconds, alive=None):
        """Let time pass in steps of 50 ms; the page `alive` shows signs of life, or nobody."""
        for _ in range(round(seconds / 0.05)):
            self.t += 0.05
            if alive is not None:
                self.send(alive, "alive")
            self.station.tick()

    def kinds(self, kind):
        return [effect for effect in self.done if isinstance(effect, kind)]

    @property
    def twists(self):
        return self.kinds(PublishTwist)

    def texts(self, page=None):
        return " ".join(text for number, text in self.notices if page is None or number in (None, page))
