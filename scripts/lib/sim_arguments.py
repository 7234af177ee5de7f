# SPDX-License-Identifier: MIT
"""Check the arguments of scripts/sim and scripts/onboard before anything is started.

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
FOLDER = SOURCE / "shellbot_bringup" / "launch"
LAUNCH = FOLDER / "sim.launch"
ONBOARD = FOLDER / "onboard.launch"
GAITS = SOURCE / "shellbot_action_manager" / "config" / "gaits.yaml"

CHOICES: Dict[str, Tuple[str, ...]] = {
    "simulator": ("mujoco", "gazebo"),
    "variant": ("simulation", "full", "walker"),
    "start_mode": ("hexapod", "stand", "sit"),
    "teleop": ("window", "none"),
    "gui": ("true", "false"),
    "rviz": ("true", "false"),
    "demo": ("true", "false", "mission"),
}
RANGES: Dict[str, Tuple[float, float, str]] = {
    "rtf": (0.0, 1000.0, "1 is real time, 0 as fast as possible"),
    "friction": (0.0, 10.0, "0: the simulator's settings"),
    "seed": (-1.0, 2.0**31 - 1.0, "a whole number; -1: no noise"),
}
# Where onboard.launch differs from sim.launch.
ONBOARD_CHOICES: Dict[str, Tuple[str, ...]] = {
    **{name: CHOICES[name] for name in ("start_mode", "teleop", "gui", "rviz")},
    "variant": ("walker", "full"),
    "emulated": ("true", "false"),
    "direction": ("auto", "rs485", "echo", "gpio", "rts", "write-only"),
}
ONBOARD_RANGES: Dict[str, Tuple[float, float, str]] = {
    "friction": RANGES["friction"],
    "seed": RANGES["seed"],
    "baud": (7000.0, 1000000.0, "1000000 is the factory setting"),
    "latency_ms": (0.0, 1000.0, "2 for an FTDI adapter with latency_timer 1"),
    "priority": (0.0, 99.0, "a whole number; 0: none"),
}
WHOLE = ("seed", "baud", "priority")


def known_names(launch: Path = LAUNCH) -> List[str]:
    """Return the names of the arguments that a launch file takes."""
    arguments = ElementTree.parse(str(launch)).getroot().findall("arg")
    return [str(a.get("name")) for a in arguments if a.get("value") is None]


def gaits(file: Path = GAITS) -> Tuple[str, ...]:
    """Return the names of the gaits."""
    with open(file, encoding="utf-8") as stream:
        return tuple(yaml.safe_load(stream))


def _wrong_value(name: str, value: str, launch: Path) -> str:
    onboard = launch == ONBOARD
    choices = gaits() if name == "gait" else (ONBOARD_CHOICES if onboard else CHOICES).get(name)
    ranges = ONBOARD_RANGES if onboard else RANGES
    if choices is not None:
        return "" if value in choices else f"{name}:={value}: choose one of {', '.join(choices)}"
    if name in ranges:
        low, high, hint = ranges[name]
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not low <= number <= high or (name in WHOLE and number % 1.0 != 0.0):
            return f"{name}:={value}: give a number from {low:g} to {high:g} ({hint})"
    return ""


def complaint(arguments: Sequence[str], launch: Path = LAUNCH) -> str:
    """Return what is wrong with the first wrong argument of a launch file, in words; empty when all are right."""
    names = known_names(launch)
    script = "scripts/onboard" if launch == ONBOARD else "scripts/sim"
    option = False
    for argument in arguments:
        name, assigned, value = argument.partition(":=")
        if not assigned:
            # a word after an option of roslaunch may be its value
            if not argument.startswith("-") and not option:
                return f"unknown argument '{argument}'; arguments are NAME:=VALUE, see {script} --help"
            option = argument.startswith("-")
            continue
        option = False
        if name not in names and not name.startswith("_"):
            near = difflib.get_close_matches(name, names, n=1)
            meant = f" (do you mean {near[0]}?)" if near else ""
            return f"there is no argument '{name}'{meant}; the arguments are {', '.join(names)}"
        wrong = _wrong_value(name, value, launch)
        if wrong:
            return wrong
    return ""


def main() -> int:
    """Complain on stderr; returns the exit status: 1 if there is something to complain about."""
    arguments, launch = sys.argv[1:], LAUNCH
    if arguments[:2] == ["--launch", "onboard"]:
        arguments, launch = arguments[2:], ONBOARD
    words = complaint(arguments, launch)
    if words:
        sys.stderr.write(f"{words}\n")
    return 1 if words else 0


if __name__ == "__main__":
    sys.exit(main())
