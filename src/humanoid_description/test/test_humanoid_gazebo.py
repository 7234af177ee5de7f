# SPDX-License-Identifier: MIT
"""The description for Gazebo Classic, as far as it can be checked without Gazebo."""

from __future__ import annotations

import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import humanoid_description
from robot_mechanics import load_urdf
from robot_mechanics.models.inertia import inertias_of_urdf

PROFILE = humanoid_description.profile()
PLAIN = humanoid_description.urdf_text()
TEXT = humanoid_description.urdf_text(simulator="gazebo", friction=0.65)
ROBOT = ElementTree.fromstring(TEXT)


def of_reference(tag):
    """Return reference to text of a tag within the elements for Gazebo."""
    found = [(element.get("reference"), element.findtext(tag)) for element in ROBOT.findall("gazebo")]
    return {reference: text for reference, text in found if text is not None}


def plugins(filename):
    return [plugin for plugin in ROBOT.iter("plugin") if plugin.get("filename") == filename]


def test_only_gazebo_gets_what_gazebo_needs():
    plain = ElementTree.fromstring(PLAIN)
    assert not plain.findall("gazebo") and not plain.findall("transmission")
    (control,) = plugins("libgazebo_ros_control.so")
    assert control.findtext("robotSimType") == "gazebo_ros_control/DefaultRobotHWSim"


def test_every_joint_has_a_motor_that_gives_torque_and_is_damped_implicitly():
    assert {t.find("joint").get("name") for t in ROBOT.findall("transmission")} == set(PROFILE.joints)
    assert {e.text for e in ROBOT.iter("hardwareInterface")} == {"hardware_interface/EffortJointInterface"}
    assert of_reference("implicitSpringDamper") == dict.fromkeys(PROFILE.joints, "true")


def test_what_touches_has_the_friction_and_only_the_feet_meet_each_other():
    shaped = {link.get("name") for link in ROBOT.findall("link") if link.find("collision") is not None}
    friction, meets = of_reference("collision/surface/friction/ode/mu"), of_reference("selfCollide")
    assert shaped <= set(friction) and {friction[link] for link in shaped} == {"0.65"}
    assert {link for link in shaped if meets[link].lower() == "true"} == {"l_foot", "r_foot"}


def test_feet_neither_chatter_on_the_floor_nor_sink_into_it():
    """What ODE makes of kp and kd in 1 ms: the part of a depth that goes, and how deep 25 N on four points sink in."""
    step, weight = 1e-3, 25.0
    for foot in ("l_foot", "r_foot"):
        kp, kd = (float(of_reference(f"collision/surface/contact/ode/{name}")[foot]) for name in ("kp", "kd"))
        assert 0.05 < step * kp / (step * kp + kd) < 0.5
        assert weight / 4 / kp < 1e-4


def test_the_engine_gets_its_topics_five_times_a_tick():
    (imu,) = plugins("libgazebo_ros_imu_sensor.so")
    assert (imu.findtext("topicName"), imu.findtext("frameName")) == ("imu/data", PROFILE.imu)
    soles = {plugin.findtext("topicName"): plugin for plugin in plugins("libgazebo_ros_ft_sensor.so")}
    assert set(soles) == {f"contact_wrenches/{sole}" for sole in PROFILE.contacts}
    assert {float(p.findtext("updateRate")) for p in soles.values()} == {500.0} == {float(imu.findtext("updateRateHZ"))}
    (truth,) = plugins("libgazebo_ros_p3d.so")
    assert (truth.findtext("topicName"), truth.findtext("bodyName")) == ("ground_truth/odom", PROFILE.base.link)


def test_a_soles_sensor_is_in_the_last_joint_before_it_which_measures():
    joints = {joint.child: joint for joint in load_urdf(TEXT).joints.values()}
    measures = of_reference("provideFeedback")
    for plugin in plugins("libgazebo_ros_ft_sensor.so"):
        link = plugin.findtext("topicName").rpartition("/")[2]
        while joints[link].kind == "fixed":
            link = joints[link].parent
        assert plugin.findtext("jointName") == joints[link].name
        assert measures[joints[link].name] == "true"


def test_the_sonars_are_those_of_the_profile():
    sonars = {plugin.findtext("topicName"): plugin for plugin in plugins("libgazebo_ros_range.so")}
    assert set(sonars) == {f"range/{link}" for link in PROFILE.range_sensors}
    for link, sensor in PROFILE.range_sensors.items():
        plugin = sonars[f"range/{link}"]
        assert float(plugin.findtext("fov")) == pytest.approx(np.radians(sensor.field_of_view_deg))
        assert (plugin.findtext("frameName"), plugin.findtext("radiation")) == (link, sensor.kind)
    limits = [[float(r.findtext("min")), float(r.findtext("max"))] for r in ROBOT.iter("range")]
    assert limits == [list(sensor.limits) for sensor in PROFILE.range_sensors.values()]


def test_the_cameras_are_those_of_the_profile_and_look_ahead_and_down():
    cameras = {plugin.findtext("cameraName"): plugin for plugin in plugins("libgazebo_ros_camera.so")}
    assert set(cameras) == {f"cameras/{link}" for link in PROFILE.cameras}
    sensors = {sensor.get("name"): sensor for sensor in ROBOT.iter("sensor") if sensor.get("type") == "camera"}
    tree = load_urdf(TEXT)
    q = [PROFILE.pose("stand")[name] for name in tree.joint_names]
    for link, camera in PROFILE.cameras.items():
        assert cameras[f"cameras/{link}"].findtext("frameName") == camera.optical_frame
        sensor = sensors[link].find("camera")
        assert float(sensor.findtext("horizontal_fov")) == pytest.approx(np.radians(camera.field_of_view_deg))
        assert [sensor.findtext(f"image/{side}") for side in ("width", "height")] == [
            str(camera.width),
            str(camera.height),
        ]
        body, optical = tree.frame(link, q), tree.frame(camera.optical_frame, q)
        assert optical[:3, 2] == pytest.approx(body[:3, 0]) and optical[:3, 0] == pytest.approx(-body[:3, 1])
        assert optical[:3, 3] == pytest.approx(body[:3, 3])
    down = {link: np.degrees(-np.arcsin(tree.frame(link, q)[2, 0])) for link in PROFILE.cameras}
    assert down == pytest.approx({"camera_top": 1.2, "camera_bottom": 39.7}, abs=0.1)


def test_each_link_has_its_rotor_and_remains_a_body():
    plain, heavy = inertias_of_urdf(PLAIN), inertias_of_urdf(TEXT)
    assert not [name for name, body in heavy.items() if body.problems()]
    for joint in load_urdf(TEXT).joints.values():
        if joint.kind != "revolute":
            continue
        rotor = heavy[joint.child].tensor - plain[joint.child].tensor
        armature = 0.7 * PROFILE.classes[PROFILE.joints[joint.name]].armature
        expected = 0.5 * armature * (np.eye(3) + np.outer(joint.axis, joint.axis))
        assert rotor == pytest.approx(expected, abs=1e-9), joint.name
        assert heavy[joint.child].mass == plain[joint.child].mass
    assert heavy["base_link"].tensor == pytest.approx(plain["base_link"].tensor)


def test_its_spawn_pose_stands_on_the_floor():
    pose, tree = PROFILE.pose(PROFILE.base.spawn_pose), load_urdf(TEXT)
    heights = [-tree.frame(sole, [pose[name] for name in tree.joint_names])[2, 3] for sole in PROFILE.contacts]
    assert heights == pytest.approx([PROFILE.poses[PROFILE.base.spawn_pose]["body_height_m"]] * 2, abs=5e-5)
    assert [name for name, values in PROFILE.poses.items() if "body_height_m" in values] == [PROFILE.base.spawn_pose]


def test_the_urdf_library_of_ros_accepts_it(tmp_path):
    program = shutil.which("check_urdf")
    if program is None:
        pytest.skip("check_urdf is not installed (package liburdfdom-tools)")
    file = tmp_path / "robot.urdf"
    file.write_text(TEXT, encoding="utf-8")
    done = subprocess.run([program, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
