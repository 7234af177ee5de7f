# SPDX-License-Identifier: MIT
"""Check the arguments of scripts/sim before anything is started.

roslaunch ignores an argument that it does not know, and a node that is told nonsense dies and is respawned for ever;
both are told here in one line instead. roslaunch's own options (-p 11312, --screen, ...) are passed through.
"""

from __future__ import annotations

import difflib
import math
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

import yaml

SOURCE = Path(__file__).resolve().parents[2] / "src"
LAUNCH = SOURCE / "shellbot_bringup" / "launch" / "sim.launch"
GAITS = SOURCE / "shellbot_action_manager" / "config" / "gaits.yaml"

CHOICES: Dict[str, Tuple[str, ...]] = {
    "simulator": ("mujoco", "gazebo"),
    "variant": ("simulation", "full", "walker"),
    "start_mode": ("hexapod", "stand", "sit"),
    "teleop": ("window", "none"),
    "gui": ("true", "false"),
    "rviz": ("true", "false"),
    "demo": ("true", "false"),
}
RANGES: Dict[str, Tuple[float, float, str]] = {
    "rtf": (0.0, 1000.0, "1 is as in life, 0 as fast as the machine can"),
    "friction": (0.0, 10.0, "0 is the simulator's own"),
    "seed": (-1.0, 2.0**31 - 1.0, "whole; -1 is without noise"),
}


def known_names(launch: Path = LAUNCH) -> List[str]:
    """Return the names of the arguments that a launch file takes."""
    arguments = ElementTree.parse(str(launch)).getroot().findall("arg")
    return [str(a.get("name")) for a in arguments if a.get("value") is None]


def gaits(file: Path = GAITS) -> Tuple[str, ...]:
    """Return the names of the gaits."""
    with open(file, encoding="utf-8") as stream:
        return tuple(yaml.safe_load(stream))


def _wrong_value(name: str, value: str) -> str:
    choices = gaits() if name == "gait" else CHOICES.get(name)
    if choices is not None:
        return "" if value in choices else f"{name}:={value}: choose one of {', '.join(choices)}"
    if name in RANGES:
        low, high, hint = RANGES[name]
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not low <= number <= high or (name == "seed" and number % 1.0 != 0.0):
            return f"{name}:={value}: give a number from {low:g} to {high:g} ({hint})"
    return ""


def complaint(arguments: Sequence[str]) -> str:
    """Return what is wrong with the first wrong argument, in words; empty when all are right."""
    names = known_names()
    option = False
    for argument in arguments:
        name, assigned, value = argument.partition(":=")
        if not assigned:
            # a word after an option of roslaunch may be its value
            if not argument.startswith("-") and not option:
                return f"unknown argument '{argument}'; arguments are NAME:=VALUE, see scripts/sim --help"
            option = argument.startswith("-")
            continue
        option = False
        if name not in names and not name.startswith("_"):
            near = difflib.get_close_matches(name, names, n=1)
            meant = f" (do you mean {near[0]}?)" if near else ""
            return f"there is no argument '{name}'{meant}; the arguments are {', '.join(names)}"
        wrong = _wrong_value(name, value)
        if wrong:
            return wrong
    return ""


def main() -> int:
    """Complain on stderr; returns the exit status: 1 if there is something to complain about."""
    words = complaint(sys.argv[1:])
    if words:
        sys.stderr.write(f"{words}\n")
    return 1 if words else 0


if __name__ == "__main__":
    sys.exit(main())
