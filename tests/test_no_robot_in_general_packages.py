# SPDX-License-Identifier: MIT
"""Packages that take a robot's profile know no robot: its names stand in none of their files."""

from __future__ import annotations

import re
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"
# Joints, links, limbs, classes and the controller of Shellbot. `shell` and `shoulder` are words of other things, too.
NAMES = re.compile(
    r"\b(?:lower|upper)_(?:\d|\{|leg|fan|coxa|femur|tibia|shoulder|shell\b|gore)|gore|\bfans?\b|_fan\b|coxa|femur|tibia"
    r"|shellbot_legs_controller|shellbot_description",
    re.IGNORECASE,
)
PACKAGES = (
    "robot_evaluation",
    "shellbot_common",
    "shellbot_control",
    "shellbot_gazebo_connector",
    "shellbot_simulator",
)
FOLDERS = ("src", "nodes", "scripts", "config", "cfg", "launch", "urdf", "worlds")
GENERAL = (
    *(f"{package}/{folder}" for package in PACKAGES for folder in FOLDERS if (SOURCE / package / folder).is_dir()),
    "shellbot_teleop/src/shellbot_teleop/joint_table.py",
    "shellbot_teleop/src/shellbot_teleop/gains_model.py",
    "shellbot_teleop/src/shellbot_teleop/gains_client_node.py",
    "shellbot_teleop/src/shellbot_teleop/qt/joints_panel.py",
    "shellbot_teleop/src/shellbot_teleop/qt/gains_panel.py",
)


def offences(text):
    return [f"{number}: {line.strip()}" for number, line in enumerate(text.splitlines(), 1) if NAMES.search(line)]


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
    ):
        assert offences(line), line
    for line in ("lower, upper = limits", "value.lower()", "limits.lower_bound", "a shell command"):
        assert not offences(line), line


def _files(path):
    found = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [file for file in found if file.is_file() and file.suffix != ".pyc"]
