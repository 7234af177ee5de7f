# SPDX-License-Identifier: MIT
"""Read by catkin_python_setup, which knows no pyproject.toml; pip takes everything else from there."""

from setuptools import setup

PACKAGES = ["robot_mechanics", "robot_mechanics.trajectories"]
setup(name="robot-mechanics", version="0.1.0", packages=PACKAGES, package_dir={"": "src"})
