# SPDX-License-Identifier: MIT
"""The page's server: presets become gains, and what is out of range is clamped in words."""

from __future__ import annotations

from typing import Any, Callable, Dict

import rospy
from dynamic_reconfigure.server import Server

from shellbot_common import RobotProfile
from shellbot_common.log_node import LOG
from shellbot_control.errors import ConfigurationError
from shellbot_control.gain_presets import PRESET, GainPresets, clamped

Page = Dict[str, Any]


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

    def update_configuration(self, changes: Page) -> Page:
        """Take an operator's changes; a preset that does not exist changes nothing."""
        try:
            changes = self._presets.changes(changes, self.config[PRESET])
        except ConfigurationError as error:
            rospy.logwarn("gains: page refused, nothing changed: %s", error)
            changes = {}
        changes, notices = clamped(changes, self._profile)
        for notice in notices:
            LOG[notice.level]("gains: %s", notice.text)
        return dict(super().update_configuration(changes))
