# SPDX-License-Identifier: MIT
"""The page's server: presets become gains, topics set one gain of all, what is out of range is clamped in words."""

from __future__ import annotations

from typing import Any, Callable, Dict

import rospy
from dynamic_reconfigure.server import Server
from std_msgs.msg import Float64

from shellbot_common import RobotProfile
from shellbot_common.log_node import LOG
from shellbot_control.errors import ConfigurationError
from shellbot_control.gain_presets import PRESET, GainPresets, clamped, of_all_classes

Page = Dict[str, Any]
TOPICS = {"pgain": "p", "dgain": "d"}


class GainsServer(Server):
    """A dynamic_reconfigure server that resolves presets and says what it clamps.

    Parameters
    ----------
    page : object
        As `gains_page` makes it.
    profile : RobotProfile
        Of the robot.
    presets : GainPresets
        Of the robot.
    callback : callable
        Takes the whole page and a level, and returns the page that is in force.
    """

    def __init__(
        self, page: Any, profile: RobotProfile, presets: GainPresets, callback: Callable[[Page, int], Page]
    ) -> None:
        self._profile, self._presets = profile, presets
        super().__init__(page, callback)
        self._topics = [
            rospy.Subscriber(topic, Float64, self._on_gain, callback_args=topic, queue_size=10) for topic in TOPICS
        ]

    def _on_gain(self, message: Float64, topic: str) -> None:
        """Give one gain of every class the value of a topic; a value that is none changes nothing."""
        try:
            changes = of_all_classes(TOPICS[topic], message.data, self._profile)
        except ConfigurationError as error:
            rospy.logwarn("gains: %s refused, nothing changed: %s", topic, error)
            return
        self.update_configuration(changes)

    def update_configuration(self, changes: Page) -> Page:
        """Take an operator's changes; a preset that does not exist, or what is no number, changes nothing."""
        try:
            changes, notices = clamped(self._presets.changes(changes, self.config[PRESET]), self._profile)
        except ConfigurationError as error:
            rospy.logwarn("gains: page refused, nothing changed: %s", error)
            changes, notices = {}, ()
        for notice in notices:
            LOG[notice.level]("gains: %s", notice.text)
        return dict(super().update_configuration(changes))
