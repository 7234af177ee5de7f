# SPDX-License-Identifier: MIT
"""Read by catkin_python_setup; never run by hand."""

from catkin_pkg.python_setup import generate_distutils_setup
from setuptools import setup

PACKAGES = ["shellbot_simulator", "shellbot_simulator.core", "shellbot_simulator.node"]
setup(**generate_distutils_setup(packages=PACKAGES, package_dir={"": "src"}))
