# SPDX-License-Identifier: MIT
"""Read by catkin_python_setup; never run by hand."""

from catkin_pkg.python_setup import generate_distutils_setup
from setuptools import setup

setup(
    **generate_distutils_setup(
        packages=["shellbot_teleop", "shellbot_teleop.qt", "shellbot_teleop.web"], package_dir={"": "src"}
    )
)
