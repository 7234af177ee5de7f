# SPDX-License-Identifier: MIT
"""The snake's URDF and profile against the extraction of the source: sizes, masses, axes, colours, any module count."""

from __future__ import annotations

import math
import subprocess
import xml.etree.ElementTree as ElementTree

import mujoco
import numpy as np
import pytest
import yaml

from shellbot_common import RobotProfile, package_file
from shellbot_simulator import Simulator
from snake_description import DescriptionError, expand, joint_names, link_names, load_variables, snake_profile


def simulator(**changes):
    variables = load_variables(**changes)
    return Simulator(expand(variables), snake_profile(variables))


@pytest.mark.parametrize("modules", [1, 2, 3, 16, 128])
def test_any_number_of_modules(modules):
    sim = simulator(modules=modules)
    sim.reset(seed=1)
    sim.step_tick()
    assert sim.joint_names == joint_names(modules)
    assert sim.mass == pytest.approx(0.09 * modules)
    state = sim.state()
    assert len(state.contacts.foot_force) == modules + 1 and not state.contacts.other_links
    length = [sim.data.xpos[sim.model.body(link).id] for link in ("head", "tail")]
    assert length[0][0] - length[1][0] == pytest.approx((modules - 1) * 0.072 + 0.018, abs=1e-3)


def test_masses_axes_and_colours_are_those_of_the_source():
    robot = ElementTree.fromstring(expand(load_variables(modules=5)))
    masses = [float(link.find("inertial/mass").get("value")) for link in (_link(robot, n) for n in link_names(5))]
    assert masses == pytest.approx([0.045, 0.09, 0.09, 0.09, 0.09, 0.045])
    axes = [joint.find("axis").get("xyz") for joint in robot.findall("joint") if joint.get("type") == "revolute"]
    assert axes == ["0 -1 0", "0 0 1", "0 -1 0", "0 0 1", "0 -1 0"]  # the last is pitch: their number is odd
    colours = [[m.get("name") for m in _link(robot, name).iter("material")] for name in link_names(5)]
    assert colours == [["pitch"], ["pitch", "yaw"], ["yaw", "pitch"], ["pitch", "yaw"], ["yaw", "pitch"], ["pitch"]]


def test_in_gazebo_every_joint_has_a_motor_and_implicit_damping_and_bodies_meet():
    robot = ElementTree.fromstring(expand(load_variables(modules=3), "gazebo"))
    elements = robot.findall("gazebo")
    assert [t.find("joint").get("name") for t in robot.findall("transmission")] == list(joint_names(3))
    damped = [e.get("reference") for e in elements if e.findtext("implicitSpringDamper") == "true"]
    assert damped == list(joint_names(3))
    meet = {e.get("reference") for e in elements if (e.findtext("selfCollide") or "").lower() == "true"}
    assert meet == set(link_names(3))


def test_inertia_is_of_the_full_length():
    """The source gives a body the inertia of half its length: 49 % too small about its transverse axes."""
    inertia = _link(ElementTree.fromstring(expand()), "body_01").find("inertial/inertia")
    full = 0.09 / 12.0 * (0.072**2 + 0.052**2)
    assert float(inertia.get("iyy")) == pytest.approx(full)
    assert 0.09 / 12.0 * (0.036**2 + 0.052**2) / full == pytest.approx(0.507, abs=0.001)


def test_neighbours_pass_through_each_other_and_others_collide():
    sim = simulator(modules=16)
    q = np.zeros(16)
    q[1::2] = math.radians(60.0)  # a ring that closes on itself
    sim.reset(q)
    pairs = {frozenset(_links(sim, contact)) for contact in sim.data.contact}
    assert not pairs & snake_profile().excluded_pairs(link_names(16))
    assert any("world" not in pair for pair in pairs)


def test_the_servo_of_the_source_turns_no_faster_than_it_can():
    sim = simulator(modules=2, servo="source")
    sim.reset()
    sim.command([0.0, 1.2])
    speeds = []
    for _ in range(100):
        sim.step_tick()
        speeds.append(sim.state().dq[1])
    assert max(speeds) == pytest.approx(4.538, rel=0.03)
    assert sim.state().q[1] == pytest.approx(1.2, abs=0.02)
    error = [speed for speed in speeds if 0.1 < speed < 2.0]
    assert len(error) > 5  # it slows down in proportion to the error


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"modules": 0}, "modules is 0; give a whole number from 1 to 128"),
        ({"modules": 1000}, "modules is 1000; give a whole number from 1 to 128"),
        ({"modules": 2.5}, "whole number"),
        ({"length": math.nan}, "length is nan"),
        ({"servo": "mx"}, "servo is 'mx'; choose from ax, source"),
        ({"lenght": 0.1}, "is length meant"),
    ],
)
def test_wrong_variables_are_refused_in_words(changes, words):
    with pytest.raises(DescriptionError, match=words):
        load_variables(**changes)


def test_the_commands_of_the_launch_file():
    nodes = package_file("snake_description", "nodes")
    profile, controllers = (
        subprocess.run([str(nodes / name), "modules=3"], capture_output=True, text=True, check=True).stdout
        for name in ("snake_profile", "snake_controllers")
    )
    assert RobotProfile.from_text(profile) == snake_profile(load_variables(modules=3))
    assert yaml.safe_load(controllers)["joints"] == list(joint_names(3))
    wrong = subprocess.run([str(nodes / "snake_urdf"), "modules=1000"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1
    assert wrong.stderr == "snake_urdf: modules is 1000; give a whole number from 1 to 128\n"


def _link(robot, name):
    return next(link for link in robot.findall("link") if link.get("name") == name)


def _links(sim, contact):
    geoms = sim.model.geom_bodyid[list(contact.geom)]
    return [mujoco.mj_id2name(sim.model, mujoco.mjtObj.mjOBJ_BODY, int(b)).partition("/")[0] for b in geoms]
