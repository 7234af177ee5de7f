# SPDX-License-Identifier: MIT
"""The controllers' file is what the generator makes of profile and URDF; sim.yaml knows all arguments of sim.launch."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import yaml

import humanoid_description
from shellbot_common import package_file
from shellbot_control.controllers import controllers_parameters


def test_the_controllers_are_up_to_date():
    file = package_file("humanoid_bringup", "config/controllers.yaml")
    expected = controllers_parameters(humanoid_description.profile(), humanoid_description.urdf_text())
    assert yaml.safe_load(file.read_text(encoding="utf-8")) == expected


def test_every_argument_of_the_launch_file_is_checked():
    launch = ElementTree.parse(package_file("humanoid_bringup", "launch/sim.launch"))
    checks = yaml.safe_load(package_file("humanoid_bringup", "launch/sim.yaml").read_text(encoding="utf-8"))
    assert set(checks) == {arg.get("name") for arg in launch.getroot().findall("arg")}
