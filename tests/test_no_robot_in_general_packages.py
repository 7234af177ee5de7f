# SPDX-License-Identifier: MIT
"""Packages that take a robot's profile know no robot: its names stand in none of their files."""

from __future__ import annotations

import re
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"
# Name, joints, links, limbs, classes, controller of Shellbot. `shell` and `shoulder` are words of other things, too.
NAMES = re.compile(
    r"\b(?:lower|upper)_(?:\d|\{|leg|fan|coxa|femur|tibia|shoulder|shell\b|gore)|gore|\bfans?\b|_fan\b|coxa|femur|tibia"
    r"|shellbot_legs_controller|shellbot_description|\bshellbot\b|hexapod",
    re.IGNORECASE,
)
# A mode of which window and page have a button, the robot of a tool without one, and the name of a world
ALLOWED = re.compile(r"mode\.hexapod|change to hexapod|default=\"shellbot\", help=\"shellbot|worlds/shellbot\.world")
# shellbot_msgs describes what its messages mean for Shellbot.
PACKAGES = (
    "ax_bus",
    "robot_evaluation",
    "robot_mechanics",
    "shellbot_common",
    "shellbot_control",
    "shellbot_gazebo_connector",
    "shellbot_simulator",
)
FOLDERS = ("src", "nodes", "scripts", "config", "cfg", "launch", "urdf", "worlds")
GENERAL = (
    *(f"{package}/{folder}" for package in PACKAGES for folder in FOLDERS if (SOURCE / package / folder).is_dir()),
    "shellbot_teleop/src",
    "shellbot_teleop/nodes",
    "shellbot_teleop/web",
)


def offences(text):
    lines = enumerate(text.splitlines(), 1)
    return [f"{number}: {line.strip()}" for number, line in lines if NAMES.search(ALLOWED.sub("", line))]


def test_no_file_of_a_general_package_names_a_part_of_the_robot():
    files = [file for folder in GENERAL for file in _files(SOURCE / folder)]
    assert len(files) > 60, "the folders above have moved"
    found = {file.relative_to(SOURCE).as_posix(): offences(file.read_text(encoding="utf-8")) for file in files}
    assert not any(found.values()), "\n".join(f"{name}:{line}" for name in found for line in found[name])


def test_no_script_for_all_robots_names_another_robot():
    """Their launch files, rules and packages say what they have."""
    files = [
        *(SOURCE.parent / "scripts/lib").glob("*.*"),
        *(SOURCE / "shellbot_evaluation/src").glob("*/experiment_cli.py"),
    ]
    found = [
        f"{file.name}:{number}: {line.strip()}"
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"humanoid|snake|arm_(?:control|bringup|description)", line)
    ]
    assert len(files) > 5 and not found, "\n".join(found)


def test_what_is_found():
    for line in (
        'joint = "lower_1_coxa"',
        'f"upper_{k}_foot"',
        "shellbot_legs_controller",
        "the fan joint",
        'consumer="shellbot"',
        "A third of Shellbot",
    ):
        assert offences(line), line
    for line in (
        "lower, upper = limits",
        "value.lower()",
        "limits.lower_bound",
        "a shell command",
        "shellbot_common",
        "mode.hexapod",
    ):
        assert not offences(line), line


def _files(path):
    found = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [file for file in found if file.is_file() and "__pycache__" not in file.parts]
