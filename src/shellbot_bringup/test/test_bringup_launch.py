# SPDX-License-Identifier: MIT
"""What sim.launch makes of its arguments, in both simulators; a package of the test stands for gazebo_ros."""

from __future__ import annotations

import os
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

LAUNCH = Path(__file__).resolve().parents[1] / "launch"
HEADLESS = ("gui:=false", "teleop:=none")
EMPTY_WORLD_ARGUMENTS = ("world_name", "paused", "use_sim_time", "gui", "pub_clock_frequency")


@pytest.fixture
def environment(tmp_path):
    package = tmp_path / "gazebo_ros"
    (package / "launch").mkdir(parents=True)
    (package / "package.xml").write_text(
        '<package format="3"><name>gazebo_ros</name><version>0.0.0</version><description>stand-in</description>'
        '<maintainer email="a@example.org">a</maintainer><license>MIT</license></package>',
        encoding="utf-8",
    )
    declared = "".join(f'<arg name="{name}"/>' for name in EMPTY_WORLD_ARGUMENTS)
    (package / "launch" / "empty_world.launch").write_text(f"<launch>{declared}</launch>", encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("ROS_PACKAGE_PATH", "")]))
    return dict(os.environ, ROS_PACKAGE_PATH=path, ROS_HOME=str(tmp_path / "ros_home"))


def parameters(environment, *arguments):
    command = ["roslaunch", "--dump-params", str(LAUNCH / "sim.launch"), *HEADLESS, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return yaml.safe_load(done.stdout)


def foot_friction(values):
    robot = ElementTree.fromstring(values["/robot_description"])
    return [float(g.findtext("mu1")) for g in robot.findall("gazebo") if g.get("reference") == "lower_1_tibia_link"]


def test_friction_reaches_the_embedded_simulator(environment):
    assert parameters(environment, "friction:=0.65")["/simulator/friction"] == 0.65
    assert parameters(environment)["/simulator/friction"] == 0, "the settings file's own"


def test_friction_reaches_gazebo(environment):
    from shellbot_description import load_variables

    assert foot_friction(parameters(environment, "simulator:=gazebo", "friction:=0.65")) == [0.65]
    own = load_variables().contact.foot_friction
    assert foot_friction(parameters(environment, "simulator:=gazebo")) == [own]


def test_engine_and_ground_reach_the_embedded_simulator(environment):
    plain = parameters(environment)
    assert (plain["/simulator/engine"], plain["/simulator/terrain"]) == ("mujoco", "flat")
    found = parameters(environment, "simulator:=bullet", "terrain:=steps")
    assert (found["/simulator/engine"], found["/simulator/terrain"]) == ("bullet", "steps")
    assert found["/robot_description"] == plain["/robot_description"]


def test_the_ground_reaches_gazebo(environment):
    assert "/terrain_model" not in parameters(environment, "simulator:=gazebo")
    found = parameters(environment, "simulator:=gazebo", "terrain:=steps", "friction:=0.65")
    shapes = ElementTree.fromstring(found["/terrain_model"]).findall("model/link/collision")
    assert len(shapes) == 3 and {shape.findtext(".//mu") for shape in shapes} == {"0.65"}


def node(file, name):
    (found,) = [n for n in ElementTree.parse(str(file)).getroot().iter("node") if n.get("name") == name]
    return found


def test_a_launch_starts_with_the_gains_of_the_controllers():
    """Beside a roscore that goes on, a stiffness of 0 from the last session would let the next robot collapse."""
    assert node(LAUNCH / "chain.launch", "gains").get("clear_params") == "true"


def test_a_joystick_takes_control_and_the_window_then_monitors(environment):
    def options(node, joystick):
        command = ["roslaunch", "--args", node, str(LAUNCH / "sim.launch"), "teleop:=window", f"joystick:={joystick}"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert "--armed" in options("/teleop_window", "false")
    assert "--armed" not in options("/teleop_window", "true")
    assert {"--armed", "--mapping"} <= set(options("/teleop_joystick", "true"))
