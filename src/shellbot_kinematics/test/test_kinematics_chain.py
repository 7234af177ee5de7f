# SPDX-License-Identifier: MIT
"""Chains from tables and from the URDF: forward kinematics, Jacobians, printing, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

import shellbot_description as description
from robot_mechanics import DHRow, Joint, LimbSet, SerialChain
from robot_mechanics.errors import InvalidChainError, ShapeError, UnknownNameError
from robot_mechanics.native import angles
from shellbot_kinematics import (
    LIMBS,
    Frame,
    ShellbotModel,
    _free_fan,
    _limb_lm,
    _limb_rules,
    _lower_leg,
    _planar,
    _sphere,
    _tick,
    _upper_leg,
)

# Puma 560 (Craig's lengths), standard convention; the pose at q = 0 follows by hand from the rows
PUMA = [
    (math.pi / 2, 0.0, 0.0, 0.0),
    (0.0, 0.4318, 0.0, 0.0),
    (-math.pi / 2, 0.0203, 0.0, 0.15005),
    (math.pi / 2, 0.0, 0.0, 0.4318),
    (-math.pi / 2, 0.0, 0.0, 0.0),
    (0.0, 0.0, 0.0, 0.0),
]


def dh_chain(limb, frame, variables):
    """The description's table, and the fixed transform to the frame, as a chain."""
    k = int(limb[-1])
    if limb.startswith("lower"):
        joints = list(SerialChain.from_dh(description.dh_table_lower(variables, k)).joints)
        if frame == Frame.SPHERE_CENTRE:
            joints.append(Joint("sphere", "fixed", origin=description.foot_to_lower_sphere_centre(variables)))
    else:
        joints = list(SerialChain.from_dh(description.dh_table_upper(variables, k)).joints)
        joints.append(Joint("sphere", "fixed", origin=description.shell_to_upper_sphere_centre(variables)))
    return SerialChain(joints)


@pytest.mark.parametrize("limb", LIMBS)
def test_table_and_urdf_agree(limb, model, rng):
    variables = description.load_variables()
    for frame in (Frame.FOOT, Frame.SPHERE_CENTRE) if limb.startswith("lower") else (Frame.SPHERE_CENTRE,):
        by_table, by_urdf = dh_chain(limb, frame, variables), model.chain(limb, frame)
        assert by_table.joint_names == by_urdf.joint_names
        for _ in range(50):
            q = rng.uniform(-np.pi, np.pi, by_urdf.n)
            assert np.abs(by_table.fk(q) - by_urdf.fk(q)).max() < 1e-12


def test_puma_at_zero_and_turned(kernels):
    chain = SerialChain.from_dh(PUMA)
    # hand: x = a2 + a3, y = -d3, z = d4 at q = 0
    np.testing.assert_allclose(chain.fk(np.zeros(6))[:3, 3], [0.4318 + 0.0203, -0.15005, 0.4318], atol=1e-12)
    q = np.zeros(6)
    q[0] = np.pi / 2
    np.testing.assert_allclose(chain.fk(q)[:3, 3], [0.15005, 0.4521, 0.4318], atol=1e-12)


def test_frames_are_products_of_row_transforms(rng, kernels):
    """All four parameters of all three kinds; the rows' own formula is Rz(theta) Tz(d) Tx(a) Rx(alpha)."""

    def formula(row, q):
        theta, d = row.theta + q * (row.kind == "revolute"), row.d + q * (row.kind == "prismatic")
        c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(row.alpha), np.sin(row.alpha)
        return np.array(
            [[c, -s * ca, s * sa, row.a * c], [s, c * ca, -c * sa, row.a * s], [0, sa, ca, d], [0, 0, 0, 1]]
        )

    kinds = ["revolute", "prismatic", "fixed", "revolute", "revolute"]
    rows = [DHRow(*rng.uniform(-2, 2, 4), kind=kind) for kind in kinds]
    q = list(rng.uniform(-3, 3, 4))
    chain = SerialChain.from_dh(rows)
    q_of_row = [q[0], q[1], 0.0, q[2], q[3]]
    T = np.eye(4)
    for row, value, frame in zip(rows, q_of_row, chain.frames(q)):
        T = T @ formula(row, value)
        np.testing.assert_allclose(row.transform(value), formula(row, value), atol=1e-12)
        np.testing.assert_allclose(frame, T, atol=1e-12)


def random_chain(rng, n=7):
    """Any axes, any offsets, all three kinds of joints."""
    kinds = ["revolute", "prismatic", "fixed", "revolute", "revolute", "prismatic", "revolute"][:n]
    joints = []
    for i, kind in enumerate(kinds):
        T = DHRow(*rng.uniform(-1, 1, 4)).transform(0.3)
        joints.append(Joint(f"j{i}", kind, origin=T, axis=rng.normal(size=3)))
    return SerialChain(joints)


def test_jacobian_against_finite_differences(rng, kernels):
    for _ in range(5):
        chain = random_chain(rng)
        q = rng.uniform(-1, 1, chain.n)
        J, T = chain.jacobian(q), chain.fk(q)
        for i in range(chain.n):
            step = np.zeros(chain.n)
            step[i] = 1e-6
            ahead, behind = chain.fk(q + step), chain.fk(q - step)
            np.testing.assert_allclose(J[:3, i], (ahead - behind)[:3, 3] / 2e-6, atol=1e-8)
            turn = (ahead - behind)[:3, :3] / 2e-6 @ T[:3, :3].T
            np.testing.assert_allclose(J[3:, i], [turn[2, 1], turn[0, 2], turn[1, 0]], atol=1e-8)


def test_axis_other_than_z_turns_about_that_axis():
    chain = SerialChain([Joint("a", axis=(0, -1, 0)), Joint("b", "fixed", origin=DHRow(0, 1).transform())])
    np.testing.assert_allclose(chain.fk([np.pi / 2])[:3, 3], [0, 0, 1], atol=1e-12)


def test_chain_is_comparable_and_prints_a_table():
    one, same = SerialChain.from_dh(PUMA), SerialChain.from_dh(PUMA)
    other = SerialChain.from_dh(PUMA[:5] + [(0.0, 0.0, 0.0, 0.01)])
    assert one == same and hash(one) == hash(same) and one != other
    text = str(
        SerialChain.from_dh([DHRow(0, 0.1, lower=-1.0, upper=0.5), (0, 0, 0, 0, "prismatic"), (0, 0, 0, 0, "fixed")])
    )
    assert "-57.3 .. 28.6 deg" in text and "free" in text and "prismatic" in text and len(text.splitlines()) == 5


def test_chain_cannot_be_changed():
    chain = SerialChain.from_dh(PUMA)
    for array in (chain.lower, chain.joints[0].origin, chain.joints[0].axis):
        with pytest.raises(ValueError):
            array[0] = 1.0
    T = chain.fk(np.zeros(6))
    T[:] = 0.0  # the caller's own copy
    assert chain.fk(np.zeros(6))[0, 3] != 0.0


@pytest.mark.parametrize(
    "rows, words",
    [
        ([], "at least one"),
        ([(0,)], "row 0"),
        ([(0, "x", 0, 0)], "row 0"),
        ([(0, math.nan, 0, 0)], "row 0"),
        ([(0, 0, 0, 0, "ball")], "revolute, prismatic, fixed"),
        ([(0, 0, 0, 0, "revolute", "a"), (0, 0, 0, 0, "revolute", "a")], "'a'"),
        ([{"alpha": 0, "a": 0, "beta": 1}], "beta"),
    ],
)
def test_bad_tables_are_refused(rows, words):
    with pytest.raises(InvalidChainError, match=words):
        SerialChain.from_dh(rows)


def test_bad_joints_and_coordinates_are_refused():
    with pytest.raises(InvalidChainError, match="lower <= upper"):
        Joint("a", lower=1.0, upper=-1.0)
    with pytest.raises(InvalidChainError, match="axis"):
        Joint("a", axis=(0, 0, 0))
    with pytest.raises(InvalidChainError, match="rigid"):
        Joint("a", origin=np.diag([2.0, 1, 1, 1]))
    chain = SerialChain.from_dh(PUMA)
    for q, words in ((np.zeros(5), r"\(5,\)"), ([0, 0, 0, 0, 0, np.nan], "finite"), ("abc", "6 numbers")):
        with pytest.raises(ShapeError, match=words):
            chain.fk(q)
    with pytest.raises(UnknownNameError, match="nowhere"):
        chain.frame("nowhere", np.zeros(6))


def test_limits_are_asked():
    chain = SerialChain.from_dh([DHRow(0, 1, lower=-1.0, upper=0.5)])
    assert chain.within_limits([0.5]) and not chain.within_limits([0.6]) and chain.within_limits([0.6], 0.2)


def test_lower_legs_share_the_fan(model, lower_legs, rng):
    legs = lower_legs
    assert isinstance(legs, LimbSet) and len(legs.drive_names) == 19  # the walker's motors
    u = rng.uniform(-0.5, 0.5, 19)
    q = legs.expand(u)
    assert set(q[[0, 4, 8, 12, 16, 20]]) == {u[0]}
    np.testing.assert_allclose(legs.fk(q)[3], model.chain("lower_4", Frame.FOOT).fk(q[12:16]), atol=1e-15)
    T = DHRow(0.3, 0.2, 0.1, 0.4).transform()
    np.testing.assert_allclose(legs.fk(q, T)[5], T @ legs.fk(q)[5], atol=1e-15)


def test_jacobian_of_limbs_against_finite_differences(lower_legs, rng):
    legs = lower_legs
    u, v, w = rng.uniform(-0.5, 0.5, 19), rng.normal(size=3), rng.normal(size=3)
    du = rng.normal(size=19)
    h = 1e-6

    def tip(t):
        base = np.eye(4)
        base[:3, :3] += t * np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        base[:3, 3] = t * v
        return legs.fk(legs.expand(u + t * du), base)[2][:3, 3]

    J = legs.jacobian("lower_3", legs.expand(u))
    np.testing.assert_allclose(J[:3] @ np.concatenate([v, w, du]), (tip(h) - tip(-h)) / (2 * h), atol=1e-8)


def test_limbs_from_tables_equals_from_urdf(urdf, model, rng):
    variables = description.load_variables()
    tables = {f"lower_{k}": [tuple(row)[:5] for row in description.dh_table_lower(variables, k)] for k in range(1, 7)}
    by_table = LimbSet.from_dh(tables, {"fan": [f"lower_{k}_1" for k in range(1, 7)]})
    by_urdf = LimbSet.from_urdf(urdf, "base_link", {f"lower_{k}": f"lower_{k}_foot" for k in range(1, 7)})
    q = rng.uniform(-2, 2, 24)
    np.testing.assert_allclose(by_table.fk(q), by_urdf.fk(q), atol=1e-12)
    assert len(by_table.drive_names) == 19 and len(by_urdf.drive_names) == 24


def test_limbs_refuse_unknown_and_double_common_joints(lower_legs):
    limbs = {"a": SerialChain.from_dh(PUMA)}
    with pytest.raises(InvalidChainError, match="in no limb"):
        LimbSet(limbs, {"x": ["nothing"]})
    with pytest.raises(InvalidChainError, match="twice"):
        LimbSet(limbs, {"x": ["joint_0"], "y": ["joint_0"]})
    with pytest.raises(InvalidChainError, match="another limb"):
        LimbSet({"a": SerialChain.from_dh(PUMA), "b": SerialChain.from_dh(PUMA)})
    with pytest.raises(UnknownNameError, match="lower_1"):
        lower_legs.limb("lower_9")


@pytest.mark.parametrize("variant, n", [("simulation", 36), ("full", 36), ("walker", 24)])
def test_driven_joints_of_every_variant(variant, n):
    made = ShellbotModel(description.expand(variant))
    assert made.names == tuple(description.driven_joint_names(variant)) and made.n == n
    mimics = [joint.mimic for limb in made.limbs[:6] for joint in made.chain(limb, Frame.FOOT).joints if joint.mimic]
    assert len(mimics) == (5 if variant == "full" else 0) and all(m.joint == "lower_1_fan" for m in mimics)


@pytest.mark.jit
def test_every_kernel_is_compiled():
    concepts = (angles, _planar, _lower_leg, _upper_leg, _sphere, _free_fan, _limb_lm, _limb_rules, _tick)
    plain = [
        item
        for module in concepts
        for item in vars(module).values()
        if callable(item) and getattr(item, "__module__", "") == module.__name__
    ]
    assert len(plain) > 50 and all(hasattr(item, "py_func") for item in plain)
