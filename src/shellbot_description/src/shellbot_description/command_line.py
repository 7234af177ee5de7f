# SPDX-License-Identifier: MIT
"""The commands `expand`, `profile` and `named_pose` of the package, which launch files use to fill parameters."""

from __future__ import annotations

import argparse
import sys
from typing import Dict, List, Optional

from shellbot_description.errors import DescriptionError
from shellbot_description.expansion import SIMULATORS, XACRO_ARGS, expand
from shellbot_description.names import VARIANTS
from shellbot_description.poses import POSES, named_pose, pose
from shellbot_description.profile import robot_profile


def parse(arguments: List[str]) -> argparse.Namespace:
    """Return the parsed command line; roslaunch's remappings (`__name:=...`) are ignored."""
    parser = argparse.ArgumentParser(prog="expand", description="Print the URDF of Shellbot.")
    parser.add_argument("--variant", default="simulation", choices=VARIANTS, help="which robot (default: simulation)")
    parser.add_argument("--simulator", default="mujoco", choices=SIMULATORS, help="who reads it (default: mujoco)")
    parser.add_argument("--variables", default=None, metavar="FILE", help="another variables file")
    parser.add_argument("--output", default=None, metavar="FILE", help="write there instead of to the standard output")
    parser.add_argument("extra", nargs="*", metavar="NAME=VALUE", help=f"xacro arguments: {', '.join(XACRO_ARGS)}")
    return parser.parse_args([text for text in arguments if not text.startswith("__")])


def main(arguments: Optional[List[str]] = None) -> None:
    """Print the URDF; on a wrong argument print one line that says what to do and exit with status 1."""
    options = parse(sys.argv[1:] if arguments is None else arguments)
    extra: Dict[str, object] = {}
    try:
        for text in options.extra:
            name, sign, value = text.partition("=")  # roslaunch cannot pass `:=` on inside an argument
            if not sign:
                raise DescriptionError(f"{text!r} is no xacro argument; write name=value")
            extra[name.rstrip(":")] = value
        urdf = expand(options.variant, options.simulator, options.variables, **extra)
        if options.output is None:
            sys.stdout.write(urdf)
            return
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(urdf)
    except (DescriptionError, OSError) as error:
        sys.exit(f"expand: {error}")


def main_profile(arguments: Optional[List[str]] = None) -> None:
    """Print the profile of a variant, all its files included."""
    parser = argparse.ArgumentParser(prog="profile", description="Print the profile of Shellbot.")
    parser.add_argument("--variant", default="simulation", choices=VARIANTS, help="which robot (default: simulation)")
    parser.add_argument("--variables", default=None, metavar="FILE", help="another variables file")
    given = sys.argv[1:] if arguments is None else arguments
    options = parser.parse_args([text for text in given if not text.startswith("__")])
    try:
        sys.stdout.write(robot_profile(options.variant, options.variables).to_text())
    except DescriptionError as error:
        sys.exit(f"profile: {error}")


def pose_text(name: str, variant: str, form: str) -> str:
    """Return a named pose as one line: `yaml` (a mapping), `spawn` (-J options of spawn_model) or `height` (m)."""
    if form == "height":
        return f"{pose(name).body_height}"
    angles = named_pose(name, variant).items()
    if form == "spawn":
        return " ".join(f"-J {joint} {angle:.6f}" for joint, angle in angles)
    return "{" + ", ".join(f"{joint}: {angle:.6f}" for joint, angle in angles) + "}"


def main_pose(arguments: Optional[List[str]] = None) -> None:
    """Print a named pose."""
    parser = argparse.ArgumentParser(prog="named_pose", description="Print the joint angles (rad) of a named pose.")
    parser.add_argument("name", choices=POSES)
    parser.add_argument("--variant", default="simulation", choices=VARIANTS, help="which robot (default: simulation)")
    parser.add_argument(
        "--form",
        default="yaml",
        choices=("yaml", "spawn", "height"),
        help="yaml: mapping; spawn: -J options of gazebo_ros spawn_model; height: of the body centre above ground, m",
    )
    given = sys.argv[1:] if arguments is None else arguments
    options = parser.parse_args([text for text in given if not text.startswith("__")])
    try:
        sys.stdout.write(pose_text(options.name, options.variant, options.form) + "\n")
    except DescriptionError as error:
        sys.exit(f"named_pose: {error}")
