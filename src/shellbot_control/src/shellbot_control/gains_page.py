# SPDX-License-Identifier: MIT
"""The page of gains as dynamic_reconfigure describes one, made for the joint classes of a robot."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Dict, List, Tuple

from shellbot_common import RobotProfile
from shellbot_control.gains import GAIN_NAMES, STIFFNESS, STIFFNESS_RANGE, GainTable, page_name

UNITS = {"p": "N m/rad", "i": "N m/(rad s)", "d": "N m s/rad"}


def gains_page(profile: RobotProfile, table: GainTable) -> SimpleNamespace:
    """Return what a dynamic_reconfigure server takes for its type: as a generated module, without a build.

    Parameters
    ----------
    profile : RobotProfile
        Its classes, in their order, and the ranges of their gains.
    table : GainTable
        Defaults; a class that it lacks has the servos' own stiffness.
    """
    values = {**GainTable.from_profile(profile).to_page(), **table.to_page()}
    stiffness = _entry(STIFFNESS, values, STIFFNESS_RANGE, "Multiplies P and I of every joint; 0: limp but damped")
    groups: List[Dict[str, Any]] = []
    for name in profile.classes:
        entries = [
            _entry(
                page_name(name, gain),
                values,
                (0.0, getattr(profile.gain_limits, gain)),
                f"{gain.upper()} of the {name} joints, {UNITS[gain]}",
            )
            for gain in GAIN_NAMES
        ]
        groups.append(_group(name, len(groups) + 1, entries, []))
    entries = [stiffness, *(entry for group in groups for entry in group["parameters"])]
    return SimpleNamespace(
        config_description=_group("Default", 0, [stiffness], groups),
        min={entry["name"]: entry["min"] for entry in entries},
        max={entry["name"]: entry["max"] for entry in entries},
        defaults={entry["name"]: entry["default"] for entry in entries},
        level={entry["name"]: entry["level"] for entry in entries},
        type={entry["name"]: entry["type"] for entry in entries},
        all_level=0,
    )


def _entry(name: str, values: Dict[str, float], limits: Tuple[float, float], description: str) -> Dict[str, Any]:
    low, high = limits
    return {
        "name": name,
        "type": "double",
        "default": values[name],
        "level": 0,
        "description": description,
        "min": low,
        "max": high,
        "edit_method": "",
    }


def _group(name: str, index: int, entries: List[Dict[str, Any]], groups: List[Dict[str, Any]]) -> Dict[str, Any]:
    return {
        "name": name,
        "type": "",
        "state": True,
        "cstate": "true",
        "id": index,
        "parent": 0,
        "parameters": entries,
        "groups": groups,
    }
