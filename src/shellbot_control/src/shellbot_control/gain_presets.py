# SPDX-License-Identifier: MIT
"""Presets of the page of gains, one gain of all classes, and what of an operator's request the page cannot take."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Tuple

from shellbot_common import Level, Notice, RobotProfile
from shellbot_control.errors import ConfigurationError
from shellbot_control.gains import GAIN_NAMES, STIFFNESS, STIFFNESS_RANGE, Gains, GainTable, page_name

PRESET = "preset"
"""Name of the choice on the page."""

RESET, CUSTOM = "reset", "custom"
_RESET_TEXT = "as the page started: the controllers' own gains, stiffness 1"
_CUSTOM_TEXT = "none of the presets; choosing it changes nothing"


@dataclass(frozen=True)
class GainPresets:
    """What the presets of a robot stand for."""

    tables: Mapping[str, GainTable]  #: Preset to gains, `reset` among them
    options: Mapping[str, str]  #: Preset to what it is for, `reset` and `custom` among them

    @classmethod
    def of_robot(cls, profile: RobotProfile, start: GainTable) -> GainPresets:
        """Return the presets of a robot.

        Parameters
        ----------
        profile : RobotProfile
            Its `gain_presets` are factors of `start`.
        start : GainTable
            What the page starts with; a class that it lacks has the servos' own stiffness, as on the page.
        """
        start = GainTable({**GainTable.from_profile(profile).classes, **start.classes})
        tables: Dict[str, GainTable] = {}
        for name, preset in profile.gain_presets.items():
            classes = {
                kind: Gains(
                    min(gains.p * preset.p.get(kind, 1.0), profile.gain_limits.p),
                    gains.i,
                    min(preset.d.get(kind, gains.d), profile.gain_limits.d),
                )
                for kind, gains in start.classes.items()
            }
            tables[name] = GainTable(classes, preset.stiffness)
        tables[RESET] = GainTable(start.classes)
        texts = {name: preset.text for name, preset in profile.gain_presets.items()}
        return cls(tables, {**texts, RESET: _RESET_TEXT, CUSTOM: _CUSTOM_TEXT})

    def changes(self, requested: Mapping[str, Any], present: str) -> Dict[str, Any]:
        """Return what an operator's changes of the page mean: a preset stands for all of its gains.

        Parameters
        ----------
        requested : mapping
            Entries that the operator changes; gains that are named beside a preset count more than the preset.
        present : str
            The preset that the page shows.

        Raises
        ------
        ConfigurationError
            If there is no such preset.
        """
        name = requested.get(PRESET, present)
        if name not in self.options:
            raise ConfigurationError(f"preset {name!r} does not exist; choose one of {', '.join(self.options)}")
        if name in (CUSTOM, present):
            return dict(requested)
        return {**self.tables[name].to_page(), **requested}

    def name_of(self, table: GainTable, chosen: str = "") -> str:
        """Return the preset that some gains are, or `custom`; of equal presets the chosen one."""
        order = {name: self.tables[name] for name in (chosen, *self.tables) if name in self.tables}
        for name, preset in order.items():
            same = all(preset.classes[kind].close_to(gains) for kind, gains in table.classes.items())
            if same and math.isclose(preset.stiffness, table.stiffness, rel_tol=1e-6):
                return name
        return CUSTOM


def of_all_classes(gain: str, value: float, profile: RobotProfile) -> Dict[str, Any]:
    """Return the changes of the page that give one gain of every class the same value.

    Parameters
    ----------
    gain : str
        p, i or d.
    value : float
        In the gain's unit.
    profile : RobotProfile
        Classes, and the range of the gain.

    Raises
    ------
    ConfigurationError
        If the value is not finite or out of range: a number for all joints at once is not clamped.
    """
    high = getattr(profile.gain_limits, gain)
    if not 0.0 <= value <= high:  # not a number, too
        raise ConfigurationError(f"{gain} of all joints is {value:g}; give a number from 0 to {high:g}")
    return {page_name(kind, gain): float(value) for kind in profile.classes}


def clamped(changes: Mapping[str, Any], profile: RobotProfile) -> Tuple[Dict[str, Any], Tuple[Notice, ...]]:
    """Return changes of the page within its ranges, and a sentence for each that was not.

    Raises
    ------
    ConfigurationError
        If one is no finite number.
    """
    limits = {STIFFNESS: STIFFNESS_RANGE}
    for kind in profile.classes:
        limits.update({page_name(kind, gain): (0.0, getattr(profile.gain_limits, gain)) for gain in GAIN_NAMES})
    result, notices = dict(changes), []
    for name, value in changes.items():
        if name not in limits:
            continue
        low, high = limits[name]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise ConfigurationError(f"{name} is {value!r}; give a number from {low:g} to {high:g}")
        if not low <= value <= high:
            result[name] = min(max(float(value), low), high)
            text = f"{name} is {value:g}; the range is {low:g} to {high:g}, so it became {result[name]:g}"
            notices.append(Notice(f"clamped {name}", Level.WARN, text))
    return result, tuple(notices)
