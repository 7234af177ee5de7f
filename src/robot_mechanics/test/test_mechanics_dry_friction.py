# SPDX-License-Identifier: MIT
"""Coulomb friction over time: what rests stays, what slides is braked to rest, and nothing gains energy by it."""

from __future__ import annotations

import numpy as np
import pytest

from robot_mechanics import model_path
from robot_mechanics.dynamics import DynamicModel, dry_friction
from robot_mechanics.dynamics.bodies import JointFriction
from robot_mechanics.dynamics.simulation import METHODS, simulate

# one joint, inertia 0.1 kg m^2; centre of mass on the axis, or 0.1 m beside it (gravity 0.981 N m when level)
ONE = (
    "<robot name='one'><link name='base'/><link name='arm'><inertial><origin xyz='{x} 0 0'/><mass value='1'/>"
    "<inertia ixx='{i}' iyy='{i}' izz='{i}' ixy='0' ixz='0' iyz='0'/></inertial></link><joint name='joint' "
    "type='continuous'><parent link='base'/><child link='arm'/><axis xyz='0 1 0'/><dynamics friction='{c}'/></joint>"
    "</robot>"
)


def one(friction, beside=0.0):
    return DynamicModel.from_urdf(ONE.format(x=beside, i=0.1 - beside**2, c=friction))


def rough_arm(coulomb):
    arm = DynamicModel.from_urdf(model_path("arm4"))
    return DynamicModel(arm.tree, arm.inertias, {name: JointFriction(0.0, coulomb, 0.0) for name in arm.joint_names})


def no_torque(t, q, v):
    return np.zeros(len(v))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("step", [0.001, 0.01])
def test_what_friction_holds_does_not_move(method, step):
    for model, q in ((one(1.0, beside=0.1), [0.0]), (rough_arm(0.5), [0.3, 0.1, 0.1, 0.1])):
        moved = simulate(model, no_torque, q, np.zeros(model.nv), 0.3, step, method)
        assert np.abs(model.gravity(q)).max() > 0.3 and not moved.v.any()
        np.testing.assert_array_equal(moved.q, np.tile(q, (len(moved.q), 1)))


@pytest.mark.parametrize("method", METHODS)
def test_what_slides_is_braked_to_rest_and_stays_there(method):
    """2 rad/s, friction 0.5 N m: -5 rad/s^2 for 0.4 s, 0.4 rad."""
    motion = simulate(one(0.5), no_torque, [0.0], [2.0], 1.0, 0.0015, method)
    np.testing.assert_allclose(motion.v[:260, 0], 2.0 - 5.0 * motion.t[:260], atol=1e-9)
    assert not motion.v[268:].any()
    assert motion.q[-1, 0] == pytest.approx(0.4, abs=2e-3)


def test_it_moves_when_it_is_pushed_harder_and_turns_round_through_rest():
    model = one(0.5)
    assert not simulate(model, lambda t, q, v: [0.499], [0.0], [0.0], 0.2, 0.001).v.any()
    pushed = simulate(model, lambda t, q, v: [0.6], [0.0], [0.0], 1.0, 0.001, "rk4")
    assert pushed.v[-1, 0] == pytest.approx((0.6 - 0.5) / 0.1)
    turned = simulate(model, lambda t, q, v: [0.6], [0.0], [-2.2], 1.0, 0.001, "rk4")  # rest after 0.2 s
    assert turned.v[-1, 0] == pytest.approx(0.8, abs=0.01)


def test_a_joint_that_slides_drags_others_only_where_their_friction_gives_way():
    model = rough_arm(0.05)
    held = simulate(
        model, lambda t, q, v: model.gravity(q) + [0.06, 0.0, 0.0, 0.0], np.zeros(4), np.zeros(4), 0.05, 1e-3
    )
    assert held.v[-1, 0] > 0.1 and not held.v[:, 1:].any()
    dragged = simulate(
        model, lambda t, q, v: model.gravity(q) + [0.0, 1.0, 0.0, 0.0], np.zeros(4), np.zeros(4), 0.05, 1e-3
    )
    assert dragged.v[-1, 1] > 0.1 and np.abs(dragged.v[:, 2:]).max() > 0.1


@pytest.mark.parametrize("method", ["semi_implicit", "rk4"])
def test_energy_never_grows(method):
    model = rough_arm(0.03)
    motion = simulate(model, no_torque, [0.3, 0.4, 0.2, 0.1], [3.0, -2.0, 1.0, 4.0], 1.0, 0.0005, method, limits=False)
    energy = np.array([sum(model.energy(q, v)) for q, v in zip(motion.q, motion.v)])
    assert np.diff(energy).max() < (1e-3 if method == "semi_implicit" else 1e-5) * energy[0]
    assert energy[-1] < 0.9 * energy[0]


def test_a_stop_and_friction_hold_together():
    """Joint 2 is pressed against its stop by 0.2 N m more than its friction; joint 3 sticks."""
    model = rough_arm(0.5)
    q = np.array([0.0, model.tree.upper[1], 0.1, 0.1])
    pressed = simulate(model, lambda t, q, v: model.gravity(q) + [0.0, 0.7, 0.3, 0.0], q, np.zeros(4), 0.2, 0.001)
    assert not pressed.v.any()
    away = simulate(model, lambda t, q, v: model.gravity(q) - [0.0, 0.7, 0.0, 0.0], q, np.zeros(4), 0.2, 0.001)
    assert away.v[-1, 1] < -0.1


def test_an_arm_falls_onto_its_stops_and_rests_there_exactly():
    model = rough_arm(0.4)
    ends = []
    for method in ("explicit", "semi_implicit", "rk4"):
        motion = simulate(model, no_torque, [0.0, 0.5, 0.3, 0.2], [1.0, -1.0, 0.5, 1.0], 0.8, 0.001, method)
        assert not motion.v[750:].any()
        ends.append(motion.q[-1])
    np.testing.assert_allclose(ends, [ends[0]] * 3, atol=0.005)


def test_forces_of_friction_on_many_joints_at_once(rng):
    """W f + b is 0 where f is within its range, and against f at its ends."""
    for n in (1, 2, 5, 9):
        for _ in range(200):
            A, b, most = rng.normal(size=(n, n)), 3.0 * rng.normal(size=n), rng.uniform(0.1, 1.0, n)
            W = A @ A.T + 0.01 * np.eye(n)
            f = dry_friction._within(W, b, most)
            a, ends = W @ f + b, np.abs(f) == most
            assert (np.abs(f) <= most).all() and np.abs(a[~ends]).max(initial=0.0) < 1e-8
            assert (a * f)[ends].max(initial=0.0) <= 1e-8


def test_on_a_floating_base_friction_takes_the_base_along():
    """The arm turns at 2 rad/s on a base of twice its inertia: at rest on it, both turn at a third of that."""
    heavy = "<link name='base'><inertial><mass value='1'/><inertia ixx='.2' iyy='.2' izz='.2' ixy='0' ixz='0' iyz='0'/>"
    text = ONE.format(x=0.0, i=0.1, c=0.05).replace("<link name='base'/>", f"{heavy}</inertial></link>")
    model = DynamicModel.from_urdf(text, floating=True)
    q, v = [0.0] * 6 + [1.0, 0.0], [0.0] * 6 + [2.0]
    motion = simulate(model, no_torque, q, v, 4.0, 0.001, "rk4")
    assert not motion.v[-500:, 6].any()
    assert motion.v[-1, 4] == pytest.approx(2.0 / 3.0, rel=1e-6)
