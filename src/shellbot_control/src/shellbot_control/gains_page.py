# SPDX-License-Identifier: MIT
"""The page of gains, made for the joint classes of a robot."""

from __future__ import annotations

from types import SimpleNamespace

from shellbot_common import RobotProfile
from shellbot_common.reconfigure_page import PageChoice, PageNumber, reconfigure_page
from shellbot_control.gain_presets import PRESET, GainPresets
from shellbot_control.gains import GAIN_NAMES, STIFFNESS, STIFFNESS_RANGE, GainTable, page_name

UNITS = {"p": "N m/rad", "i": "N m/(rad s)", "d": "N m s/rad"}


def gains_page(profile: RobotProfile, table: GainTable, presets: GainPresets) -> SimpleNamespace:
    """Return what a dynamic_reconfigure server takes for its type.

    Parameters
    ----------
    profile : RobotProfile
        Its classes, in their order, and the ranges of their gains.
    table : GainTable
        Defaults; a class that it lacks has the servos' own stiffness.
    presets : GainPresets
        Of the robot.
    """
    values = {**GainTable.from_profile(profile).to_page(), **table.to_page()}

    def number(name: str, low: float, high: float, description: str) -> PageNumber:
        return PageNumber(name, values[name], low, high, description)

    stiffness = number(STIFFNESS, *STIFFNESS_RANGE, "Multiplies P and I of every joint; 0: limp but damped")
    groups = {
        name: [
            number(
                page_name(name, gain),
                0.0,
                getattr(profile.gain_limits, gain),
                f"{gain.upper()} of the {name} joints, {UNITS[gain]}",
            )
            for gain in GAIN_NAMES
        ]
        for name in profile.classes
    }
    choice = PageChoice(PRESET, presets.name_of(table), presets.options, "Gains of all classes at once")
    return reconfigure_page([choice, stiffness], groups)
