# SPDX-License-Identifier: MIT
"""scripts/gains: the page of gains from a terminal, and its file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional

import rosgraph
import rospy
from dynamic_reconfigure.client import Client

from shellbot_common import RobotProfile, SettingsError, add_command, named_numbers
from shellbot_common.robot_profile import PARAMETER
from shellbot_control.errors import ConfigurationError
from shellbot_control.gain_presets import PRESET, RESET, clamped
from shellbot_control.gains import GAIN_NAMES, STIFFNESS, GainTable, page_name
from shellbot_control.gains_file import GainsFile

PATIENCE = 5.0  # s of wall clock for the node gains to answer


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        prog="scripts/gains",
        description="Gains of the running robot: presets, overall stiffness, and a YAML file. P in N m/rad, "
        "I in N m/(rad s), D in N m s/rad; the stiffness multiplies P and I.",
        epilog="example: scripts/gains save mine.yaml; scripts/gains preset soft; scripts/gains load mine.yaml",
    )
    p.add_argument("--server", default="gains", metavar="NAME", help="node of the page (default: gains)")
    commands = p.add_subparsers(dest="command", required=True, metavar="show|preset|set|save|load")
    add_command(commands, "show", "print the gains in force and the presets")
    preset = add_command(commands, "preset", "switch all classes to a preset, such as soft, walk, ball or reset")
    preset.add_argument("name", help="see show")
    change = add_command(commands, "set", "change entries of the page, such as CLASS_p=30 stiffness=0.8")
    change.add_argument("entries", nargs="+", metavar="NAME=VALUE")
    save = add_command(commands, "save", "write the gains in force to a YAML file")
    save.add_argument("file", type=Path, metavar="FILE.yaml")
    save.add_argument("--force", action="store_true", help="replace the file if it exists")
    load = add_command(commands, "load", "take the gains of a YAML file; what it does not name stays")
    load.add_argument("file", type=Path, metavar="FILE.yaml")
    return p


def run(arguments: argparse.Namespace) -> str:
    """Do it, and return what to print.

    Raises
    ------
    SettingsError
        If there is no robot or page, the file is wrong, or an entry is.
    """
    file = GainsFile.load(arguments.file) if arguments.command == "load" else None  # before the node is called
    if arguments.command == "save" and arguments.file.exists() and not arguments.force:
        raise ConfigurationError(f"{arguments.file} exists; give another name, or --force")
    if not rosgraph.is_master_online():
        raise ConfigurationError(f"no ROS master at {rosgraph.get_master_uri()}; start the robot, such as scripts/sim")
    rospy.init_node("gains_tool", anonymous=True, disable_rostime=True, disable_signals=True)
    profile = RobotProfile.from_text(rospy.get_param(PARAMETER, ""))
    try:
        page = Client(arguments.server, timeout=PATIENCE)
    except rospy.ROSException:
        raise ConfigurationError(
            f"the node {arguments.server} does not answer; is it running? It is part of scripts/sim and onboard.launch"
        ) from None
    present = page.get_configuration(timeout=PATIENCE)
    if present is None:
        raise ConfigurationError(f"the node {arguments.server} sends no gains; is it starting? Try again")
    if arguments.command == "save":
        GainsFile.of_table(profile.name, GainTable.from_page(present, profile.classes)).save(arguments.file)
        return f"gains of {profile.name} in {arguments.file}; scripts/gains load {arguments.file} takes them again"
    if arguments.command == "show":
        return table(present, profile)
    if arguments.command == "preset":
        _check_name(PRESET, arguments.name, (RESET, *profile.gain_presets))
        changes: Dict[str, Any] = {PRESET: arguments.name}
    elif file is not None:
        changes = dict(file.changes(profile.name, profile.classes))
    else:
        changes = entries(arguments.entries, present)
    changes, notices = clamped(changes, profile)
    applied = page.update_configuration(changes)
    return "\n".join([*(f"note: {notice.text}" for notice in notices), table(applied, profile)])


def entries(words: List[str], page: Mapping[str, Any]) -> Dict[str, float]:
    """Return NAME=VALUE words as changes of the page.

    Raises
    ------
    SettingsError
        If a word is no such entry.
    """
    changes = named_numbers(words, "stiffness=0.8")
    for name in changes:
        _check_name("entry", name, [entry for entry, value in page.items() if isinstance(value, (int, float))])
    return changes


def table(page: Mapping[str, Any], profile: RobotProfile) -> str:
    """Return the page as lines of text."""
    lines = [f"{profile.name}: preset {page[PRESET]}, stiffness {page[STIFFNESS]:g}"]
    lines.append(f"{'class':<16}{'P / N m/rad':>14}{'I / N m/(rad s)':>18}{'D / N m s/rad':>16}")
    for kind in profile.classes:
        p, i, d = (page[page_name(kind, gain)] for gain in GAIN_NAMES)
        lines.append(f"{kind:<16}{p:>14.3f}{i:>18.3f}{d:>16.4f}")
    presets = {name: preset.text for name, preset in profile.gain_presets.items()}
    lines += [f"  {name}: {text}" for name, text in {**presets, RESET: "what the page started with"}.items()]
    return "\n".join(lines)


def _check_name(what: str, name: str, known: Any) -> None:
    if name not in known:
        raise ConfigurationError(f"{what} {name!r} does not exist; choose one of {', '.join(known)}")


def main(argv: Optional[List[str]] = None) -> int:
    """Run the tool; returns 0, or 2 after an error."""
    arguments = parser().parse_args(rospy.myargv(sys.argv)[1:] if argv is None else argv)
    try:
        sys.stdout.write(run(arguments) + "\n")
    except SettingsError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0
