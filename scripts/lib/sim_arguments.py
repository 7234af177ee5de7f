# SPDX-License-Identifier: MIT
"""Check the arguments of scripts/sim and scripts/onboard before anything is started.

roslaunch ignores an argument that it does not know, and a node with a wrong value dies and is respawned for ever;
both are reported here in one line instead. What an argument may be is in a YAML file beside the launch file. The
options of roslaunch itself (-p 11312, --screen, ...) are passed through.
"""

from __future__ import annotations

import difflib
import importlib
import math
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import yaml

SOURCE = Path(__file__).resolve().parents[2] / "src"
ROBOT = "robot:="
DEFAULT_ROBOT = "shellbot"
# what gazebo.launch, the plugins of the descriptions and the controllers' files name
GAZEBO_PACKAGES = (
    "gazebo_ros",
    "gazebo_ros_control",
    "gazebo_plugins",
    "controller_manager",
    "effort_controllers",
    "joint_state_controller",
)


def launch_of(robot: str = DEFAULT_ROBOT, what: str = "sim") -> Path:
    """Return the launch file of a robot in a simulator (sim), on its servos (onboard) or of its operator, if any."""
    return SOURCE / f"{robot}_bringup" / "launch" / f"{what}.launch"


def robots(what: str = "sim") -> List[str]:
    """Return the names of the workspace's robots that have such a launch file, Shellbot first."""
    names = (file.parents[1].name[: -len("_bringup")] for file in SOURCE.glob(f"*_bringup/launch/{what}.launch"))
    return sorted(names, key=lambda name: (name != DEFAULT_ROBOT, name))


def take_robot(arguments: Sequence[str]) -> Tuple[str, List[str]]:
    """Split robot:=NAME, of which the last wins, from the other arguments."""
    named = [argument[len(ROBOT) :] for argument in arguments if argument.startswith(ROBOT)]
    return (named or [DEFAULT_ROBOT])[-1], [argument for argument in arguments if not argument.startswith(ROBOT)]


def known_names(launch: Path) -> Dict[str, str]:
    """Return the names of the arguments that a launch file takes, with their defaults as they stand there."""
    arguments = ElementTree.parse(str(launch)).getroot().findall("arg")
    return {str(a.get("name")): str(a.get("default")) for a in arguments if a.get("value") is None}


def rules(launch: Path, given: Optional[Mapping[str, str]] = None) -> Dict[str, Any]:
    """Return what the arguments of a launch file may be: choices, a range or a path, these with a hint, or a `check`.

    A check is the function ``package.module:function`` that reads the file and raises a SettingsError. That of the row
    `together` gets all arguments by name, with the launch file's defaults.

    The row `not_together` is a list of pairs of NAME:=VALUE with what to do instead. Choices may
    be the keys of a file of the workspace (`keys_of`), or of that in the argument which `or_of` names.
    """
    table: Dict[str, Any] = _load(launch.with_suffix(".yaml"))
    for name, rule in list(table.items()):
        if isinstance(rule, dict) and "keys_of" in rule:
            other = (given or {}).get(rule.get("or_of", ""), "")
            if other and _no_mapping(other):
                del table[name]  # the file itself is what is wrong
            else:
                table[name] = list(_load(Path(other) if other else SOURCE / rule["keys_of"]))
    return table


def _load(file: Path) -> Dict[str, Any]:
    with open(file, encoding="utf-8") as stream:
        return dict(yaml.safe_load(stream))


def _wrong_settings(path: str, simulator: str) -> str:
    """Return what is wrong with a settings file of the embedded simulator."""
    if simulator == "gazebo":
        return "settings:=FILE is for the embedded simulator; Gazebo's physics is in its world file, world:=FILE"
    from shellbot_common.yaml_file import read_yaml
    from shellbot_simulator.core.config import load_config
    from shellbot_simulator.core.errors import ConfigError

    try:
        load_config(changes=path)
        names = read_yaml(path, ConfigError)
    except ConfigError as error:
        return str(error)
    for name, argument in (("engine", "simulator"), ("friction", "friction")):
        if name in names:
            return f"{name} of {path} has an argument of its own; leave it out and give {argument}:={names[name]}"
    return ""


def _wrong_world(path: str, simulator: str, robot: str) -> str:
    """Return what is wrong with a world file of Gazebo's."""
    if simulator != "gazebo":
        grounds = ", ".join(_load(SOURCE / "shellbot_simulator/config/terrains.yaml"))
        return f"world:=FILE is for simulator:=gazebo; for the embedded simulator give terrain:=NAME, one of {grounds}"
    from shellbot_gazebo_connector.world_file import world_complaint

    return world_complaint(path, robot)


def _refusal(check: str, given: Any) -> str:
    """Return what the function that a robot's rules name as ``package.module:function`` says against what is given."""
    from shellbot_common import SettingsError

    module, _, function = check.partition(":")
    try:
        getattr(importlib.import_module(module), function)(given)
    except SettingsError as error:
        return str(error)
    return ""


def _wrong_file(kind: str, path: str, given: Dict[str, str], launch: Path) -> str:
    simulator = given.get("simulator", "mujoco")
    if kind == "settings":
        return _wrong_settings(path, simulator) if path else ""
    return _wrong_world(path, simulator, launch.parents[1].name[: -len("_bringup")])


def _no_mapping(file: str) -> str:
    """Return why a user's file holds no mapping of YAML, in words; empty if it does."""
    try:
        _load(Path(file))
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    except (ValueError, TypeError):
        return "holds no rows NAME: ..."
    except yaml.YAMLError as error:
        return f"is no YAML ({' '.join(str(error).split())})"
    return ""


def _wrong_value(name: str, value: str, rule: Any) -> str:
    if isinstance(rule, list):
        return "" if value in rule else f"{name}:={value}: choose one of {', '.join(rule)}"
    if "path" in rule:
        is_folder = rule["path"] == "folder"
        wrong = _no_mapping(value) if not is_folder else "" if Path(value).is_dir() else "is no folder"
        if value and wrong:
            return f"{name}:={value} {wrong}; {rule['hint']}"
    if "check" in rule:
        return _refusal(rule["check"], value) if value else ""
    if "path" in rule:
        return ""
    try:  # as roslaunch reads it, which makes 1e6 a text, and its node refuses that
        number = math.nan if "_" in value else float(value) if "." in value else int(value)
    except ValueError:
        number = math.nan
    if rule["low"] <= number <= rule["high"] and not (rule.get("whole") and number % 1.0):
        return ""
    digits = " in digits alone" if "e" in value.lower() else ""
    return f"{name}:={value}: give a number{digits} from {rule['low']} to {rule['high']} ({rule['hint']})"


def complaint(arguments: Sequence[str], launch: Path) -> str:
    """Return what is wrong with the first wrong argument of a launch file, in words; empty when all are right."""
    given = {name: value for name, sign, value in (argument.partition(":=") for argument in arguments) if sign}
    names, table = known_names(launch), rules(launch, given)
    pairs, together = table.pop("not_together", []), table.pop("together", "")
    script = "scripts/onboard" if launch.stem == "operator" else f"scripts/{launch.stem}"
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
        if name in table and "file" not in table[name]:
            wrong = _wrong_value(name, value, table[name])
            if wrong:
                return wrong
    for first, second, hint in pairs:
        if {first, second} <= {f"{name}:={value}" for name, value in given.items()}:
            return f"{first} cannot be had with {second}; {hint}"
    if given.get("simulator") == "gazebo" and float(given.get("rtf", 1.0)) != 1.0:
        return (
            f"rtf:={given['rtf']} is for the embedded simulator; for Gazebo copy its world file, set "
            f"real_time_update_rate, in steps a second, to {1e3 * float(given['rtf']):g}, and give world:=FILE"
        )
    for name, rule in table.items():
        if name in given and "file" in rule:
            wrong = _wrong_file(rule["file"], given[name], given, launch)
            if wrong:
                return wrong
    defaults = {name: value for name, value in names.items() if "$(" not in value}
    return _refusal(together, {**defaults, **given}) if together else ""


def sim_complaint(arguments: Sequence[str], what: str = "sim") -> str:
    """Return what is wrong with the arguments of a script that starts a launch file, the robot's name among them."""
    robot, others = take_robot(arguments)
    if robot not in robots(what):
        return f"{ROBOT}{robot}: choose one of {', '.join(robots(what))}"
    return complaint(others, launch_of(robot, what))


def missing_for_gazebo(arguments: Sequence[str], has: Callable[[str], bool]) -> str:
    """Return which ROS packages simulator:=gazebo lacks and what to install, in words; empty if none or not needed."""
    simulators = [argument for argument in arguments if argument.startswith("simulator:=")]
    if simulators[-1:] != ["simulator:=gazebo"]:
        return ""
    missing = [name for name in GAZEBO_PACKAGES if not has(name)]
    if not missing:
        return ""
    noetic = " ".join(f"ros-noetic-{name.replace('_', '-')}" for name in missing)
    return (
        f"simulator:=gazebo needs {', '.join(missing)}: with ROS Noetic, sudo apt install {noetic}; Debian has none of "
        "them, see docs/install.md. Leave simulator:=gazebo out for the embedded simulator"
    )


def _is_installed(package: str) -> bool:
    import rospkg

    try:
        return bool(rospkg.RosPack().get_path(package))
    except rospkg.ResourceNotFound:
        return False


def main() -> int:
    """Complain on stderr; returns the exit status: 1 if there is something to complain about."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["--launch"]:
        words = sim_complaint(arguments[2:], arguments[1])
    else:
        words = sim_complaint(arguments) or missing_for_gazebo(arguments, _is_installed)
    if words:
        sys.stderr.write(f"{words}\n")
    return 1 if words else 0


if __name__ == "__main__":
    sys.exit(main())
