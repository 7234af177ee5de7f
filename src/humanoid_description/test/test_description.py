# SPDX-License-Identifier: MIT
"""The humanoid as data: joints, masses, mirror images, and that it stands in the simulator and feels its feet."""

from __future__ import annotations

import numpy as np
import pytest

import humanoid_description
from robot_mechanics import load_urdf
from robot_mechanics.models.inertia import inertias_of_urdf
from shellbot_common import SettingsError
from shellbot_simulator.core.config import load_config
from shellbot_simulator.core.simulator import Simulator
from shellbot_simulator.core.terrain import terrain

URDF = humanoid_description.urdf_text()
PROFILE = humanoid_description.profile()
TREE = load_urdf(URDF)


def test_26_joints_of_which_25_have_a_motor_and_the_published_mass():
    assert len(PROFILE.joints) == 26
    assert len(PROFILE.motor_joints) == 25
    assert set(PROFILE.joints) == {name for name, joint in TREE.joints.items() if joint.kind == "revolute"}
    bodies = inertias_of_urdf(URDF)
    assert sum(body.mass for body in bodies.values()) == pytest.approx(5.1954, abs=1e-4)
    assert {name: body.problems() for name, body in bodies.items() if body.problems()} == {}


def test_the_right_side_is_the_mirror_image_of_the_left():
    bodies = inertias_of_urdf(URDF)
    mirror = np.diag([1.0, -1.0, 1.0])
    for name in (name for name in bodies if name.startswith("l_")):
        other = bodies["r_" + name[2:]]
        assert np.allclose(mirror @ bodies[name].com, other.com)
        assert np.allclose(mirror @ bodies[name].tensor @ mirror, other.tensor)
    rng = np.random.default_rng(0)
    q = dict.fromkeys(TREE.joint_names, 0.0)
    for name, joint in TREE.joints.items():
        if name.startswith("L") and name in q:
            other = TREE.joints["R" + name[1:]]
            sign = 1.0 if joint.axis[1] != 0.0 or name == "LHand" else -1.0
            q[name] = rng.uniform(joint.lower, joint.upper)
            if other.name in q:
                q[other.name] = sign * q[name]
            assert sorted(sign * np.array([joint.lower, joint.upper])) == [other.lower, other.upper], name
    angles = [q[name] for name in TREE.joint_names]
    for left, right in (("l_sole", "r_sole"), ("l_wrist", "r_wrist")):
        assert np.allclose(mirror @ TREE.frame(left, angles)[:3, 3], TREE.frame(right, angles)[:3, 3])


def test_rated_motors_have_half_the_torque_and_unknown_ones_are_refused():
    rated = load_urdf(humanoid_description.urdf_text("rated"))
    assert rated.joints["LKneePitch"].effort == pytest.approx(3.023)
    assert TREE.joints["LKneePitch"].effort == pytest.approx(6.046)
    with pytest.raises(SettingsError, match="choose one of peak, rated"):
        humanoid_description.urdf_text("strong")


def test_it_stands_in_the_simulator_and_its_soles_feel_weight_and_centre_of_pressure():
    simulator = Simulator(URDF, PROFILE)
    assert simulator.state().p_world_base[2] == pytest.approx(0.310, abs=0.001)
    for _ in range(200):
        simulator.step_tick()
    state = simulator.state()
    wrench = state.contacts.foot_wrench
    assert state.contacts.other_links == ()
    assert wrench[:, 2].sum() == pytest.approx(simulator.mass * 9.81, rel=0.005)
    soles = np.array([simulator.data.body(name).xpos[0] for name in PROFILE.contacts])
    pressure = soles - wrench[:, 4] / wrench[:, 2]
    assert pressure == pytest.approx([simulator.data.subtree_com[0][0]] * 2, abs=0.001)
    assert np.all(pressure - soles > 0.003)  # not just the middle of the sole


def test_standing_its_force_sensors_feel_weight_and_centre_of_pressure():
    simulator = Simulator(URDF, PROFILE)
    for _ in range(200):
        simulator.step_tick()
    wrench = dict(zip(PROFILE.contacts, simulator.state().contacts.foot_wrench))
    for sole, forces in simulator.load_cells().items():
        places, (normal, mx, my) = simulator.load_cell_places[sole], wrench[sole][2:5]
        assert places.shape == (4, 3) and (places[:, 1].sum() > 0.0) == (sole == "l_sole"), "outer ones further out"
        assert forces.sum() == pytest.approx(normal, abs=0.2), "in steps of 0.1 N"
        assert forces @ places[:, :2] / forces.sum() == pytest.approx([-my / normal, mx / normal], abs=5e-4)


def test_its_sonars_hear_a_wall_and_not_the_floor():
    def heard(**world):
        simulator = Simulator(URDF, PROFILE, load_config().replace(**world))
        eye = simulator.data.body("sonar_left").xpos[0]
        return np.array([simulator.range(link) for link in ("sonar_left", "sonar_right")]) + eye

    assert heard(**terrain("wall").settings()) == pytest.approx([1.5, 1.5], abs=0.006)
    assert (heard() == np.inf).all()
    left, right = heard(boxes=[(1.0, 0.9, 0.6, 0.6, 0.8)])
    assert left == pytest.approx(0.92, abs=0.01) and right == np.inf, "the near corner of what stands to the left"
