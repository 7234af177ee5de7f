# SPDX-License-Identifier: MIT
"""Parameter file, launch files, world and the arguments for spawning, as far as they can be checked without Gazebo."""

import argparse
import xml.etree.ElementTree as ElementTree
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import yaml

import shellbot_gazebo_connector
from shellbot_gazebo_connector import ConnectorParameters, spawn_arguments

PACKAGE = Path(__file__).resolve().parents[1]


def test_exports_exist():
    assert all(hasattr(shellbot_gazebo_connector, name) for name in shellbot_gazebo_connector.__all__)


def test_parameter_file_holds_the_defaults_and_a_comment_for_each():
    text = (PACKAGE / "config" / "connector.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(text) == asdict(ConnectorParameters())
    assert all("#" in line for line in text.splitlines())


@pytest.mark.parametrize(("variant", "count"), [("simulation", 36), ("full", 36), ("walker", 24)])
def test_spawn_arguments_place_every_joint_of_the_description(variant, count):
    from shellbot_description import driven_joint_names, named_pose, pose, robot_profile

    arguments = spawn_arguments(robot_profile(variant))
    placed = {arguments[i + 1]: float(arguments[i + 2]) for i, argument in enumerate(arguments) if argument == "-J"}
    assert tuple(placed) == driven_joint_names(variant) and len(placed) == count
    assert placed == pytest.approx(named_pose("spawn", variant), abs=1e-6)
    height = float(arguments[arguments.index("-z") + 1])
    assert 0.0 < height - pose("spawn").body_height <= 0.01


def test_gazebos_spawn_model_can_parse_the_arguments():
    """Its parser takes a negative angle for a number only in some spellings."""
    from shellbot_description import robot_profile

    parser = argparse.ArgumentParser()
    xml, kind = (parser.add_mutually_exclusive_group(required=True) for _ in range(2))
    kind.add_argument("-urdf", action="store_true")
    xml.add_argument("-param", type=str)
    parser.add_argument("-model", required=True)
    for name in "xyzRPY":
        parser.add_argument(f"-{name}", type=float)
    parser.add_argument("-J", dest="joints", action="append", nargs=2)
    parsed = parser.parse_args(spawn_arguments(robot_profile("simulation")))
    assert parsed.urdf and parsed.param == "robot_description" and 0.0 < parsed.z < 0.2
    assert len(parsed.joints) == 36 and min(float(angle) for _, angle in parsed.joints) < 0.0


def test_the_robot_is_spawned_where_its_profile_puts_the_base():
    from shellbot_description import robot_profile

    profile = robot_profile("walker")
    base = replace(profile.base, position=(1.5, -2.0, 0.25), rpy_deg=(10.0, -20.0, 90.0))
    found = []
    for arguments in map(spawn_arguments, (profile, replace(profile, base=base))):
        found.append([float(arguments[arguments.index(f"-{name}") + 1]) for name in "xyzRPY"])
    moved = np.subtract(found[1], found[0])
    assert moved == pytest.approx([1.5, -2.0, 0.25, *np.radians([10.0, -20.0, 90.0])], abs=1e-6)


def test_spawn_command_line_passes_the_rest_on():
    from shellbot_description import robot_profile

    node = pytest.importorskip("shellbot_gazebo_connector.spawn_in_gazebo_node")
    line = node.command_line(robot_profile("walker"), ["spawn_in_gazebo", "-unpause", "__name:=spawn_robot"])
    assert line[:3] == ["rosrun", "gazebo_ros", "spawn_model"]
    assert line[line.index("-model") + 1] == "shellbot"
    assert line[-2:] == ["-unpause", "__name:=spawn_robot"]
    assert line.count("-J") == 24


def test_the_spawner_ends_without_the_robot_and_stays_with_it(monkeypatch):
    from shellbot_description import robot_profile

    node = pytest.importorskip("shellbot_gazebo_connector.spawn_in_gazebo_node")
    monkeypatch.setattr(node.rospy, "get_param", lambda *_: robot_profile("walker").to_text())
    parameters, became = {}, []
    monkeypatch.setattr(node.rospy, "set_param", parameters.__setitem__)
    monkeypatch.setattr(node.os, "execvp", lambda file, line: became.append(line))
    monkeypatch.setattr(node.sys, "argv", ["spawn_in_gazebo"])
    monkeypatch.setattr(node.subprocess, "call", lambda _line: 1)
    with pytest.raises(SystemExit, match="was not spawned: rosrun gazebo_ros spawn_model ended with 1"):
        node.main()
    assert not parameters and not became
    monkeypatch.setattr(node.subprocess, "call", lambda _line: 0)
    node.main()
    assert parameters == {"/robot_is_spawned": True} and became == [["sleep", "infinity"]]


def test_world_is_a_flat_floor_at_one_millisecond_without_downloads():
    root = ElementTree.parse(PACKAGE / "worlds" / "shellbot.world").getroot()
    assert root.tag == "sdf"
    assert root.findtext("world/physics/max_step_size") == "0.001"
    assert root.find("world/physics").get("type") == "ode"
    step, rate = 0.001, float(root.findtext("world/physics/real_time_update_rate"))
    assert step * rate == pytest.approx(float(root.findtext("world/physics/real_time_factor")))
    assert root.find(".//include") is None, "an include of a model would be downloaded"
    assert float(root.findtext("world/model/link/collision/surface/friction/ode/mu")) >= 1.0


def test_the_world_is_not_named_as_the_robot_and_lets_feet_come_out_of_the_floor():
    """A call that spawns a model of the world's name never returns; corrected at 0.1 m/s, fast walks lose half."""
    from shellbot_description import robot_profile

    root = ElementTree.parse(PACKAGE / "worlds" / "shellbot.world").getroot()
    assert root.find("world").get("name") != robot_profile("walker").name
    assert float(root.findtext("world/physics/ode/constraints/contact_max_correcting_vel")) >= 10.0


def test_gazebos_window_looks_at_the_robot():
    root = ElementTree.parse(PACKAGE / "worlds" / "shellbot.world").getroot()
    x, y, z, _, pitch, yaw = map(float, root.findtext("world/gui/camera/pose").split())
    ahead = np.array([np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), -np.sin(pitch)])
    robot = np.array([0.0, 0.0, 0.1]) - [x, y, z]
    assert 1.0 < ahead @ robot < 2.0 and np.linalg.norm(np.cross(ahead, robot)) < 0.1


def test_gazebo_damps_every_joint_implicitly_and_the_manifest_names_its_plugins():
    from shellbot_description import driven_joint_names, expand

    robot = ElementTree.fromstring(expand("simulation", "gazebo"))
    damped = {
        element.get("reference")
        for element in robot.findall("gazebo")
        if element.findtext("implicitSpringDamper") == "true"
    }
    assert set(driven_joint_names("simulation")) <= damped
    manifest = (PACKAGE / "package.xml").read_text(encoding="utf-8")
    assert {"libgazebo_ros_control.so", "libgazebo_ros_p3d.so"} <= {p.get("filename") for p in robot.iter("plugin")}
    assert "<exec_depend>gazebo_ros_control<" in manifest and "<exec_depend>gazebo_plugins<" in manifest


@pytest.mark.parametrize("name", ["connector.launch", "gazebo.launch"])
def test_every_launch_argument_is_explained(name):
    root = ElementTree.parse(PACKAGE / "launch" / name).getroot()
    arguments = root.findall("arg")
    assert arguments and all(argument.get("doc") for argument in arguments)


EMPTY_WORLD_ARGUMENTS = ("world_name", "paused", "use_sim_time", "gui", "server_required")


def loaded(tmp_path, name, arguments=()):
    """Load a launch file as roslaunch does; a file with the same arguments stands for gazebo_ros' own."""
    config = pytest.importorskip("roslaunch.config", reason="roslaunch is not installed")
    text = (PACKAGE / "launch" / name).read_text(encoding="utf-8")
    stand_in = tmp_path / "empty_world.launch"
    declared = "".join(f'<arg name="{argument}"/>' for argument in EMPTY_WORLD_ARGUMENTS)
    declared += '<param name="paused_at_start" value="$(arg paused)"/>'
    declared += '<param name="server_required" value="$(arg server_required)"/>'
    stand_in.write_text(f"<launch>{declared}</launch>", encoding="utf-8")
    text = text.replace("$(find gazebo_ros)/launch/empty_world.launch", str(stand_in))
    for package in ("shellbot_gazebo_connector", "shellbot_simulator"):
        text = text.replace(f"$(find {package})", str(PACKAGE.parent / package))
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return config.load_config_default([(str(file), list(arguments))], None, assign_machines=False)


def parameters(loaded_config):
    return {name: parameter.value for name, parameter in loaded_config.params.items()}


def test_connector_launch_loads(tmp_path):
    launch = loaded(tmp_path, "connector.launch")
    (node,) = launch.nodes
    assert (node.package, node.type, node.name, node.respawn) == (
        "shellbot_gazebo_connector", "gazebo_connector", "gazebo_connector", True
    )  # fmt: skip
    assert parameters(launch)["/gazebo_connector/arrival_tolerance"] == 0.05


@pytest.mark.parametrize(("variant", "joints"), [("simulation", 36), ("walker", 24)])
@pytest.mark.parametrize(
    ("arguments", "spawns", "paces"),
    [
        ([], [], ["--begin"]),
        (["hold:=false"], ["-unpause"], []),
        (["paused:=true"], [], []),
        (["paused:=true", "hold:=false"], [], []),
    ],
)
def test_gazebo_begins_once_with_the_controllers_unless_it_stays_paused(
    tmp_path, variant, joints, arguments, spawns, paces
):
    controllers = PACKAGE.parent / f"shellbot_description/config/controllers_{variant}.yaml"
    given = [f"controllers:={controllers}", "controller:=shellbot_legs_controller"]
    launch = loaded(tmp_path, "gazebo.launch", [*given, *arguments])
    nodes = {node.name: node for node in launch.nodes}
    assert nodes["spawn_robot"].args.split() == spawns
    assert nodes["spawn_robot"].required and nodes["start_controllers"].required, "without either the launch ends"
    assert parameters(launch)["/server_required"], "without Gazebo, too: spawn_model would wait for it for ever"
    assert nodes["start_controllers"].args.split() == ["joint_state_controller", "shellbot_legs_controller"]
    assert nodes["gazebo_pace"].args.split() == ["shellbot_legs_controller", *paces]
    assert not nodes["gazebo_contacts"].respawn, "it ends where no link has a sensor"
    assert nodes["gazebo_camera"].type == "gazebo_camera"
    for name in ("gazebo_contacts", "gazebo_camera"):
        assert dict(nodes[name].remap_args)["/clock"] == f"/{name}/no_clock", "a thousand messages a second for nothing"
    values = parameters(launch)
    assert len(values["/shellbot_legs_controller/joints"]) == joints
    assert values["/paused_at_start"] is True


def test_gazebo_starts_the_controllers_of_any_robot(tmp_path):
    controllers = tmp_path / "controllers.yaml"
    controllers.write_text("other_controller: {joints: [hip]}", encoding="utf-8")
    launch = loaded(tmp_path, "gazebo.launch", [f"controllers:={controllers}", "controller:=other_controller"])
    nodes = {node.name: node for node in launch.nodes}
    assert nodes["start_controllers"].args.split() == ["joint_state_controller", "other_controller"]
    assert nodes["gazebo_pace"].args.split() == ["other_controller", "--begin"]
    assert parameters(launch)["/other_controller/joints"] == ["hip"]


class Manager:
    """Stand-in for controller_manager's interface."""

    def __init__(self, refuses=()):
        self.calls, self._refuses = [], refuses

    def load_controller(self, name):
        self.calls.append(("load", name))
        return name not in self._refuses

    def start_controllers(self, names):
        self.calls.append(("start", *names))
        return "start" not in self._refuses


def test_controllers_are_started_together_and_a_refusal_names_them():
    node = pytest.importorskip("shellbot_gazebo_connector.start_controllers_node")
    manager = Manager()
    node.start(manager, ["states", "legs"])
    assert manager.calls == [("load", "states"), ("load", "legs"), ("start", "states", "legs")]
    with pytest.raises(SystemExit, match="cannot load the controller legs"):
        node.start(Manager(["legs"]), ["states", "legs"])
    with pytest.raises(SystemExit, match="cannot start the controllers states, legs"):
        node.start(Manager(["start"]), ["states", "legs"])


def test_nothing_that_stops_controllers_runs_when_gazebo_ends(tmp_path):
    """ros_control's spawner stops them on Ctrl-C, for which Gazebo, which makes no further step, waits for 15 s."""
    given = [f"controllers:={PACKAGE.parent}/shellbot_description/config/controllers_walker.yaml", "controller:=legs"]
    nodes = loaded(tmp_path, "gazebo.launch", given).nodes
    assert {node.package for node in nodes} == {"shellbot_gazebo_connector"}
