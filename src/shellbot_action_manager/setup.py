# SPDX-License-Identifier: MIT
"""Read by catkin_python_setup; never run by hand."""

from catkin_pkg.python_setup import generate_distutils_setup
from setuptools import setup

PACKAGES = [
    "shellbot_action_manager",
    "shellbot_action_manager.actions",
    "shellbot_action_manager.behaviours",
    "shellbot_action_manager.body",
    "shellbot_action_manager.estimation",
    "shellbot_action_manager.gait",
    "shellbot_action_manager.markers",
    "shellbot_action_manager.modes",
    "shellbot_action_manager.node",
]
setup(**generate_distutils_setup(packages=PACKAGES, package_dir={"": "src"}))
