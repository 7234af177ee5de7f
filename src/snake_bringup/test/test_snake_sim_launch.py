# SPDX-License-Identifier: MIT
"""What the snake's sim.launch makes of its arguments; in Gazebo with a stand-in for gazebo_ros (root conftest.py)."""

from __future__ import annotations

import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
import yaml

from shellbot_common import package_file
from shellbot_simulator.core.config import load_config
from snake_evaluation.snake_run import Setup

LAUNCH = str(package_file("snake_bringup", "launch/sim.launch"))


def output(environment, *arguments):
    return roslaunch(environment, *arguments, "simulator:=gazebo", "modules:=4")


def roslaunch(environment, *arguments):
    command = ["roslaunch", *arguments, "teleop:=none"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_gazebo_has_the_snakes_controller_in_lock_step(with_gazebo):
    nodes = set(output(with_gazebo, "--nodes", LAUNCH).split())
    assert {"/spawn_robot", "/start_controllers", "/gazebo_pace", "/gazebo_connector", "/snake_motion"} <= nodes
    assert "/simulator" not in nodes
    assert "snake_controller" in output(with_gazebo, "--args", "/gazebo_pace", LAUNCH).split()


def test_friction_reaches_gazebo_and_the_controller_is_that_of_the_modules(with_gazebo):
    values = yaml.safe_load(output(with_gazebo, "--dump-params", LAUNCH, "friction:=0.3"))
    robot = ElementTree.fromstring(values["/robot_description"])
    assert {float(element.text) for element in robot.iter("mu")} == {0.3}
    assert len(values["/snake_controller"]["joints"]) == 4
    assert not [name for name in values if "legs_controller" in name]


@pytest.mark.parametrize("modules", [16, 17])
def test_the_simulator_has_the_settings_of_the_experiments(modules):
    values = yaml.safe_load(roslaunch(None, "--dump-params", LAUNCH, f"modules:={modules}"))
    setup = Setup(modules)
    settings = load_config(values["/simulator/config"])
    assert settings.replace(friction=setup.friction, timestep=setup.timestep, engine=setup.engine) == setup.simulator


def test_files_of_the_user_reach_description_and_motion(tmp_path):
    variables = tmp_path / "my snake.yaml"
    text = package_file("snake_description", "config/snake.yaml").read_text(encoding="utf-8")
    variables.write_text(text.replace("mass: 0.090, effort: 1.5", "mass: 0.180, effort: 2.5"), encoding="utf-8")
    given = [f"variables:={variables}", "gaits_file:=/g.yaml", "maps_folder:=/m", "modules:=4", "sideways_by:=rolling"]
    values = yaml.safe_load(roslaunch(None, "--dump-params", LAUNCH, *given))
    robot = ElementTree.fromstring(values["/robot_description"])
    masses = [float(mass.get("value")) for mass in robot.iter("mass")]
    assert sum(masses) == pytest.approx(4 * 0.180)
    assert {float(limit.get("effort")) for limit in robot.iter("limit")} == {2.5}
    motion = {name: values[f"/snake_motion/{name}"] for name in ("gait", "gaits_file", "maps_folder", "sideways_by")}
    assert motion == {"gait": "", "gaits_file": "/g.yaml", "maps_folder": "/m", "sideways_by": "rolling"}


def test_rviz_sends_waypoints_in_odom_on_a_ground_that_stands_still():
    text = package_file("snake_bringup", "rviz/snake.rviz").read_text(encoding="utf-8")
    shown = yaml.safe_load(text)["Visualization Manager"]
    displays = {display["Class"]: display for display in shown["Displays"]}
    assert shown["Global Options"]["Fixed Frame"] == "odom"
    assert displays["rviz/Grid"]["Reference Frame"] == "<Fixed Frame>"
    assert displays["rviz/MarkerArray"]["Marker Topic"] == "obstacles"
    (goal,) = (tool for tool in shown["Tools"] if tool["Class"] == "rviz/SetGoal")
    node = package_file("snake_motion", "src/snake_motion/snake_node.py").read_text(encoding="utf-8")
    assert f'rospy.Subscriber("{goal["Topic"]}", PoseStamped' in node
    for name in ("sim", "onboard"):
        assert (
            "$(find snake_bringup)/rviz/snake.rviz"
            in package_file("snake_bringup", f"launch/{name}.launch").read_text()
        )
