# SPDX-License-Identifier: MIT
"""The expanded URDF of every variant and simulator: links, joints, limits, masses, inertias, meshes, plugins."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from description_support import URI, inertia_of, masses, numbers, urdf

from shellbot_description import (
    SIMULATORS,
    VARIANTS,
    DescriptionError,
    driven_joint_names,
    expand,
    joint_class,
    load_variables,
    motor_joint_names,
    package_path,
)
from shellbot_description.expansion import _expand_adopted

FRAMES = {"base_link", "imu_link", "camera_link", "camera_optical_frame"}
LOWER = ("fan_link", "coxa_link", "femur_link", "tibia_link", "gore_link", "foot", "sphere_centre")
UPPER = ("shoulder_link", "shell_link", "gore_link", "sphere_centre")
TOTAL = {"simulation": 3.8, "full": 3.8, "walker": 2.96}
PLUGINS = {
    "libgazebo_ros_control.so": {"robotSimType": "gazebo_ros_control/DefaultRobotHWSim"},
    "libgazebo_ros_imu_sensor.so": {"topicName": "imu/data", "bodyName": "imu_link", "frameName": "imu_link"},
    "libgazebo_ros_p3d.so": {"topicName": "ground_truth/odom", "bodyName": "base_link", "frameName": "world"},
    "libgazebo_ros_camera.so": {
        "cameraName": "cameras/camera_link",
        "imageTopicName": "image_raw",
        "cameraInfoTopicName": "camera_info",
        "frameName": "camera_optical_frame",
    },
    "libgazebo_ros_bumper.so": {"bumperTopicName": "gazebo/contacts/lower_6_foot", "frameName": "world"},
}


def moving(robot):
    """Return the joints that are not fixed, by name."""
    return {joint.get("name"): joint for joint in robot.findall("joint") if joint.get("type") != "fixed"}


@pytest.mark.parametrize("variant", VARIANTS)
def test_links(variant):
    """Exactly the links of docs/architecture.md."""
    expected = FRAMES | {"chassis"} | {f"lower_{k}_{name}" for k in range(1, 7) for name in LOWER}
    if variant != "walker":
        expected |= {f"upper_{k}_{name}" for k in range(1, 7) for name in UPPER}
    assert {link.get("name") for link in urdf(variant).findall("link")} == expected


@pytest.mark.parametrize("variant", VARIANTS)
def test_moving_joints(variant):
    """The driven joints and no others, all revolute about z; in `full` fans 2..6 follow fan 1."""
    joints = moving(urdf(variant))
    assert set(joints) == set(driven_joint_names(variant))
    assert {joint.get("type") for joint in joints.values()} == {"revolute"}
    found = {name: joint.find("mimic") for name, joint in joints.items()}
    mimics = {name: mimic.get("joint") for name, mimic in found.items() if mimic is not None}
    expected = {f"lower_{k}_fan": "lower_1_fan" for k in range(2, 7)} if variant == "full" else {}
    assert mimics == expected
    if variant == "full":
        assert len(joints) - len(mimics) == len(motor_joint_names("full")) == 31


@pytest.mark.parametrize("variant", VARIANTS)
def test_limits_and_damping_follow_from_the_variables(variant):
    """The xacro arithmetic and that of `Variables` agree for every joint."""
    variables = load_variables()
    for name, joint in moving(urdf(variant)).items():
        kind, limit = joint_class(name), joint.find("limit")
        values = [float(limit.get(key)) for key in ("lower", "upper", "effort", "velocity")]
        limits = variables.limits(kind)
        expected = [limits.lower, limits.upper, variables.effort(kind), variables.velocity(kind)]
        np.testing.assert_allclose(values, expected, rtol=1e-12, err_msg=name)
        assert math.isclose(float(joint.find("dynamics").get("damping")), variables.damping(kind), rel_tol=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_masses(variant):
    """The total is the robot's; the root has no mass; each moving link has some."""
    robot = urdf(variant)
    found = masses(robot)
    assert math.isclose(sum(found.values()), TOTAL[variant], abs_tol=1e-9)
    assert not FRAMES & set(found)
    for joint in moving(robot).values():
        assert found[joint.find("child").get("link")] > 0.0


@pytest.mark.parametrize("variant", VARIANTS)
def test_inertias_are_physical(variant):
    """Positive definite, triangle inequality, and of the size of the link: gyration radius 1 to 120 mm."""
    robot = urdf(variant)
    for link in robot.findall("link"):
        if link.find("inertial") is None:
            continue
        moments = np.linalg.eigvalsh(inertia_of(link))
        assert moments[0] > 0.0, link.get("name")
        assert moments[0] + moments[1] > moments[2], link.get("name")
        mass = float(link.find("inertial").find("mass").get("value"))
        assert 1e-3 < math.sqrt(moments[0] / mass) <= math.sqrt(moments[2] / mass) < 0.12, link.get("name")


@pytest.mark.parametrize("variant", VARIANTS)
def test_meshes_exist_and_names_are_unique(variant):
    """Each mesh is in the package; each collision and visual has its own name, each material a colour."""
    robot = urdf(variant)
    for mesh in robot.iter("mesh"):
        assert mesh.get("filename").startswith(URI)
        assert (package_path() / mesh.get("filename")[len(URI) :]).is_file(), mesh.get("filename")
    for tag in ("collision", "visual"):
        names = [element.get("name") for element in robot.iter(tag)]
        assert len(names) == len(set(names)) and all(names)
    colours = {material.get("name") for material in robot.findall("material")}
    assert {material.get("name") for material in robot.iter("material")} == colours


def test_foot_ball_ends_at_the_tip():
    """Centre 8 mm behind the tip, radius 8 mm: the tip is the ball's extreme point along the shank."""
    robot = urdf()
    tip = {joint.get("name"): joint for joint in robot.findall("joint")}["lower_4_foot_joint"]
    collision = {item.get("name"): item for item in robot.iter("collision")}["lower_4_tibia_link_foot"]
    centre = numbers(collision.find("origin").get("xyz"))
    radius = float(collision.find("geometry").find("sphere").get("radius"))
    np.testing.assert_allclose(centre + [radius, 0, 0], numbers(tip.find("origin").get("xyz")), atol=1e-12)
    assert radius == 0.008


def test_each_gore_has_six_convex_pieces_and_the_rim_24_stops():
    """3 x 2 pieces per gore, each its own collision element; 24 stops on the chassis."""
    robot = urdf()
    links = {link.get("name"): link for link in robot.findall("link")}
    for half in ("lower", "upper"):
        pieces = links[f"{half}_3_gore_link"].findall("collision")
        assert [piece.get("name") for piece in pieces] == [
            f"{half}_3_gore_link_piece_{i}_{j}" for i in (1, 2, 3) for j in (1, 2)
        ]
    names = [collision.get("name") for collision in links["chassis"].findall("collision")]
    assert sorted(names) == sorted(["chassis_drum", *(f"chassis_stop_{i}" for i in range(1, 25))])


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("simulator", SIMULATORS)
def test_simulator_argument(variant, simulator):
    """Only Gazebo gets transmissions (one per driven joint), plugins and friction."""
    robot = urdf(variant, simulator)
    transmissions = [element.find("joint").get("name") for element in robot.findall("transmission")]
    plugins = {plugin.get("filename"): plugin for plugin in robot.iter("plugin")}
    if simulator != "gazebo":
        assert not transmissions and not robot.findall("gazebo")
        return
    assert sorted(transmissions) == sorted(driven_joint_names(variant))
    interfaces = {element.text for element in robot.iter("hardwareInterface")}
    assert interfaces == {"hardware_interface/EffortJointInterface"}
    texts = {name: {tag: plugin.findtext(tag) for tag in PLUGINS.get(name, ())} for name, plugin in plugins.items()}
    assert texts == PLUGINS
    assert float(plugins["libgazebo_ros_imu_sensor.so"].findtext("updateRateHZ")) == 100.0
    sensors = {item.find("sensor").get("name"): item.get("reference") for item in robot.findall("gazebo[sensor]")}
    feet = {f"lower_{k}_foot": f"lower_{k}_tibia_link" for k in range(1, 7)}
    assert sensors == {"imu": "imu_link", "camera": "camera_link", **feet}
    surfaces = [item for item in robot.findall("gazebo") if item.find("collision") is not None]
    friction = {item.get("reference"): float(item.findtext("collision/surface/friction/ode/mu")) for item in surfaces}
    links = {link.get("name") for link in robot.findall("link")}
    assert set(friction) <= links
    assert {"lower_6_tibia_link", "chassis", "lower_3_gore_link"} <= set(friction)
    assert set(friction.values()) == {0.8}
    # Gazebo joins links that are fixed to each other, and finds the shapes of one by a name that begins with the link's
    shaped = {link.get("name"): [c.get("name") for c in link.findall("collision")] for link in robot.findall("link")}
    shaped = {link: names for link, names in shaped.items() if names}
    assert set(shaped) <= set(friction)
    assert all(set(names) == {link} for link, names in shaped.items())
    gears = {gear.find("child").text: gear for gear in robot.iter("joint") if gear.get("type") == "gearbox"}
    assert sorted(gears) == [f"lower_{k}_fan_link" for k in range(2, 7)]
    assert {float(gear.find("gearbox_ratio").text) for gear in gears.values()} == {-1.0}


def test_xacro_arguments():
    """Friction, camera and mesh folder may be given; anything else is refused with the choices."""
    robot = ElementTree.fromstring(expand("walker", "gazebo", friction=0.35, camera=False, mesh_uri="file:///m"))
    surfaces = [item for item in robot.findall("gazebo") if item.get("reference") == "lower_1_tibia_link"]
    friction = [
        item.findtext("collision/surface/friction/ode/mu") for item in surfaces if item.find("collision") is not None
    ]
    assert friction == ["0.35"]
    assert "libgazebo_ros_camera.so" not in {plugin.get("filename") for plugin in robot.iter("plugin")}
    assert all(mesh.get("filename").startswith("file:///m/") for mesh in robot.iter("mesh"))
    for arguments, message in (
        ({"variant": "biped"}, "'biped' does not exist; choose one of simulation"),
        ({"simulator": "bullet"}, "'bullet' does not exist; choose one of mujoco, gazebo, none"),
        ({"mu": 1}, "argument 'mu' does not exist; choose from mesh_uri"),
        ({"friction": "much"}, "friction = 'much' is out of range; give a number from 0 to 10"),
        ({"friction": float("nan")}, "friction = 'nan' is out of range"),
        ({"camera": "perhaps"}, "camera = 'perhaps' is neither true nor false"),
    ):
        with pytest.raises(DescriptionError, match=message):
            expand(**arguments)


def test_program_is_used_where_the_library_is_missing(monkeypatch):
    """Without the library the `xacro` program gives the same robot."""
    expected = expand("walker", "gazebo")
    _expand_adopted.cache_clear()
    monkeypatch.setitem(sys.modules, "xacro", None)  # what `import xacro` then does is an ImportError
    by_program = expand("walker", "gazebo")

    def plain(text):
        return ElementTree.canonicalize(text, strip_text=True)

    assert plain(by_program) == plain(expected)


def test_program_of_the_workspace_is_found_by_any_interpreter(monkeypatch):
    """A plain `python3` works without activating the workspace's virtual environment."""
    if not (package_path().parent.parent / ".venv" / "bin" / "xacro").is_file():
        pytest.skip("the workspace has no virtual environment (scripts/setup makes it)")
    _expand_adopted.cache_clear()
    monkeypatch.setitem(sys.modules, "xacro", None)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(sys, "executable", "/nonexistent/bin/python3")
    assert "<robot" in expand("walker")


@pytest.mark.parametrize("variant", VARIANTS)
def test_check_urdf(variant, tmp_path):
    """The URDF library of ROS accepts the file."""
    program = shutil.which("check_urdf")
    if program is None:
        pytest.skip("check_urdf is not installed (package liburdfdom-tools)")
    file = tmp_path / "robot.urdf"
    file.write_text(expand(variant, "gazebo"))
    done = subprocess.run([program, str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "root Link: base_link has" in done.stdout
