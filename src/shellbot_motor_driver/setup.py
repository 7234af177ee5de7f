# SPDX-License-Identifier: MIT
"""Read by catkin_python_setup; never run by hand."""

from catkin_pkg.python_setup import generate_distutils_setup
from setuptools import setup

PACKAGES = [
    "shellbot_motor_driver",
    "shellbot_motor_driver.driving",
    "shellbot_motor_driver.map",
    "shellbot_motor_driver.node",
    "shellbot_motor_driver.process",
    "shellbot_motor_driver.safety",
    "shellbot_motor_driver.tools",
]
setup(**generate_distutils_setup(packages=PACKAGES, package_dir={"": "src"}))
