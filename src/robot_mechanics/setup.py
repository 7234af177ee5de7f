# SPDX-License-Identifier: MIT
"""Version and packages, for catkin_python_setup, which knows no pyproject.toml, and for pip."""

from setuptools import find_packages, setup

setup(
    name="robot-mechanics",
    version="0.1.0",
    packages=find_packages("src"),
    package_dir={"": "src"},
    package_data={"robot_mechanics.models.examples": ["*.urdf", "*.yaml"]},
    license_files=["LICENSE"],
)
