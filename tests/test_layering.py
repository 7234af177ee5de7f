# SPDX-License-Identifier: MIT
"""The import rules of docs/architecture.md, read from the syntax trees."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROS = {
    "rospy",
    "roslib",
    "rosgraph",
    "rostopic",
    "rosnode",
    "rospkg",
    "roslaunch",
    "rosparam",
    "rosservice",
    "tf",
    "tf2_ros",
    "tf2_msgs",
    "actionlib",
    "dynamic_reconfigure",
    "diagnostic_updater",
    "message_filters",
}
OWN = {
    "shellbot_description": set(),
    "shellbot_kinematics": set(),
    "shellbot_control": {"shellbot_description"},
    "shellbot_action_manager": {"shellbot_description", "shellbot_kinematics", "shellbot_control"},
    "shellbot_simulator": {"shellbot_description", "shellbot_control"},
    "shellbot_gazebo_connector": {"shellbot_description", "shellbot_control"},
    "shellbot_teleop": set(),
    "shellbot_evaluation": {
        "shellbot_description",
        "shellbot_kinematics",
        "shellbot_control",
        "shellbot_action_manager",
        "shellbot_simulator",
    },
}


def python_files():
    for package in sorted(OWN):
        for file in sorted((ROOT / "src" / package / "src").rglob("*.py")):
            yield package, file
        for file in sorted((ROOT / "src" / package / "nodes").glob("*")):
            if file.is_file():
                yield package, file


def imported_modules(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module, node.lineno


def is_ros(module):
    top = module.split(".")[0]
    # generated messages, services and dynamic_reconfigure pages: <package>.msg, .srv, .cfg
    return (
        top in ROS
        or top == "shellbot_msgs"
        or (module.count(".") >= 1 and module.split(".")[1] in ("msg", "srv", "cfg"))
    )


def may_import_ros(file):
    return file.name.endswith(("_node.py", "_conversions.py")) or file.parent.name == "nodes"


FILES = list(python_files())


def test_the_walk_finds_every_package():
    assert {package for package, _ in FILES} == set(OWN)


@pytest.mark.parametrize("package,file", FILES, ids=[str(f.relative_to(ROOT / "src")) for _, f in FILES])
def test_imports(package, file):
    for module, line in imported_modules(file):
        where = f"{file.relative_to(ROOT)}:{line}"
        assert may_import_ros(file) or not is_ros(module), (
            f"{where} imports {module}: ROS belongs into *_node.py, *_conversions.py or nodes/"
        )
        top = module.split(".")[0]
        if top in OWN and top != package:
            assert top in OWN[package], f"{where}: {package} may not import {top}; it may: {sorted(OWN[package])}"


def test_the_rule_catches_a_violation(tmp_path):
    file = tmp_path / "core.py"
    file.write_text("import numpy\nfrom geometry_msgs.msg import Twist\n", encoding="utf-8")
    assert [m for m, _ in imported_modules(file) if is_ros(m)] == ["geometry_msgs.msg"]
    assert not may_import_ros(file)
