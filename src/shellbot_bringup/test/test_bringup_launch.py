# SPDX-License-Identifier: MIT
"""What sim.launch makes of its arguments, in both simulators."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

LAUNCH = Path(__file__).resolve().parents[1] / "launch"
HEADLESS = ("gui:=false", "teleop:=none")


def parameters(with_gazebo, *arguments):
    command = ["roslaunch", "--dump-params", str(LAUNCH / "sim.launch"), *HEADLESS, *arguments]
    done = subprocess.run(command, env=with_gazebo, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return yaml.safe_load(done.stdout)


def frictions(values):
    """Return those of all links that can touch."""
    robot = ElementTree.fromstring(values["/robot_description"])
    found = {
        g.get("reference"): g.findtext("collision/surface/friction/ode/mu")
        for g in robot.findall("gazebo")
        if g.find("collision") is not None
    }
    assert {"chassis", "lower_1_tibia_link", "lower_1_gore_link", "upper_6_gore_link"} <= set(found)
    return {float(mu) for mu in found.values()}


def test_friction_reaches_the_embedded_simulator(with_gazebo):
    assert parameters(with_gazebo, "friction:=0.65")["/simulator/friction"] == 0.65
    assert parameters(with_gazebo)["/simulator/friction"] == 0, "the settings file's own"


def test_friction_reaches_gazebo(with_gazebo):
    from shellbot_description import load_variables

    assert frictions(parameters(with_gazebo, "simulator:=gazebo", "friction:=0.65")) == {0.65}
    own = load_variables().contact.friction
    assert frictions(parameters(with_gazebo, "simulator:=gazebo")) == {own}


def test_engine_and_ground_reach_the_embedded_simulator(with_gazebo):
    plain = parameters(with_gazebo)
    assert (plain["/simulator/engine"], plain["/simulator/terrain"]) == ("mujoco", "flat")
    found = parameters(with_gazebo, "simulator:=bullet", "terrain:=steps")
    assert (found["/simulator/engine"], found["/simulator/terrain"]) == ("bullet", "steps")
    assert found["/robot_description"] == plain["/robot_description"]


def test_the_ground_reaches_gazebo(with_gazebo):
    assert "/terrain_model" not in parameters(with_gazebo, "simulator:=gazebo")
    found = parameters(with_gazebo, "simulator:=gazebo", "terrain:=steps", "friction:=0.65")
    shapes = ElementTree.fromstring(found["/terrain_model"]).findall("model/link/collision")
    assert len(shapes) == 3 and {shape.findtext(".//mu") for shape in shapes} == {"0.65"}


def loaded(file, *arguments):
    from roslaunch.config import ROSLaunchConfig
    from roslaunch.xmlloader import XmlLoader

    config = ROSLaunchConfig()
    XmlLoader(resolve_anon=False).load(str(file), config, argv=list(arguments), verbose=False)
    return config


def node(file, name):
    (found,) = [n for n in ElementTree.parse(str(file)).getroot().iter("node") if n.get("name") == name]
    return found


def test_a_launch_starts_with_the_gains_of_the_controllers():
    """Beside a roscore that goes on, a stiffness of 0 from the last session would let the next robot collapse."""
    assert node(LAUNCH / "chain.launch", "gains").get("clear_params") == "true"


def test_files_of_a_folder_with_a_blank_in_its_name_are_found(tmp_path):
    source, folder = LAUNCH.parents[1], tmp_path / "my robot"
    folder.mkdir()
    shutil.copy(source / "shellbot_description" / "config" / "shellbot.yaml", folder)
    config = loaded(
        source / "shellbot_description" / "launch" / "description.launch", f"variables:={folder}/shellbot.yaml"
    )
    assert {"/robot_description", "/robot_profile"} <= set(config.params)
    files = [f"{name}:={folder}/{name}.yaml" for name in ("keymap", "config", "mapping")]
    nodes = loaded(
        source / "shellbot_teleop" / "launch" / "teleop.launch", *files, "terminal:=true", "web:=true", "joystick:=true"
    ).nodes
    assert len(nodes) == 4
    for each in nodes:
        words = shlex.split(each.args)
        assert f"{folder}/config.yaml" in words and {f"{folder}/keymap.yaml", f"{folder}/mapping.yaml"} & set(words)


@pytest.mark.parametrize("robot, servers", [("shellbot", "gains,action_manager"), ("arm", "gains,arm_motion")])
def test_the_window_has_the_pages_of_the_robots_nodes(with_gazebo, robot, servers):
    command = ["roslaunch", "--args", "/teleop_window", f"{robot}_bringup", "sim.launch", "teleop:=window"]
    done = subprocess.run(command, env=with_gazebo, capture_output=True, text=True, timeout=600, check=False)
    assert f"--gains-servers={servers}" in done.stdout.split(), done.stdout + done.stderr


def test_a_joystick_takes_control_and_the_window_then_monitors(with_gazebo):
    def options(node, joystick):
        command = ["roslaunch", "--args", node, str(LAUNCH / "sim.launch"), "teleop:=window", f"joystick:={joystick}"]
        done = subprocess.run(command, env=with_gazebo, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert "--armed" in options("/teleop_window", "false")
    assert "--armed" not in options("/teleop_window", "true")
    assert {"--armed", "--mapping"} <= set(options("/teleop_joystick", "true"))
