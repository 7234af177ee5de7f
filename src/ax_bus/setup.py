# SPDX-License-Identifier: MIT
"""Read by catkin_python_setup, which knows no pyproject.toml; pip takes everything else from there."""

from setuptools import setup

PACKAGES = ["ax_bus", "ax_emulator", "ax_tools", "ax_tools.commands"]
setup(name="ax-bus", version="0.1.0", packages=PACKAGES, package_dir={"": "src"})
