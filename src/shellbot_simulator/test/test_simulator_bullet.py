# SPDX-License-Identifier: MIT
"""Bullet behind the simulator: it moves the same robots as MuJoCo does, and says so when it cannot."""

from __future__ import annotations

import copy
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
import tiny_robot

import shellbot_description as description
from shellbot_simulator.core.config import load_config
from shellbot_simulator.core.errors import ModelError
from shellbot_simulator.core.simulator import Simulator


def simulator(urdf, profile, engine, **settings):
    return Simulator(urdf, profile, load_config().replace(engine=engine, **settings))


@pytest.fixture(scope="module")
def pair():
    """Shellbot in both engines."""
    pytest.importorskip("pybullet", reason="no pybullet: scripts/setup --dev installs it for Python 3.8 to 3.11")
    urdf, profile = description.expand("simulation"), description.robot_profile("simulation")
    return [simulator(urdf, profile, engine) for engine in ("mujoco", "bullet")]


def run(robot, seconds):
    for _ in range(round(100 * seconds)):
        robot.step_tick()
    return robot.state()


def test_it_stands_as_in_mujoco(pair):
    for robot in pair:
        robot.reset(description.named_pose_array("stand", "simulation"))
    ours, other = (run(robot, 0.5) for robot in pair)
    assert np.degrees(np.abs(other.q - ours.q)).max() < 0.1
    assert np.abs(other.dq).max() < 0.02  # it swings on its legs without end if the links have nothing of the rotors
    assert np.abs(other.effort - ours.effort).max() < 0.02
    assert other.p_world_base == pytest.approx(ours.p_world_base, abs=5e-4)
    assert other.contacts.ground_force == pytest.approx([0.0, 0.0, 9.81 * pair[1].mass], abs=0.3)
    assert other.contacts.foot_contact.all() and not other.contacts.other_links
    assert other.contacts.foot_wrench[:, :3] == pytest.approx(ours.contacts.foot_wrench[:, :3], abs=1.0)
    assert other.imu.specific_force == pytest.approx([0.0, 0.0, 9.81], abs=0.1)


@pytest.mark.parametrize(("p", "d"), [(0.0, 0.0), (0.0, 1e3), (1e5, 0.0), (1e5, 1e3)])
def test_at_the_greatest_gains_servos_saturate_and_nothing_explodes(pair, p, d):
    stand = description.named_pose_array("stand", "simulation")
    for robot in pair:
        robot.reset(stand)
        usual = [robot.gains(joint).p for joint in robot.joint_names]
        for joint in robot.joint_names:
            robot.set_gains(joint, p, 1e5 * (d > 0.0), d, -1e5, 1e5)
        for tick in range(50):
            robot.command(stand + 0.1 * np.sin(0.3 * tick))  # every joint, as if all legs walked
            robot.step_tick()
            state = robot.state()
            assert np.abs(state.dq).max() < 20.0, "rad/s"
            assert (np.abs(state.effort) <= robot._effort).all()
            assert 0.0 < state.p_world_base[2] < 0.3, "m"
        for joint, before in zip(robot.joint_names, usual):
            robot.set_gains(joint, before)


def test_pushed_in_the_air_it_moves_as_in_mujoco(pair):
    """Without contacts the engines solve one equation: masses, rotors, damping, axes and pushes are the same."""
    states = []
    for robot in pair:
        free = simulator(description.expand("simulation"), robot.profile, robot.config.engine, gravity=0.0)
        start = free.reset(description.named_pose_array("stand", "simulation"))
        free.data.qpos[2] += 1.0
        free._engine.place()
        free.command(start.q + 0.3 * np.array([name.endswith("_coxa") for name in free.joint_names]))
        free.push((3.0, -2.0, 5.0), 0.1, "lower_1_tibia_link", (0.02, 0.0, 0.01))
        states.append(run(free, 0.3))
    # what Bullet's motion leaves over in the equation of the model: its masses, inertias and axes are the model's
    fans = [6 + index for index, name in enumerate(free.joint_names) if name.endswith("_fan")]  # coupled: not free
    assert np.abs(np.delete(free._engine._constraint, fans)).max() < 0.05
    ours, other = states
    moved = np.linalg.norm(ours.p_world_base - [0.0, 0.0, 1.16])
    assert moved > 0.03
    assert other.p_world_base == pytest.approx(ours.p_world_base, abs=0.005 * moved)
    assert other.quat_world_base == pytest.approx(ours.quat_world_base, abs=1e-3)
    assert np.degrees(np.abs(other.q - ours.q)).max() < 0.1


def test_closed_its_shells_rest_on_each_other_and_on_the_floor(pair):
    robot = pair[1]
    robot.reset(description.named_pose_array("closed", "simulation"))
    run(robot, 0.2)
    geoms = robot._engine.contacts().geoms
    assert (~robot._ground._is_floor[geoms].any(axis=1)).sum() > 3
    # hulls are not thicker by the margin that Bullet adds, 1 mm
    assert robot._ground.lowest_height(robot.data) == pytest.approx(0.0, abs=2e-4)


def test_it_rolls_as_in_mujoco_and_after_a_reset_again(pair):
    """Points of contact that Bullet keeps while the ball turns wedge the shells: 0.34 to 0.57 m, each time another."""
    rolled = []
    for robot in (pair[0], pair[1], pair[1]):
        start = robot.reset(description.named_pose_array("closed", "simulation")).p_world_base
        robot.push((7.0, 4.0, 0.0), 0.5)
        rolled.append(float(np.linalg.norm((run(robot, 1.5).p_world_base - start)[:2])))
    assert rolled[1] == pytest.approx(rolled[0], rel=0.05) and rolled[0] > 0.6
    assert rolled[2] == pytest.approx(rolled[1], rel=0.02)


def test_friction_holds_a_body_on_a_slope_and_its_force_is_read():
    pytest.importorskip("pybullet", reason="no pybullet: scripts/setup --dev installs it for Python 3.8 to 3.11")
    robot = simulator(tiny_robot.URDF, tiny_robot.profile(), "bullet", slope_deg=15.0, slope_azimuth_deg=30.0)
    state = run(robot, 0.5)
    weight = 9.81 * robot.mass * np.array(robot.config.up)
    assert state.contacts.ground_force == pytest.approx(weight, abs=0.02 * weight[2])
    assert np.linalg.norm(state.v_base) < 1e-3 and state.contacts.other_links == ("chassis",)


def test_coupled_fans_stay_equal(pair):
    robot = pair[1]
    start = robot.reset(description.named_pose_array("stand", "simulation"))
    fans = [index for index, name in enumerate(robot.joint_names) if name.endswith("_fan")]
    q = start.q.copy()
    q[fans] += np.radians(10.0) * np.array([1, 1, 1, 1, 1, 0])  # one servo holds where it is
    robot.command(q)
    assert np.ptp(np.degrees(run(robot, 0.5).q[fans])) < 0.5


def test_two_runs_are_equal_and_a_copy_continues(pair):
    robot, runs = pair[1], []
    for _ in range(2):
        robot.reset(description.named_pose_array("stand", "simulation"), seed=3)
        runs.append(run(robot, 0.1))
    assert (runs[0].q == runs[1].q).all()
    other, third = copy.deepcopy(robot), copy.deepcopy(robot)
    third.command(third.applied_command + 0.3)
    run(third, 0.1)
    assert run(other, 0.1).q == pytest.approx(run(robot, 0.1).q, abs=2e-3)  # it starts from no contact forces
    assert other.tick_count == robot.tick_count == 20
    assert np.abs(third.state().q - robot.state().q).max() > 0.05


def test_who_has_no_bullet_reads_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "pybullet", None)
    for module in ("bullet_engine", "bullet_world"):
        monkeypatch.delitem(sys.modules, f"shellbot_simulator.core.{module}", raising=False)
    with pytest.raises(ModelError, match="needs pybullet, which is not installed: run scripts/setup --dev .* mujoco"):
        simulator(tiny_robot.URDF, tiny_robot.profile(), "bullet")


@pytest.mark.parametrize("friction", [None, 0.35])
def test_every_link_has_the_same_friction_in_all_simulators(friction):
    pybullet = pytest.importorskip("pybullet", reason="no pybullet")
    given = {} if friction is None else {"friction": friction}
    urdf, profile = description.expand("simulation"), description.robot_profile("simulation")
    mujoco, bullet = (simulator(urdf, profile, engine, **given) for engine in ("mujoco", "bullet"))
    solid = (mujoco.model.geom_contype | mujoco.model.geom_conaffinity) > 0
    found = {"mujoco": set(mujoco.model.geom_friction[solid, 0]), "bullet": set(), "gazebo": set()}
    world = bullet._engine._world
    for index, link in enumerate(world._links, start=-1):
        if link.geoms:
            root = pybullet.getDynamicsInfo(world.robot, index, physicsClientId=world.client)[1]
            found["bullet"].add(round(root * root, 9))  # Bullet multiplies those of both that touch
    gazebo = ElementTree.fromstring(description.expand("simulation", "gazebo", **given))
    surface = {g.get("reference"): g for g in gazebo.findall("gazebo") if g.find("collision") is not None}
    for link in gazebo.findall("link"):
        if link.find("collision") is not None:
            found["gazebo"] |= {
                float(surface[link.get("name")].findtext(f"collision/surface/friction/ode/{tag}"))
                for tag in ("mu", "mu2")
            }
    expected = {description.load_variables().contact.friction if friction is None else friction}
    assert found == dict.fromkeys(found, expected)
