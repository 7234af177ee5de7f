# SPDX-License-Identifier: MIT
"""Equations of motion: published numbers of an arm, the closed form of the book, other libraries, identities."""

from __future__ import annotations

import csv
import math
import re
import warnings

import numpy as np
import pytest
from mechanics_trees import random_state, random_urdf

from robot_mechanics import InverseKinematics, KinematicTree, SerialChain, load_urdf, model_path
from robot_mechanics.dynamics import DynamicModel, Inertia, cli
from robot_mechanics.dynamics.bodies import JointFriction
from robot_mechanics.dynamics.closed_form import equations_of_motion
from robot_mechanics.dynamics.contacts import Contact, constrained_forward, contact_jacobian, support
from robot_mechanics.dynamics.identification import identify
from robot_mechanics.dynamics.laws import Reference, computed_torque
from robot_mechanics.dynamics.simulation import simulate, warn_of_step
from robot_mechanics.dynamics.slopes import inverse_slopes, parameters, regressor
from robot_mechanics.dynamics.tables import all_tables
from robot_mechanics.errors import (
    DynamicsError,
    InvalidChainError,
    InvalidConfigError,
    InvalidInertiaError,
    InvalidUrdfError,
    ShapeError,
    UnknownNameError,
)
from robot_mechanics.motion.rotations import rotation_from_rpy, rpy_from_rotation

ARM = model_path("arm4")


@pytest.fixture(scope="module")
def arm():
    return DynamicModel.from_urdf(ARM)


def assert_within(ours, theirs, greatest, text=""):
    """Compare absolutely: assert_allclose would allow 1e-7 of each number besides."""
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=greatest, err_msg=text)


def models(seed, count, largest=20, **options):
    """Random robots, every second one on a floating base, with rotors and friction; and a state of each."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        text = random_urdf(rng, 1 + k * (largest - 1) // max(1, count - 1), **options)
        model = DynamicModel.from_urdf(text, {"j0": 0.03}, floating=bool(k % 2))
        yield (model, text, *random_state(model, rng))


# -------------------------------------------------------------------------------------------- published numbers
# q, v; M: 11, 22, 23, 24, 33, 34 (44 is the same in all); c, g, energies, tip, tau for a = (1, -2, 0.5, 3), a for
# tau = (10, -20, 30, 5) mN m
GOLDEN = [
    (
        (0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0),
        (0.000275809423, 0.106078883328, 0.037131619415, 0.007961094755, 0.015960534717, 0.003938135321),
        (0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0),
        (0.0, 3.6687605601594),
        (0.0, 0.0, 0.857),
        (0.000275809423, -0.169708672684, -0.054468565508, -0.009829294487),
        (36.256919384772, -6.016570954942, 21.772731271301, -23.894407577008),
    ),
    (
        (0.3, -0.5, 0.7, 0.4),
        (0.5, -1.0, 0.8, 1.2),
        (0.007172451455, 0.093212806373, 0.030496218727, 0.005560571907, 0.015555810297, 0.003735773111),
        (0.015506622555, 0.014757984370, 0.015012190278, 0.003761838929),
        (0.0, 0.605458753564, -0.175724033729, -0.070295729444),
        (0.0259872183968, 3.4369687147784),
        (-0.020273743939, -0.006271403916, 0.786133487036),
        (0.022679074010, 0.465720950271, -0.202719056425, -0.071663320410),
        (-0.767746228612, -34.146153353956, 96.540339657375, -72.199996316294),
    ),
    (
        (-1.0, 1.2, -0.9, 1.5),
        (-2.0, 1.5, 3.0, -2.5),
        (0.062043998343, 0.086931809469, 0.025175892955, 0.004876237488, 0.011196155656, 0.001555945790),
        (-0.471258966645, 0.125920440328, -0.059521176046, 0.062175456510),
        (0.0, -1.796742247934, -0.278064512990, -0.121240134785),
        (0.3599006705793, 2.4532937829318),
        (0.276339784597, -0.430373715161, 0.448879442774),
        (-0.409214968302, -1.817468767603, -0.377671559746, -0.063915352995),
        (7.756736823784, 28.199042401194, -27.474614115196, -22.327466606694),
    ),
]


@pytest.mark.parametrize("row", GOLDEN, ids="ABC")
def test_arm_of_the_homework(arm, row):
    q, v, (m11, m22, m23, m24, m33, m34), c, g, energies, tip, tau, a = row
    M = np.array([[m11, 0, 0, 0], [0, m22, m23, m24], [0, m23, m33, m34], [0, m24, m34, 0.001374609121]])
    close = {"rtol": 0.0, "atol": 1e-12}  # the figures are printed to 12 decimals
    np.testing.assert_allclose(arm.mass_matrix(q), M, **close)
    np.testing.assert_allclose(arm.coriolis(q, v), c, **close)
    np.testing.assert_allclose(arm.gravity(q), g, **close)
    assert_within(arm.energy(q, v), energies, 1e-12)
    np.testing.assert_allclose(arm.tree.frame("arm_link_5", q)[:3, 3], tip, **close)
    np.testing.assert_allclose(arm.inverse(q, v, (1.0, -2.0, 0.5, 3.0)), tau, **close)
    assert_within(arm.forward(q, v, (0.01, -0.02, 0.03, 0.005)), a, 1e-12)
    assert arm.mass == pytest.approx(0.860899132, abs=1e-12)


def test_closed_form_of_the_book_agrees(arm, rng):
    inertias = [arm.inertias[f"arm_link_{k}"] for k in range(1, 5)]
    spatial = [np.diag([*np.diag(inertia.tensor), *[inertia.mass] * 3]) for inertia in inertias]
    height = [inertia.com[2] for inertia in inertias]
    screws = [np.array([0, 0, 1, 0, 0, 0.0])] + [np.array([0, 1, 0, c, 0, 0.0]) for c in height[1:]]
    gaps = [
        0.0545 + height[0],
        0.123 - height[0] + height[1],
        0.317 - height[1] + height[2],
        0.202 - height[2] + height[3],
    ]
    home = []
    for gap in gaps:
        T = np.eye(4)
        T[2, 3] = -gap
        home.append(T)
    for _ in range(20):
        q, v = rng.uniform(-1.5, 1.5, 4), rng.normal(size=4)
        terms = equations_of_motion(home, screws, spatial, q, v)
        assert_within(terms.mass, arm.mass_matrix(q), 1e-14)
        assert_within(terms.coriolis, arm.coriolis(q, v), 1e-14)
        assert_within(terms.gravity, arm.gravity(q), 1e-14)


# --------------------------------------------------------------------------------------------- other libraries
def test_random_trees_against_mujoco():
    mujoco = pytest.importorskip("mujoco")
    for model, text, q, v, a in models(3, 12, mimics=False, slides=True):
        theirs = mujoco.MjModel.from_xml_string(as_mujoco(text, model.floating))
        data = mujoco.MjData(theirs)
        first = model.nv - model.n
        order = [theirs.joint(name).dofadr[0] for name in model.joint_names]
        data.qpos[[theirs.joint(name).qposadr[0] for name in model.joint_names]] = q[model.nq - model.n :]
        R = np.eye(3)
        if model.floating:
            data.qpos[:3], data.qpos[3:7] = q[:3], q[[6, 3, 4, 5]]
            R = model.body_poses(q)[0, :3, :3]
        # theirs: linear velocity and force of the base in the world, angular in the base
        turn = np.eye(model.nv)
        if model.floating:
            turn[:3, :3] = R
        at = [*range(first), *order]
        data.qvel[at], data.qacc[at] = turn @ v, turn @ a
        if model.floating:
            data.qacc[:3] += R @ np.cross(v[3:6], v[:3])
        mujoco.mj_inverse(theirs, data)
        expected = turn.T @ data.qfrc_inverse[at] + armature_force(model, a)
        # 1e-9 with MuJoCo 4; 3.2 is a little less exact
        assert_within(model.inverse(q, v, a), expected, 1e-8 * np.abs(expected).max(), text)


def armature_force(model, a):
    force = np.zeros(model.nv)
    force[model.nv - model.n] = 0.03 * a[model.nv - model.n]  # of joint j0, which the URDF of the other library lacks
    return force


def as_mujoco(text, floating):
    """The robot as MuJoCo reads it: nothing fused, tensors as given, no limits; a free root link."""
    keep = '<mujoco><compiler fusestatic="false" balanceinertia="false" discardvisual="true"/></mujoco>'
    text = text.replace("<link", f"{keep}<link", 1)
    if floating:
        free = '<link name="world"/><joint name="free" type="floating"><parent link="world"/><child link="l0"/></joint>'
        text = text.replace(f"{keep}<link", f"{keep}{free}<link", 1)
    return text


def test_random_trees_against_pinocchio():
    """1,000 robots with mimic joints, where it is installed: `pip install pin`, a peer of `scripts/bench dynamics`.

    It has no mimic joints: theirs move freely, and G (their velocities, ours) couples them.
    """
    pinocchio = pytest.importorskip("pinocchio")
    for model, text, q, v, a in models(1, 1000, largest=60):
        free = [pinocchio.JointModelFreeFlyer()] if model.floating else []
        theirs = pinocchio.buildModelFromXML(re.sub(r"<mimic[^>]*/>", "", text), *free)
        data, first, their_q = theirs.createData(), model.nv - model.n, pinocchio.neutral(theirs)
        G = np.zeros((theirs.nv, model.nv))
        G[:first, :first] = np.eye(first)
        if model.floating:
            their_q[:7] = q[:7]
        for name in theirs.names[2 if model.floating else 1 :]:
            of = f'<joint name="{name}" [^>]*>(?:(?!</joint>).)*<mimic joint="(\\w+)" multiplier="(.*?)" offset="(.*?)"'
            follows = re.search(of, text)
            master, ratio, offset = follows.groups() if follows else (name, "1", "0")
            k = model.joint_names.index(master)
            joint = theirs.joints[theirs.getJointId(name)]
            value = float(ratio) * q[model.nq - model.n + k] + float(offset)
            angle = (math.cos(value), math.sin(value)) if joint.nq == 2 else value
            their_q[joint.idx_q : joint.idx_q + joint.nq] = angle
            G[joint.idx_v, first + k] = float(ratio)
        theirs.armature = np.zeros(theirs.nv)
        rotor = armature_force(model, np.ones(model.nv))
        M = np.array(pinocchio.crba(theirs, data, their_q)).reshape(theirs.nv, theirs.nv)
        M = G.T @ (np.triu(M) + np.triu(M, 1).T) @ G + np.diag(rotor)
        bias = G.T @ pinocchio.rnea(theirs, data, their_q, G @ v, np.zeros(theirs.nv))
        tau = G.T @ pinocchio.rnea(theirs, data, their_q, G @ v, G @ a) + rotor * a
        for ours, other in (
            (model.inverse(q, v, a), tau),
            (model.mass_matrix(q), M),
            (model.forward(q, v, a), np.linalg.solve(M, a - bias)),
        ):
            assert_within(ours, other, 1e-10 * max(1.0, np.abs(other).max()), text)


# --------------------------------------------------------------------------------------------------- identities
def test_forward_undoes_inverse_and_energy_follows_power():
    for model, text, q, v, a in models(5, 30):
        tau = model.inverse(q, v, a)
        assert_within(model.forward(q, v, tau), a, 1e-7 * np.abs(a).max(), text)
        # dE/dt = v . (tau - friction), by a central difference along the motion
        h = 1e-6
        states = [(model.position_rate(q, v) * s + q, v + s * a) for s in (h, -h)]
        for p, _ in states:
            if model.floating:
                p[3:7] /= np.linalg.norm(p[3:7])
        power = (sum(model.energy(*states[0])) - sum(model.energy(*states[1]))) / (2.0 * h)
        friction = tau - model.mass_matrix(q) @ a - model.coriolis(q, v) - model.gravity(q)
        assert power == pytest.approx(float(v @ (tau - friction)), rel=1e-5, abs=1e-5), text


def test_joints_that_mimic_are_moved_by_one_drive():
    """The same robot with every joint its own, moved as the followers are: virtual work gives the drives' forces."""
    for model, text, q, v, a in models(8, 20):
        alone = DynamicModel.from_urdf(re.sub(r"<mimic[^>]*/>", "", text), floating=model.floating)
        parameter = model.tree.parameters()
        G, offset = np.zeros((alone.nv, model.nv)), np.zeros(alone.nq)
        base, alone_first = model.nv - model.n, alone.nv - alone.n
        G[:base, :base] = np.eye(base)
        for i, joint in enumerate(model.tree.evaluation_order):
            if joint.kind != "fixed":
                k = alone.joint_names.index(joint.name)
                G[alone_first + k, base + parameter.column[i]] = parameter.ratio[i]
                offset[alone.nq - alone.n + k] = parameter.offset[i]
        positions = offset.copy()
        positions[: alone.nq - alone.n] = q[: model.nq - model.n]
        positions[alone.nq - alone.n :] += G[alone_first:, base:] @ q[model.nq - model.n :]
        expected = G.T @ alone.inverse(positions, G @ v, G @ a) + armature_force(model, a)
        assert_within(model.inverse(q, v, a), expected, 1e-10 * np.abs(expected).max(), text)
        M = G.T @ alone.mass_matrix(positions) @ G
        M[base, base] += 0.03
        assert_within(model.mass_matrix(q), M, 1e-12 * np.abs(M).max(), text)


def test_mass_matrix_coriolis_and_momentum():
    for model, text, q, v, a in models(6, 20):
        M, C = model.mass_matrix(q), model.coriolis_matrix(q, v)
        still = model.gravity(q)
        assert_within(M @ a, model.inverse(q, np.zeros(model.nv), a) - still, 1e-9, text)
        assert_within(C @ v, model.coriolis(q, v), 1e-9 * (1.0 + np.abs(C).max()), text)
        if not model.floating:
            h = 1e-6
            slope = (model.mass_matrix(q + h * v) - model.mass_matrix(q - h * v)) / (2.0 * h)
            np.testing.assert_allclose(slope - C - C.T, 0.0, atol=1e-6 * (1.0 + np.abs(C).max()), err_msg=text)
        momentum = model.centroidal_momentum(q, v)
        assert_within(momentum[:3], model.mass * model.centre_of_mass_jacobian(q) @ v, 1e-10)
        if model.floating:  # the base's rows of M v are the momentum, in its axes, about its origin
            T = model.body_poses(q)[0]
            lever = model.centre_of_mass(q) - T[:3, 3]
            own = (M @ v)[:6] - armature_force(model, v)[:6]
            assert_within(T[:3, :3] @ own[:3], momentum[:3], 1e-9, text)
            turned = T[:3, :3] @ own[3:] - np.cross(lever, momentum[:3])
            assert_within(turned, momentum[3:], 1e-9, text)


def test_friction_against_the_motion_of_joints_and_of_those_that_follow():
    """A follower that turns twice as fast the other way, behind the same drive."""
    link = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
    joint = """<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/><axis xyz="0 0 1"/>
        <dynamics damping="0.3" friction="0.7"/>{3}</joint>"""
    text = "".join(map(link.format, "abc")) + joint.format("i", "a", "b", "")
    text += joint.format("j", "b", "c", '<mimic joint="i" multiplier="-2"/>')
    model = DynamicModel.from_urdf(f"<robot name='r'>{text}</robot>", {"i": 0.1, "j": 0.1}, gravity=(0.0, 0.0, 0.0))
    viscous, coulomb, rotors = 0.3 * (1.0 + 4.0), 0.7 * (1.0 + 2.0), 0.1 * (1.0 + 4.0)
    for v in (0.4, -0.4):
        assert model.bias([0.2], [v])[0] == pytest.approx(viscous * v + math.copysign(coulomb, v), abs=1e-12)
        assert model.forward([0.2], [v], model.inverse([0.2], [v], [0.6]))[0] == pytest.approx(0.6, abs=1e-12)
    assert model.bias([0.2], [0.0])[0] == 0.0
    assert model.mass_matrix([0.2])[0, 0] == pytest.approx(1.0 + (1.0 - 2.0) ** 2 + rotors, abs=1e-12)
    assert model.coriolis([0.2], [0.4])[0] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(parameters(model)[-3:], (rotors, viscous, coulomb), atol=1e-15)


def test_wrenches_are_what_the_jacobian_says(rng):
    for model, text, q, v, a in models(7, 12):
        link = str(rng.choice(model.tree.links))
        wrench = rng.normal(size=6)
        body = model.table.body_of[link]
        R = (model.body_poses(q)[body] @ model.table.pose_in_body[link])[:3, :3]
        world = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
        difference = model.inverse(q, v, a) - model.inverse(q, v, a, {link: wrench})
        assert_within(difference, model.jacobian(link, q).T @ world, 1e-9, text)
        tau = model.inverse(q, v, a, {link: wrench})
        np.testing.assert_allclose(model.forward(q, v, tau, {link: wrench}), a, atol=1e-6, err_msg=text)


def test_slopes_against_differences():
    for model, text, q, v, a in models(9, 8, largest=10):
        by_q, by_v = inverse_slopes(model, q, v, a)
        h = 1e-6
        for k, direction in enumerate(np.eye(model.nv)):
            ahead, behind = (q + s * h * model.position_rate(q, direction) for s in (1.0, -1.0))
            slope = (model.inverse(ahead, v, a) - model.inverse(behind, v, a)) / (2.0 * h)
            np.testing.assert_allclose(by_q[:, k], slope, atol=1e-6 * (1.0 + np.abs(slope).max()), err_msg=text)
            slope = (model.inverse(q, v + h * direction, a) - model.inverse(q, v - h * direction, a)) / (2.0 * h)
            np.testing.assert_allclose(by_v[:, k], slope, atol=1e-6 * (1.0 + np.abs(slope).max()), err_msg=text)


def test_torques_are_linear_in_the_parameters():
    for model, text, q, v, a in models(10, 10):
        torques = regressor(model, q, v, a) @ parameters(model)
        assert_within(torques, model.inverse(q, v, a), 1e-10 * np.abs(torques).max(), text)


# --------------------------------------------------------------------------------------------- identification
@pytest.mark.jit
def test_the_arm_is_identified_from_noisy_torques(arm):
    """30 s at 100 Hz, torques with 1 % noise, first guesses of all masses 30 % wrong: base parameters within 1 %."""
    rng = np.random.default_rng(12)
    t = np.arange(0.0, 30.0, 0.01)
    amplitude, rate, phase = rng.uniform(0.15, 0.35, (4, 4)), rng.uniform(1.0, 7.0, (4, 4)), rng.uniform(0, 6.3, (4, 4))
    angle = rate[..., None] * t + phase[..., None]
    q = (amplitude[..., None] * np.sin(angle)).sum(1).T
    v = ((amplitude * rate)[..., None] * np.cos(angle)).sum(1).T
    a = -((amplitude * rate**2)[..., None] * np.sin(angle)).sum(1).T
    tau = np.array([arm.inverse(*row) for row in zip(q, v, a)])
    noisy = tau + 0.01 * tau.std(0) * rng.normal(size=tau.shape)
    guess = DynamicModel(arm.tree, {k: Inertia(1.3 * i.mass, i.com, 1.3 * i.tensor) for k, i in arm.inertias.items()})
    found = identify(guess, q, v, a, noisy)
    assert (
        found.errors(parameters(arm))
        < 0.01
        < 0.2
        < np.linalg.norm(0.3 * found.basis.T @ parameters(arm)) / np.linalg.norm(found.basis.T @ parameters(arm))
    )
    assert found.residual == pytest.approx(0.01 * math.sqrt(np.mean(tau.std(0) ** 2)), rel=0.05)
    with pytest.raises(DynamicsError, match="record more samples"):
        identify(guess, q[:2], v[:2], a[:2], tau[:2])


def excited(model, seed, samples):
    """States far apart, in which everything that can be seen is seen."""
    rng = np.random.default_rng(seed)
    states = [random_state(model, rng) for _ in range(samples)]
    return [np.array(column) for column in zip(*states)]


def torques_of(model, q, v, a, noise=0.0):
    tau = np.array([model.inverse(*row) for row in zip(q, v, a)])
    return tau + noise * tau.std(0) * np.random.default_rng(3).normal(size=tau.shape)


def guessed(model, seed=4):
    """The same robot without friction, each mass wrong by 10 to 20 %."""
    rng = np.random.default_rng(seed)
    factors = 1.0 + rng.choice([-1.0, 1.0], len(model.inertias)) * rng.uniform(0.1, 0.2, len(model.inertias))
    inertias = {k: Inertia(f * i.mass, i.com, f * i.tensor) for f, (k, i) in zip(factors, model.inertias.items())}
    return DynamicModel(model.tree, inertias, floating=model.floating)


def relative(model, real, states):
    true = torques_of(real, *states)
    return np.sqrt(np.mean((torques_of(model, *states) - true) ** 2) / np.mean(true**2))


def test_an_identified_arm_is_a_model_for_laws_and_simulation(arm):
    """From torques with 1 % noise: its torques in other states are within 1 %, and all its bodies can exist."""
    friction = {name: JointFriction(0.05, 0.03, 0.004) for name in arm.joint_names}
    real, guess = DynamicModel(arm.tree, arm.inertias, friction), guessed(arm)
    states, fresh = excited(real, 1, 600), excited(real, 2, 100)
    found = identify(guess, *states, torques_of(real, *states, noise=0.01))
    alone = [found.parameters[10 * body : 10 * body + 10] for body in range(1, 5)]
    assert any(ten[0] <= 0.0 or Inertia.from_parameters(ten).problems() for ten in alone), "the fit needs no help"
    model = found.model()
    assert relative(guess, real, fresh) > 0.05 > 0.01 > relative(model, real, fresh)
    assert all(inertia.mass > 0.0 and not inertia.problems() for inertia in model.inertias.values())
    np.testing.assert_allclose(parameters(model)[-12:].reshape(4, 3)[:, 1:], [[0.05, 0.03]] * 4, rtol=0.1)
    assert abs(model.mass - arm.mass) < 0.2 * arm.mass  # the torques do not show all of it: near to the guess
    goal = Reference(np.full(4, 0.3), np.zeros(4), np.zeros(4))
    for robot in (model, real):  # a law of the model moves both to the goal
        motion = simulate(
            robot, lambda t, q, v: computed_torque(model, q, v, goal, 100.0, 20.0), [0.0] * 4, [0.0] * 4, 1.0, 0.002
        )
        assert np.abs(motion.q[-1] - 0.3).max() < 0.01


@pytest.mark.jit
def test_an_identified_tree_has_bodies_that_can_exist():
    """On floating bases too, with fixed joints and joints that follow others."""
    for real, text, *_ in models(41, 8, largest=9):
        guess = guessed(real)
        states, fresh = excited(real, 1, 400), excited(real, 2, 50)
        model = identify(guess, *states, torques_of(real, *states, noise=0.01)).model()
        assert relative(model, real, fresh) < 0.01 < relative(guess, real, fresh), text
        for body, (inertia, before) in enumerate(zip(model.table.inertias, guess.table.inertias)):
            assert not inertia.problems() and (inertia.mass > 0.0) == (before.mass > 0.0), text
            if body == 0 and not real.floating:  # never seen
                np.testing.assert_array_equal(inertia.parameters, before.parameters)
        # from a guess that is right, nothing moves: what is not seen stays
        again = identify(real, *states, torques_of(real, *states)).model()
        np.testing.assert_allclose(parameters(again), parameters(real), atol=1e-5)


def test_what_no_body_explains_is_refused(arm):
    states = excited(arm, 1, 300)
    tau = torques_of(arm, *states, noise=0.01)
    with pytest.raises(DynamicsError, match=r"no physical masses.* times the .* body 'arm_link_\d' .* check signs"):
        identify(arm, *states, -tau).model()
    flat = DynamicModel(arm.tree, {k: Inertia(i.mass, i.com, np.diag([1, 1, 2.0])) for k, i in arm.inertias.items()})
    with pytest.raises(InvalidInertiaError, match="body 'arm_link_1' .* it is flat"):
        identify(flat, *states, tau).model()
    points = DynamicModel(arm.tree, {k: Inertia(i.mass, i.com, np.zeros((3, 3))) for k, i in arm.inertias.items()})
    with pytest.raises(InvalidInertiaError, match="body 'arm_link_1' has a tensor that no solid body has"):
        identify(points, *states, tau).model()
    with pytest.raises(InvalidInertiaError, match="no mass in any body"):
        identify(DynamicModel(arm.tree, {}), *states, tau).model()


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"tau": np.full((3, 4), math.nan)}, ShapeError, "tau holds 3 samples that are not finite, first .* sample 0"),
        ({"tau": np.zeros((3, 2))}, ShapeError, r"tau has shape \(3, 2\); expected \(samples, 4\)"),
        ({"a": "x"}, ShapeError, "a cannot be read as numbers"),
        ({"q": [], "v": [], "a": [], "tau": []}, ShapeError, "of one sample at least"),
        ({"q": np.zeros((2, 4))}, ShapeError, r"\[2, 3, 3, 3\] samples; expected as many"),
        ({"smooth": lambda x: x / np.zeros(1)}, ShapeError, "smooth gives 3 torques and 3 rows .* all finite"),
        ({"tolerance": math.nan}, InvalidConfigError, "tolerance is nan"),
        ({}, DynamicsError, "the recorded motion shows no parameter"),
        ({"a": np.random.default_rng(0).normal(size=(3, 4))}, DynamicsError, "the recorded torques are all 0; record"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_recordings_that_cannot_be_used_are_named(arm, change, error, words):
    still = {name: np.zeros((3, 4)) for name in ("q", "v", "a", "tau")}
    with pytest.raises(error, match=words):
        identify(DynamicModel(arm.tree, arm.inertias, gravity=(0.0, 0.0, 0.0)), **{**still, **change})


# ----------------------------------------------------------------------------------------------------- contacts
TABLE = """<robot name="table"><link name="top"><inertial><mass value="4"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
{legs}</robot>"""
LEG = """<link name="leg{k}"><inertial><origin xyz="0 0 -0.1"/><mass value="0.5"/>
<inertia ixx="1e-3" iyy="1e-3" izz="1e-4"/></inertial></link>
<joint name="hip{k}" type="revolute"><parent link="top"/><child link="leg{k}"/><origin xyz="{x} {y} 0"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="9" velocity="9"/></joint>"""


@pytest.fixture(scope="module")
def table():
    places = [(0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2)]
    legs = "".join(LEG.format(k=k, x=x, y=y) for k, (x, y) in enumerate(places))
    return DynamicModel.from_urdf(TABLE.format(legs=legs), floating=True)


def standing(model, *angles):
    q = np.zeros(model.nq)
    q[6] = 1.0
    q[7:] = angles or 0.0
    return q


FEET = [Contact(f"leg{k}", (0.0, 0.0, -0.3)) for k in range(4)]


def test_four_legs_share_the_weight(table):
    held = support(table, standing(table), FEET)
    np.testing.assert_allclose(held.forces, [[0.0, 0.0, 6.0 * 9.81 / 4.0]] * 4, atol=1e-9)
    np.testing.assert_allclose(held.tau, 0.0, atol=1e-9)
    # legs spread: what the joints carry is what virtual work says
    q = standing(table, 0.4, 0.4, -0.4, -0.4)
    held = support(table, q, FEET)
    J = contact_jacobian(table, q, FEET)
    np.testing.assert_allclose(J.T @ held.forces.ravel() + np.r_[np.zeros(6), held.tau], table.gravity(q), atol=1e-9)


def box(x, z):
    inertial = f'<origin xyz="{x} 0 {z}"/><mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/>'
    text = f'<robot name="b"><link name="b"><inertial>{inertial}</inertial></link></robot>'
    return DynamicModel.from_urdf(text, floating=True)


@pytest.mark.parametrize("size", [0.1, 1e-3])
@pytest.mark.parametrize("origin", [0.0, 3.0])
def test_a_centre_of_mass_beside_the_feet_is_refused_whatever_the_robots_size_and_origin(size, origin):
    model, rest = box(origin, size), [0.0] * 6 + [1.0]

    def feet(off):
        return [Contact("b", (origin + x * size + off, y * size, 0.0)) for x in (0, 2) for y in (-1, 1)]

    forces = support(model, rest, feet(0.0)).forces
    np.testing.assert_allclose(forces[:, 2], [9.81, 9.81, 0.0, 0.0], atol=1e-3)
    for off in (0.001 * size, 0.01 * size, 0.5 * size):
        with pytest.raises(DynamicsError, match="cannot carry"):
            support(model, rest, feet(off))


def test_forces_within_their_cones_are_the_least_there_are():
    from scipy.optimize import minimize

    normals = [(0.5, 0.2, 1.0), (-0.5, 0.1, 1.0), (0.3, -0.5, 1.0), (-0.2, 0.4, 1.0)]
    places = [(0.1, 0.1, 0.0), (0.1, -0.1, 0.0), (-0.1, 0.1, 0.0), (-0.1, -0.1, 0.0)]
    contacts = [Contact("b", place, normal, 0.3) for place, normal in zip(places, normals)]
    model, rest = box(0.0, 0.1), [0.0] * 6 + [1.0]
    found = support(model, rest, contacts).forces
    A, weight = contact_jacobian(model, rest, contacts)[:, :6].T, model.gravity(rest)[:6]
    units = np.array(normals) / np.linalg.norm(normals, axis=1, keepdims=True)

    def room(forces):  # of each cone
        along = (forces.reshape(-1, 3) * units).sum(axis=1)
        across = forces.reshape(-1, 3) - along[:, None] * units
        return 0.3 * along - np.sqrt((across**2).sum(axis=1) + 1e-16)

    best = minimize(
        lambda f: f @ f, found.ravel(), jac=lambda f: 2.0 * f, method="SLSQP", options={"maxiter": 500, "ftol": 1e-12},
        constraints=[{"type": "eq", "fun": lambda f: A @ f - weight}, {"type": "ineq", "fun": room}],
    )  # fmt: skip
    assert best.success and room(found.ravel()).min() > -1e-9
    np.testing.assert_allclose(A @ found.ravel(), weight, atol=1e-4)
    assert best.fun <= (found**2).sum() <= 1.01 * best.fun  # the pyramids are a little smaller than the cones


def test_contacts_neither_pull_nor_slip(table):
    q = standing(table, 0.6, 0.6, -0.6, -0.6)
    steep = [Contact(f.link, f.point, friction=0.05) for f in FEET]
    for force in support(table, q, steep).forces:
        assert force[2] > 0.0 and math.hypot(force[0], force[1]) <= 0.05 * force[2] + 1e-9
    with pytest.raises(DynamicsError, match="2 contacts cannot carry the robot .* missing; move the centre of mass"):
        support(table, q, FEET[:2])
    with pytest.raises(DynamicsError, match="1 contact cannot carry"):
        support(table, q, FEET[:1])
    with pytest.raises(DynamicsError, match="no contacts"):
        support(table, q, [])


def test_points_that_stay_do_not_accelerate(table, rng):
    q, v = standing(table, 0.2, -0.1, 0.3, 0.1), 0.2 * rng.normal(size=table.nv)
    contacts = [FEET[0], FEET[3]]
    tau = rng.normal(size=table.nv)
    a, forces = constrained_forward(table, q, v, tau, contacts)
    np.testing.assert_allclose(
        table.mass_matrix(q) @ a + table.bias(q, v),
        tau + contact_jacobian(table, q, contacts).T @ forces.ravel(),
        atol=1e-9,
    )
    h = 1e-6
    ahead, behind = (q + s * h * table.position_rate(q, v) for s in (1.0, -1.0))
    slope = (contact_jacobian(table, ahead, contacts) - contact_jacobian(table, behind, contacts)) / (2.0 * h)
    np.testing.assert_allclose(contact_jacobian(table, q, contacts) @ a + slope @ v, 0.0, atol=1e-5)
    with pytest.raises(DynamicsError, match="leave one out"):
        constrained_forward(table, q, v, tau, [FEET[0], FEET[0]])


# ------------------------------------------------------------------------------------------------------- chains
def test_a_denavit_hartenberg_arm_moves_as_its_urdf(rng):
    """Each row as a joint and, fixed to it, what follows in the row: its link has the same frame."""
    chain = SerialChain.from_yaml(model_path("ur5"))
    parts, inertias, link = ['<link name="base"/>'], {}, "base"
    for joint in chain.joints:
        inertias[joint.name] = Inertia(rng.uniform(1.0, 4.0), rng.normal(size=3), np.diag(rng.uniform(0.2, 0.3, 3)))
        moved = f"{joint.name}_moved"
        for kind, T, parent, child in (
            ("continuous", joint.origin, link, moved),
            ("fixed", joint.after, moved, joint.name),
        ):
            xyz, rpy = (" ".join(map(repr, map(float, x))) for x in (T[:3, 3], rpy_from_rotation(T[:3, :3])))
            parts.append(
                f'<link name="{child}"/><joint name="to_{child}" type="{kind}"><origin xyz="{xyz}" rpy="{rpy}"/>'
                f'<parent link="{parent}"/><child link="{child}"/><axis xyz="0 0 1"/></joint>'
            )
        link = joint.name
    arm, same = (DynamicModel(x, inertias) for x in (chain, load_urdf(f"<robot name='r'>{''.join(parts)}</robot>")))
    q, v, a = rng.normal(size=(3, 6))
    assert arm.joint_names == chain.joint_names
    np.testing.assert_allclose(arm.inverse(q, v, a), same.inverse(q, v, a), rtol=1e-12)
    assert_within(arm.jacobian("wrist_3", q), chain.jacobian(q), 1e-12)


def test_a_chain_between_links_of_a_urdf_keeps_their_names(arm, rng):
    chain = SerialChain.from_urdf(ARM, "arm_link_0", "arm_link_5")
    q, v, a = rng.normal(size=(3, 4))
    np.testing.assert_array_equal(DynamicModel(chain, arm.inertias).inverse(q, v, a), arm.inverse(q, v, a))


# -------------------------------------------------------------------------------------------------- what is odd
def test_explain_lists_masses_and_what_is_odd(arm):
    text = arm.explain()
    assert (
        "total" in text
        and "0.8609" in text
        and "give those that weigh anything an <inertial>: arm_link_5" in text
        and repr(arm).count("\n") == 0
    )
    bad = ARM.read_text(encoding="utf-8").replace('izz="9.19936757328e-05"', 'izz="0.9"')
    assert "break the triangle inequality" in DynamicModel.from_urdf(bad).explain()


NO_BODY = (
    "<robot name='p'><link name='b'/><link name='l'>{}</link><joint name='j' type='continuous'><parent link='b'/>"
    "<child link='l'/><axis xyz='0 1 0'/></joint></robot>"
)
TENSOR = "<inertial><mass value='1'/><inertia ixx='1' iyy='-5' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"


@pytest.mark.parametrize(
    ("inertial", "words", "why"),
    [
        ("", "nothing that moves has a mass; give the links an <inertial>", "the mass matrix is singular at joint 'j'"),
        (
            TENSOR,
            "link 'l': its least principal moment is -5",
            "not positive definite at joint 'j': link 'l': its least",
        ),
    ],
)
def test_a_urdf_without_masses_or_of_no_body_is_warned_of(inertial, words, why, capsys, tmp_path):
    with pytest.warns(RuntimeWarning, match=words) as warned:
        model = DynamicModel.from_urdf(NO_BODY.format(inertial))
    assert len(warned) == 1 and warned[0].filename == __file__
    with pytest.raises(DynamicsError, match=why):
        model.forward([0.0], [0.0], [0.0])
    with pytest.raises(DynamicsError, match=why):
        warn_of_step(model, [0.0], 1.0, 1.0, 0.001, "explicit")
    (tmp_path / "p.urdf").write_text(NO_BODY.format(inertial), encoding="utf-8")
    for command in ("table", "torques"):
        assert cli.main([command, str(tmp_path / "p.urdf")]) == 0
        assert f"warning: robot 'p': {words}" in capsys.readouterr().err


def test_results_print_one_line_without_arrays(arm):
    rest = np.zeros(4)
    chain = SerialChain.from_urdf(ARM, "arm_link_0", "arm_link_5")
    for thing, words in (
        (arm.inertias["arm_link_3"], r"Inertia\(0.2193 kg at \[0, 0, 0.101\] m, principal moments \[6.885e-05, .*\]"),
        (chain.joints[1], r"Joint\('arm_joint_2', revolute, arm_link_1 -> arm_link_2, -90.0 .. 90.0 deg\)"),
        (InverseKinematics(chain), r"InverseKinematics\(SerialChain\(.*\), within 1e-09 m, 1e-09 rad\)"),
        (simulate(arm, lambda *_: rest, rest, rest, 0.01, 0.001), r"Motion\(10 steps, 0.01 s, 4 velocities up to "),
        (
            identify(arm, *np.random.default_rng(0).normal(size=(4, 30, 4))),
            r"Identified\(\d\d combinations of 62 parameters, residual .* N m, condition .*\)",
        ),
        (arm.compile(), r"CompiledDynamics\(DynamicModel\(.*\), compiled: .*\)"),
    ):
        assert re.match(words, repr(thing)) and "\n" not in repr(thing), repr(thing)


def test_a_joint_that_moves_no_mass_is_named():
    with pytest.warns(RuntimeWarning, match="'arm_link_4' hangs on a joint and has no mass: .*; give it an inertia"):
        light = DynamicModel(load_urdf(ARM), {"arm_link_1": Inertia(0.1, (0, 0, 0), 1e-4 * np.eye(3))})
    with pytest.warns(RuntimeWarning, match="link 'arm_link_4': its principal moments .* break the triangle"):
        DynamicModel(load_urdf(ARM), {"arm_link_4": Inertia(1.0, (0, 0, 0), np.diag([1e-3, 1e-3, 1.0]))})
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a thin rod is a body, and a point
        for moments in ([0.0, 1e-3, 1e-3], [0.0, 0.0, 0.0]):
            DynamicModel(load_urdf(ARM), {"arm_link_4": Inertia(1.0, (0, 0, 0.1), np.diag(moments))})
    assert "'arm_link_4' hangs on a joint and has no mass" in "\n".join(light.warnings())
    for call in (
        light.forward,
        lambda q, v, tau: constrained_forward(light, q, v, tau, [Contact("arm_link_2")]),
        lambda q, v, tau: simulate(light, lambda *_: tau, q, v, 0.01, 0.001, "implicit_damping"),
    ):
        with pytest.raises(DynamicsError, match="singular at joint 'arm_joint_4'.*armature"):
            call(np.zeros(4), np.zeros(4), np.zeros(4))
    turned = DynamicModel.from_urdf(ARM, {f"arm_joint_{k}": 0.01 for k in range(1, 5)})
    plain = DynamicModel.from_urdf(ARM).mass_matrix(np.zeros(4))
    np.testing.assert_allclose(turned.mass_matrix(np.zeros(4)), plain + 0.01 * np.eye(4))


WRIST = """<robot name="wrist"><link name="base"><inertial><mass value="3"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link><link name="a"/><link name="b"/>
<link name="tool"><inertial><origin xyz="0.02 0.01 0.1"/><mass value="0.5"/>
<inertia ixx="1e-3" iyy="1e-3" izz="1e-3"/></inertial></link>
<joint name="roll" type="continuous"><parent link="base"/><child link="a"/><origin rpy="0.4 0.7 -0.3"/>
<axis xyz="0.6 0 0.8"/></joint>
<joint name="pitch" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint>
<joint name="turn" type="continuous"><parent link="b"/><child link="tool"/><axis xyz="0.6 0 0.8"/></joint>
</robot>"""


@pytest.mark.parametrize("floating", [False, True])
def test_axes_that_move_the_same_mass_alike_are_singular_though_rounding_leaves_a_pivot(floating):
    wrist, rest = DynamicModel.from_urdf(WRIST, floating=floating), np.zeros(3 + 6 * floating)

    def q(pitch):
        return [*(0.1, 0.2, 0.3, 0.0, 0.0, 0.6, 0.8)[: 7 * floating], 0.3, pitch, 0.5]

    assert np.isfinite(wrist.forward(q(1e-3), rest, rest)).all()
    for call in (
        lambda: wrist.forward(q(0.0), rest, rest),
        lambda: wrist.check_mass_matrix(wrist.mass_matrix(q(0.0))),
    ):
        with pytest.raises(DynamicsError, match="singular at .*none that other joints do not move alike in this pose"):
            call()
    kernels = wrist.compile()
    block, q_now, *_ = kernels.block("forward")
    q_now[:] = q(0.0)
    assert kernels.forward(block) >= 0


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m: m.inverse([0.0] * 3, [0.0] * 4, [0.0] * 4), ShapeError, r"q has shape \(3,\); expected \(4,\)"),
        (lambda m: m.inverse([0.0] * 4, [math.nan] * 4, [0.0] * 4), ShapeError, "v is .* expected finite"),
        (lambda m: m.forward([0.0] * 4, [0.0] * 4, ["x"] * 4), ShapeError, "tau is .* expected 4 numbers"),
        (lambda m: m.inverse([0.0] * 4, [0.0] * 4, [0.0] * 4, {"hand": [0.0] * 6}), UnknownNameError, "no link 'hand'"),
        (lambda m: m.jacobian("hand", [0.0] * 4), UnknownNameError, "no link 'hand'"),
        (lambda m: JointFriction(viscous=-1.0), InvalidConfigError, "viscous of JointFriction is -1.0; .* from 0"),
        (lambda m: JointFriction(coulomb=math.nan), InvalidConfigError, "coulomb of JointFriction is nan"),
        (lambda m: DynamicModel.from_urdf(ARM, {"arm_joint_1": "x"}), InvalidConfigError, "'arm_joint_1' is 'x'"),
        (lambda m: DynamicModel.from_urdf(ARM, floating="no"), InvalidConfigError, "floating is 'no'; expected True"),
        (lambda m: DynamicModel.from_urdf(ARM, 0.1), InvalidConfigError, "armature is 0.1; expected a mapping"),
        (lambda m: DynamicModel(m.tree, m.inertias, {"arm_joint_1": 0.1}), InvalidConfigError, "has 0.1; .*Friction"),
        (lambda m: DynamicModel(m.tree, {"arm_link_1": 0.1}), InvalidInertiaError, "has 0.1; expected Inertia"),
        (
            lambda m: DynamicModel("ur5", {}),
            InvalidChainError,
            "tree is 'ur5'; .* SerialChain .*reads a URDF",
        ),
        (lambda m: DynamicModel(m.tree, None), InvalidInertiaError, "Inertia by link is None; expected a mapping"),
        (lambda m: Contact("top", normal=(0.0, 0.0, 0.0)), InvalidConfigError, "normal of .* 'top' .* a direction"),
        (
            lambda m: m.inverse(*[[0.0] * 4] * 3, forces=[1.0]),
            InvalidConfigError,
            r"forces are \[1.0\]; expected wrenches",
        ),
        (lambda m: contact_jacobian(m, [0.0] * 4, ["top"]), InvalidConfigError, "a contact is 'top'; expected Contact"),
        (lambda m: Contact("top", friction=-1.0), InvalidConfigError, "friction of .* 'top' is -1.0; .* from 0"),
        (lambda m: Contact("top", (0.0, math.nan, 0.0)), ShapeError, "point of .* 'top' .* expected finite"),
        (
            lambda m: DynamicModel(m.tree, {"hand": Inertia(1.0, np.zeros(3), np.eye(3))}),
            UnknownNameError,
            "no link 'hand'",
        ),
        (lambda m: DynamicModel(m.tree, {}).centre_of_mass([0.0] * 4), DynamicsError, "has no mass"),
        (lambda m: support(m, [0.0] * 4, FEET), DynamicsError, "floating=True"),
        (lambda m: Inertia(-1.0, np.zeros(3), np.eye(3)), InvalidInertiaError, "mass is -1.0 kg"),
        (
            lambda m: Inertia(1.0, np.array([0.0, math.inf, 0.0]), np.eye(3)),
            InvalidInertiaError,
            "the centre of mass is",
        ),
        (
            lambda m: Inertia(1.0, np.zeros(3), np.array([[1.0, 2, 0], [0, 1, 0], [0, 0, 1]])),
            InvalidInertiaError,
            "the inertia tensor is .*; give a symmetric matrix",
        ),
        (lambda m: Inertia.from_parameters(np.zeros(10)), InvalidInertiaError, "above 0 kg"),
        (
            lambda m: DynamicModel.from_urdf("<robot name='r'><link name='a'><inertial/></link></robot>"),
            InvalidUrdfError,
            "link 'a': its inertial is not usable",
        ),
    ],
)
def test_bad_input_is_named(arm, call, error, words):
    with pytest.raises(error, match=words):
        call(arm)


def test_inertia_in_other_frames(rng):
    body = Inertia(2.0, rng.normal(size=3), np.diag([0.3, 0.4, 0.5]))
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=3)
    T[:3, :3] *= np.linalg.det(T[:3, :3])
    there = body.in_frame(T[:3, 3], T[:3, :3])
    np.testing.assert_allclose(
        there.in_frame(-T[:3, :3].T @ T[:3, 3], T[:3, :3].T).parameters, body.parameters, atol=1e-12
    )
    np.testing.assert_allclose(Inertia.from_parameters(there.parameters).tensor, there.tensor, atol=1e-12)
    # two halves make the whole, wherever they are
    halves = Inertia(1.0, body.com, body.tensor / 2.0)
    np.testing.assert_allclose((halves + halves).parameters, body.parameters, atol=1e-12)
    assert (
        not body.problems() and "triangle inequality" in Inertia(1.0, (0, 0, 0), np.diag([1.0, 1.0, 3.0])).problems()[0]
    )
    assert "none may be negative" in Inertia(1.0, (0, 0, 0), np.diag([-1.0, 1.0, 1.0])).problems()[0]
    assert isinstance(load_urdf(ARM), KinematicTree)


# ------------------------------------------------------------------------------------------------- command line
def test_csv_tables_have_the_numbers_of_the_file():
    """Each number is read back as the file's own, those that are computed to rounding; for any tree."""
    rng = np.random.default_rng(31)
    for floating in (False, True):
        model = DynamicModel.from_urdf(random_urdf(rng, 6), {"j0": 0.03}, floating=floating)
        sections = [
            {row[0]: row[1:] for row in csv.reader(text.splitlines())}
            for text in all_tables(model, "csv").split("\n\n")
        ]
        masses, joints, drives, screws, tips = sections
        for link, inertia in model.inertias.items():
            numbers = np.array(masses[link], dtype=float)
            np.testing.assert_array_equal(numbers, [inertia.mass, *inertia.com, *inertia.tensor[np.triu_indices(3)]])
        for name, joint in model.tree.joints.items():
            origin = np.array(joints[name][3:9], dtype=float)
            np.testing.assert_array_equal(origin[:3], joint.origin[:3, 3])
            np.testing.assert_allclose(rotation_from_rpy(*origin[3:]), joint.origin[:3, :3], atol=1e-14)
            if not joint.moves:
                assert name not in drives and name not in screws
                continue
            for cell, limit in zip(drives[name], (joint.lower, joint.upper, joint.velocity, joint.effort)):
                assert float(cell) == limit if math.isfinite(limit) else cell == "-"
        for link in model.tree.tips:
            home, pose = model.tree.frame(link, np.zeros(model.n)), np.array(tips[link], dtype=float)
            np.testing.assert_allclose(pose[:3], home[:3, 3], atol=1e-12)
            np.testing.assert_allclose(rotation_from_rpy(*pose[3:]), home[:3, :3], atol=1e-11)


def test_command_line_prints_tables_and_refuses_in_a_sentence(capsys, tmp_path):
    assert cli.main(["table", "arm4", "--format", "csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (
        "arm_link_3,0.21931466,0.0,0.0,0.101,0.000791433503053,0.0,0.0,0.000768905501178,0.0,6.88531064581e-05" in lines
    )
    assert "total,0.860899132,-,-,-,-,-,-,-,-,-" in lines
    assert "arm_joint_3,revolute,arm_link_2,arm_link_3,0.0,0.0,0.317,0.0,0.0,0.0,0.0,1.0,0.0" in lines
    assert "arm_joint_3,-1.57,1.57,10.0,10.0,0.0,0.0,0.0" in lines
    assert "arm_joint_3,0.0,1.0,0.0,-0.4945,0.0,0.0" in lines
    assert "arm_link_5,0.0,0.0,0.857,0.0,0.0,0.0" in lines
    assert cli.main(["table", "arm4", "--format", "markdown"]) == 0
    rounded = capsys.readouterr().out
    assert "|---" in rounded and " 0.000791434 " in rounded and "rounded to 6 digits" in rounded
    assert cli.main(["torques", "arm4", "--pose", "0.3", "-5e-1", "0.7", "0.4"]) == 0
    assert "0.605459" in capsys.readouterr().out
    file = tmp_path / "arm.urdf"
    file.write_text(ARM.read_text(encoding="utf-8"), encoding="utf-8")
    assert cli.main(["explain", str(file), "--floating"]) == 0 and "floating base" in capsys.readouterr().out
    for arguments, words in (
        (["table", "arm7"], "model 'arm7' does not exist; there is 'arm4', or give the path of a URDF file"),
        (["table", "ur5"], "model 'ur5' has no masses; there is 'arm4'"),
        (["torques", "arm4", "--pose", "1"], "expected 4"),
    ):
        assert cli.main(arguments) == 1
        said = capsys.readouterr().err
        assert said.startswith("error: ") and words in said
