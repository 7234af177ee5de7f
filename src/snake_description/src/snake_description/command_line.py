# SPDX-License-Identifier: MIT
"""The commands `snake_urdf`, `snake_profile`, `snake_controllers` and `snake_servos`: launch files' parameters."""

from __future__ import annotations

import argparse
import sys
from typing import Any, Dict, List, Optional

import yaml

from shellbot_common import SettingsError, read_yaml_text
from shellbot_control.controllers import controllers_parameters
from snake_description.expansion import SIMULATORS, expand
from snake_description.profile import servo_map, snake_profile
from snake_description.variables import SnakeVariables, load_variables


def main(what: str, arguments: Optional[List[str]] = None) -> None:
    """Print URDF, profile, the controller's parameters or the servo map of a snake, as the command `what` says.

    On a wrong argument it prints one line that says what to do and exits with status 1.
    """
    parser = argparse.ArgumentParser(prog=what, description=f"Print {what[len('snake_') :]} of a snake.")
    parser.add_argument("--variables", default=None, metavar="FILE", help="another variables file")
    parser.add_argument("--simulator", default="mujoco", choices=SIMULATORS, help="who reads it (default: mujoco)")
    parser.add_argument("changes", nargs="*", metavar="NAME=VALUE", help="variables that differ, e.g. modules=8")
    given = sys.argv[1:] if arguments is None else arguments
    options = parser.parse_args([text for text in given if not text.startswith("__")])
    try:
        variables = load_variables(options.variables, **_changes(options.changes))
        sys.stdout.write(_text(what, variables, options.simulator))
    except SettingsError as error:
        sys.exit(f"{what}: {error}")


def _text(what: str, variables: SnakeVariables, simulator: str) -> str:
    if what == "snake_urdf":
        return expand(variables, simulator)
    if what == "snake_servos":
        return str(yaml.safe_dump(servo_map(variables), sort_keys=False))
    profile = snake_profile(variables)
    if what == "snake_profile":
        return profile.to_text()
    parameters = controllers_parameters(profile, expand(variables))[profile.controller]
    return str(yaml.safe_dump(parameters, sort_keys=False))


def _changes(texts: List[str]) -> Dict[str, Any]:
    changes: Dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign:
            raise SettingsError(f"{text!r} is no variable; write name=value")
        changes.update(read_yaml_text(f"{name}: {value}", text))
    return changes
