# SPDX-License-Identifier: MIT
"""Read by catkin_python_setup, which knows no pyproject.toml; pip takes everything else from there."""

from setuptools import setup

PACKAGES = [
    "robot_mechanics",
    "robot_mechanics.codegen",
    "robot_mechanics.dynamics",
    "robot_mechanics.inverse",
    "robot_mechanics.models",
    "robot_mechanics.motion",
    "robot_mechanics.native",
    "robot_mechanics.trajectories",
    "robot_mechanics.workspace",
]
EXAMPLES = {"robot_mechanics.models": ["examples/*.*"]}
setup(name="robot-mechanics", version="0.1.0", packages=PACKAGES, package_dir={"": "src"}, package_data=EXAMPLES)
