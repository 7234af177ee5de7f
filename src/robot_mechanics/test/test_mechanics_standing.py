# SPDX-License-Identifier: MIT
"""Robots on contacts whose loads come and go: against the general solution, and at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from mechanics_trees import random_state, random_urdf

from robot_mechanics.dynamics import DynamicModel
from robot_mechanics.dynamics.contacts import Contact, support
from robot_mechanics.dynamics.standing import BallContact, StandingModel
from robot_mechanics.errors import DynamicsError, InvalidConfigError

LEVEL = (0.0, 0.0, 0.0, 1.0)


def leg(k: int, x: float, y: float) -> str:
    """A hip that turns about x, and a knee that turns about y with a shank of 0.3 m below."""
    inertia = '<inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/>'
    body = f'<inertial><origin xyz="0 0 -0.1"/><mass value="0.{k}"/>{inertia}</inertial>'
    return (
        f'<link name="hip{k}">{body}</link><link name="shank{k}">{body}</link>'
        f'<joint name="hip{k}" type="revolute"><parent link="base"/><child link="hip{k}"/><origin xyz="{x} {y} 0"/>'
        '<axis xyz="1 0 0"/><limit lower="-2" upper="2" effort="9" velocity="9"/></joint>'
        f'<joint name="knee{k}" type="revolute"><parent link="hip{k}"/><child link="shank{k}"/>'
        '<origin xyz="0 0 -0.2"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="9" velocity="9"/></joint>'
    )


@pytest.fixture(scope="module")
def walker():
    legs = "".join(leg(k, x, y) for k, (x, y) in enumerate([(0.3, 0.2), (-0.3, 0.2), (-0.3, -0.2), (0.3, -0.2)], 1))
    chassis = (
        '<link name="base"><inertial><origin xyz="0.02 0.01 0"/><mass value="5"/>'
        '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    return DynamicModel.from_urdf(f'<robot name="walker">{chassis}{legs}</robot>', floating=True)


def feet(radius: float = 0.0):
    return [BallContact(f"shank{k}", (0.0, 0.0, -0.3), radius) for k in range(1, 5)]


def test_standing_on_level_points_is_the_least_squares_of_all_forces(walker):
    """On a plane the least squares of all forces are straight up, as here."""
    found = StandingModel(walker, feet()).torques(np.zeros(8), LEVEL, np.ones(4))
    q = np.concatenate((np.zeros(3), LEVEL, np.zeros(8)))
    contacts = [Contact(f"shank{k}", (0.0, 0.0, -0.3)) for k in range(1, 5)]
    expected = support(walker, q, contacts)
    np.testing.assert_allclose(found.tau, expected.tau, atol=1e-4)
    np.testing.assert_allclose(found.loads, expected.forces[:, 2], atol=1e-3)
    assert np.abs(found.missing).max() < 1e-3


def test_torques_and_loads_agree_with_the_equations_of_motion(walker):
    """In any posture, moving or not: torques and what is missing are inverse dynamics less J^T f."""
    rng, standing = np.random.default_rng(3), StandingModel(walker, feet(0.02))
    for k in range(30):
        q, v, a = 0.7 * rng.normal(size=8), rng.normal(size=8), 3.0 * rng.normal(size=8)
        turn = rng.normal(size=4) * (0.2, 0.2, 1.0, 1.0)
        turn /= np.linalg.norm(turn)
        weights = rng.uniform(size=4) * (rng.uniform(size=4) > 0.2)
        found = standing.torques(q, turn, weights, v, a)
        whole, still = np.concatenate((np.zeros(3), turn, q)), np.zeros(6)
        needed = walker.inverse(whole, np.concatenate((still, v)), np.concatenate((still, a)))
        R_world_base = walker.body_poses(whole)[0, :3, :3]
        for load, contact in zip(found.loads, standing.contacts):
            T_world_link = walker.body_poses(whole)[walker.table.body_of[contact.link]]
            R_world_link = (T_world_link @ walker.table.pose_in_body[contact.link])[:3, :3]
            point = np.asarray(contact.centre) - R_world_link.T @ (0.0, 0.0, contact.radius)
            force = np.array([0.0, 0.0, load])
            needed = needed - walker.jacobian(contact.link, whole, point)[:3].T @ force
        np.testing.assert_allclose(found.tau, needed[6:], atol=1e-9, err_msg=f"example {k}")
        np.testing.assert_allclose(found.missing, needed[:6], atol=1e-9, err_msg=f"example {k}")
        up = R_world_base.T @ (0.0, 0.0, 1.0)
        carried = (found.missing @ np.r_[up, still[:3]]) + found.loads.sum()
        expected = carried * min(1.0, weights.sum()) if carried > 0.0 and weights.any() else 0.0
        assert found.loads.sum() == pytest.approx(expected, abs=1e-9)
        assert (found.loads >= 0.0).all() and (found.loads[weights == 0.0] == 0.0).all()


def test_a_weight_that_grows_hands_the_load_over_without_a_jump(walker):
    standing, weights = StandingModel(walker, feet()), np.array([1.0, 1.0, 1.0, 0.0])
    tau = []
    for w in np.linspace(0.0, 1.0, 101):
        weights[3] = w
        tau.append(standing.torques(np.full(8, 0.2), LEVEL, weights).tau)
    assert np.abs(np.diff(tau, axis=0)).max() < 0.3, "N m in a hundredth of the way"
    assert np.abs(tau[-1] - tau[0]).max() > 0.5, "the way should be a long one"


@pytest.mark.parametrize("weights, carried", [([0, 0, 0, 0], 0.0), ([0, 1, 0, 0], 1.0), ([0.3, 0, 0.1, 0], 0.4)])
def test_contacts_that_cannot_carry_the_robot_carry_what_they_can(walker, weights, carried):
    found = StandingModel(walker, feet()).torques(np.zeros(8), LEVEL, np.array(weights, dtype=float))
    assert found.loads.sum() == pytest.approx(carried * walker.mass * 9.81)
    assert np.isfinite(found.tau).all()


def test_random_trees_in_the_air_are_inverse_dynamics():
    rng = np.random.default_rng(8)
    for k in range(20):
        model = DynamicModel.from_urdf(random_urdf(rng, 1 + k), floating=True)
        q, v, a = random_state(model, rng)
        q[:3] = v[:6] = a[:6] = 0.0
        standing = StandingModel(model, [BallContact(model.bodies[-1])])
        found = standing.torques(q[7:], q[3:7], np.zeros(1), v[6:], a[6:])
        np.testing.assert_allclose(np.r_[found.missing, found.tau], model.inverse(q, v, a), err_msg=f"tree {k}")


def test_what_cannot_be_known_is_not_a_number(walker):
    standing, ones = StandingModel(walker, feet()), np.ones(4)
    nan, infinite = ones * [np.nan, 1, 1, 1], ones * [1, np.inf, 1, 1]
    unknown = np.zeros(8)
    unknown[2] = np.nan
    for q, attitude, weights in (
        (unknown, LEVEL, ones),
        (np.zeros(8), LEVEL, nan),
        (np.zeros(8), LEVEL, infinite),
        (np.zeros(8), (0.0, 0.0, 0.0, 0.0), ones),
    ):
        found = standing.torques(q, attitude, weights)
        assert all(np.isnan(part).all() for part in (found.tau, found.loads, found.missing))
    assert np.isfinite(standing.torques(np.zeros(8), LEVEL, ones).tau).all()


def test_wrong_models_are_refused(walker):
    with pytest.raises(DynamicsError, match="no link 'paw'"):
        StandingModel(walker, [BallContact("paw")])
    with pytest.raises(DynamicsError, match="floating=True"):
        StandingModel(DynamicModel(walker.tree, walker.inertias), feet())
    with pytest.raises(InvalidConfigError, match="radius of the contact of 'paw' is nan; expected a finite number"):
        BallContact("paw", radius=float("nan"))
