# SPDX-License-Identifier: MIT
"""The commands, the launch files, and that the package's own lists name what exists."""

from __future__ import annotations

import ast
from xml.etree import ElementTree

import pytest
import yaml

import shellbot_description
from shellbot_common import RobotProfile
from shellbot_description import driven_joint_names, named_pose, package_path
from shellbot_description.command_line import main, main_pose, main_profile


def test_expand_prints_the_urdf(capsys):
    """As `expand()` does; roslaunch's remappings are ignored."""
    main(["--variant", "walker", "--simulator", "gazebo", "friction=0.6", "camera:=false", "__name:=expand"])
    robot = ElementTree.fromstring(capsys.readouterr().out)
    assert len(robot.findall("transmission")) == 24
    assert "0.6" in {element.text for element in robot.iter("mu")}
    assert "libgazebo_ros_camera.so" not in {plugin.get("filename") for plugin in robot.iter("plugin")}


def test_expand_writes_a_file(tmp_path):
    """--output, with another variables file."""
    file = tmp_path / "robot.urdf"
    older = package_path() / "config" / "shellbot_older.yaml"
    main(["--variables", str(older), "--output", str(file)])
    joints = {joint.get("name"): joint for joint in ElementTree.parse(file).getroot().findall("joint")}
    assert joints["lower_1_foot_joint"].find("origin").get("xyz").split()[0] == "0.12475"


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["friction=slippery"], "expand: argument friction = 'slippery' is out of range"),
        (["mu=1"], "expand: argument 'mu' does not exist; choose from mesh_uri"),
        (["gazebo"], "expand: 'gazebo' is no xacro argument; write name=value"),
        (["--variables", "/nowhere.yaml"], "expand: cannot read /nowhere.yaml"),
        (["--output", "/nowhere/robot.urdf"], "expand: .*No such file"),
    ],
)
def test_expand_says_what_is_wrong(arguments, message):
    """One line, and a status that stops roslaunch."""
    with pytest.raises(SystemExit, match=message) as caught:
        main(arguments)
    assert caught.value.code not in (0, None)


def test_unreadable_variables_of_the_launch_file(tmp_path):
    """A broken YAML file names itself."""
    broken = tmp_path / "broken.yaml"
    broken.write_text("geometry: {lower: [")
    with pytest.raises(SystemExit, match="broken.yaml is not valid YAML in line"):
        main(["--variables", str(broken)])


def test_named_pose_forms(capsys):
    """A mapping for parameters, options for spawn_model, the height."""
    main_pose(["stand", "--variant", "walker"])
    assert yaml.safe_load(capsys.readouterr().out) == pytest.approx(named_pose("stand", "walker"), abs=1e-6)
    main_pose(["sit", "--form", "spawn"])
    words = capsys.readouterr().out.split()
    assert words[::3] == ["-J"] * 36 and tuple(words[1::3]) == driven_joint_names()
    main_pose(["stand", "--form", "height"])
    assert float(capsys.readouterr().out) == 0.1623


def test_profile_is_printed_whole(capsys):
    """All files included, so that the parameter server holds one text."""
    main_profile(["--variant", "walker", "__name:=profile"])
    assert RobotProfile.from_text(capsys.readouterr().out) == shellbot_description.robot_profile("walker")


def test_the_profile_follows_other_variables(capsys, tmp_path):
    """As the URDF does: stiffness and rotor inertia."""
    file = tmp_path / "gear.yaml"
    file.write_text(f"base: {package_path()}/config/shellbot.yaml\nfan_drive: {{reduction: 1.0}}\n")
    main_profile(["--variables", str(file)])
    fan = RobotProfile.from_text(capsys.readouterr().out).classes["fan"]
    assert fan.armature == pytest.approx(0.25 * shellbot_description.robot_profile().classes["fan"].armature)


def test_every_launch_argument_is_documented():
    """`roslaunch --ros-args` then explains the file."""
    files = sorted((package_path() / "launch").glob("*.launch"))
    assert {file.name for file in files} == {"description.launch", "display.launch"}
    for file in files:
        for argument in ElementTree.parse(file).getroot().findall("arg"):
            assert argument.get("doc"), f"{file.name}: {argument.get('name')}"


def test_exports_exist():
    """`__all__` names what the package has, in order, and no import is left out of it."""
    exported = shellbot_description.__all__
    assert list(exported) == sorted(exported)
    assert all(hasattr(shellbot_description, name) for name in exported)
    source = (package_path() / "src" / "shellbot_description" / "__init__.py").read_text()
    imported = {
        alias.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert imported == set(exported)


def test_visuals_name_existing_kinds_and_no_mesh_is_left_over():
    """config/visuals.yaml covers every kind of link, and uses every visual mesh."""
    visuals = yaml.safe_load((package_path() / "config" / "visuals.yaml").read_text())
    assert set(visuals) == set(shellbot_description.load_variables().masses())
    used = {part["mesh"] for parts in visuals.values() for part in parts}
    assert used == {path.stem for path in (package_path() / "meshes" / "visual").glob("*.stl")}
