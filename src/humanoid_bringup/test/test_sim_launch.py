# SPDX-License-Identifier: MIT
"""What sim.launch makes of its arguments in Gazebo, with a stand-in for gazebo_ros (`conftest.py`)."""

from __future__ import annotations

import subprocess
import xml.etree.ElementTree as ElementTree

import yaml

from shellbot_common import package_file

LAUNCH = str(package_file("humanoid_bringup", "launch/sim.launch"))


def output(environment, *arguments):
    command = ["roslaunch", *arguments, "teleop:=none", "simulator:=gazebo"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_gazebo_begins_when_the_humanoids_controllers_have_its_joints(with_gazebo):
    nodes = output(with_gazebo, "--nodes", LAUNCH).split()
    assert {"/spawn_robot", "/start_controllers", "/gazebo_pace", "/gazebo_connector", "/walk"} <= set(nodes)
    assert "/simulator" not in nodes
    assert "-unpause" not in output(with_gazebo, "--args", "/spawn_robot", LAUNCH).split()
    pace = output(with_gazebo, "--args", "/gazebo_pace", LAUNCH).split()
    assert pace[pace.index("humanoid_controller") + 1] == "--begin"


def test_description_friction_and_ground_reach_gazebo(with_gazebo):
    values = yaml.safe_load(output(with_gazebo, "--dump-params", LAUNCH, "friction:=0.65", "terrain:=steps"))
    robot = ElementTree.fromstring(values["/robot_description"])
    assert {element.text for element in robot.iter("mu")} == {"0.65"}
    assert len(ElementTree.fromstring(values["/terrain_model"]).findall("model/link/collision")) == 3
    assert len(values["/humanoid_controller/joints"]) == 26
    plain = ElementTree.fromstring(yaml.safe_load(output(with_gazebo, "--dump-params", LAUNCH))["/robot_description"])
    assert {element.text for element in plain.iter("mu")} == {"0.8"}
