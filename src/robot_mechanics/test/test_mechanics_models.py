# SPDX-License-Identifier: MIT
"""Models: tables in both conventions, mimic joints, trees, sets of limbs, YAML, published arms; what they refuse."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from mechanics_chains import (
    dh_chain,
    random_chain,
    random_chains,
    random_pose,
)

from robot_mechanics import (
    DHRow,
    Joint,
    KinematicTree,
    LimbSet,
    Mimic,
    SerialChain,
    load_chain,
    load_limbs,
    load_model,
    load_tree,
    load_urdf,
    model_names,
    model_path,
)
from robot_mechanics.errors import InvalidChainError, InvalidUrdfError, InvalidYamlError, ShapeError, UnknownNameError
from robot_mechanics.motion import se3
from robot_mechanics.motion.rotations import transform

# ------------------------------------------------------------------------------------------------ tables
# Craig, Introduction to Robotics, 3rd ed., fig. 3.21: alpha_(i-1) deg, a_(i-1), theta, d_i; lengths as letters there
A2, A3, D3, D4 = 0.4318, 0.0203, 0.15005, 0.4318
CRAIG = [(0, 0, 0, 0), (-90, 0, 0, 0), (0, A2, 0, D3), (-90, A3, 0, D4), (90, 0, 0, 0), (-90, 0, 0, 0)]


def test_modified_table_gives_craigs_closed_form(rng):
    chain = dh_chain(CRAIG, "puma", "modified")
    for q in rng.uniform(-np.pi, np.pi, (20, 6)):
        c1, s1, c23, s23 = np.cos(q[0]), np.sin(q[0]), np.cos(q[1] + q[2]), np.sin(q[1] + q[2])
        reach = A2 * np.cos(q[1]) + A3 * c23 - D4 * s23
        expected = [c1 * reach - D3 * s1, s1 * reach + D3 * c1, -A3 * s23 - A2 * np.sin(q[1]) - D4 * c23]  # eq. 3.14
        np.testing.assert_allclose(chain.fk(q)[:3, 3], expected, atol=1e-14)


def test_both_conventions_are_products_of_their_own_rows(rng):
    kinds = ["revolute", "prismatic", "fixed", "revolute", "prismatic"]
    rows = [DHRow(*rng.uniform(-2, 2, 4), kind=kind) for kind in kinds]
    for convention in ("standard", "modified"):
        chain = SerialChain.from_dh(rows, convention=convention)
        q = rng.uniform(-2, 2, 4)
        T = np.eye(4)
        for row, value in zip(rows, [q[0], q[1], 0.0, q[2], q[3]]):
            about_z = se3.se3_exp([0, 0, 0, 0, 0, row.theta + value * (row.kind == "revolute")])
            about_z[2, 3] = row.d + value * (row.kind == "prismatic")
            about_x = se3.se3_exp([0, 0, 0, row.alpha, 0, 0])
            about_x[0, 3] = row.a
            step = about_x @ about_z if convention == "modified" else about_z @ about_x
            np.testing.assert_allclose(row.transform(value, convention), step, atol=1e-14)
            T = T @ step
        np.testing.assert_allclose(chain.fk(q), T, atol=1e-13)
    # a standard table is a modified one whose alpha and a have moved to the row behind
    shifted = [DHRow(0, 0, rows[0].theta, rows[0].d, rows[0].kind)]
    shifted += [DHRow(a.alpha, a.a, b.theta, b.d, b.kind) for a, b in zip(rows, rows[1:])]
    shifted += [DHRow(rows[-1].alpha, rows[-1].a, kind="fixed")]
    one, other = SerialChain.from_dh(rows), SerialChain.from_dh(shifted, convention="modified")
    np.testing.assert_allclose(one.fk(q), other.fk(q), atol=1e-13)


def test_a_chain_from_a_table_prints_that_table():
    text = str(SerialChain.from_dh([DHRow(np.pi / 2, 0.1, 0.2, 0.3), DHRow(0, 0, 0, 0.05, "prismatic", upper=0.2)]))
    assert "standard" in text and "90.00" in text and "100.00" in text and "q +11.46" in text and "q +50.00" in text
    assert "-inf .. 200.0 mm" in text
    text = str(
        SerialChain.from_dh(
            [DHRow(0, 0, mimic=None), DHRow(0, 1, mimic=Mimic("joint_0", -2, 0.1))], convention="modified"
        )
    )
    assert "modified" in text and "-2 * joint_0 +0.1" in text
    assert "Denavit" not in str(SerialChain([Joint("a", origin=DHRow(0.1, 0.2).transform())]))


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: SerialChain.from_dh([(0, 0)], convention="craig"), "'craig' of the table; expected one of standard"),
        (
            lambda: SerialChain.from_dh([(0, 0)] * 8, "modified"),
            "names of chain 'chain' is 'modified'; expected a sequence of names",
        ),
        (lambda: SerialChain.from_dh(7), "rows of chain 'chain' is 7; expected a sequence"),
        (lambda: SerialChain.from_dh([(0, 1e9)]), r"a in row 0 of the table is 1e\+?0?9|1000000000"),
        (lambda: SerialChain.from_dh([("0", "1.0")]), "alpha in row 0 of the table is '0'; expected a finite number"),
        (lambda: SerialChain.from_dh([(0, 1, 0, 0, ["revolute"])]), "row 0 of the table is of kind"),
        (lambda: SerialChain.from_dh([(0, 1, 0, 0, "revolute", 7)]), "named 7; expected a name"),
        (lambda: SerialChain.from_dh([DHRow(0, 1, lower=1, upper=0)]), "limits of joint 'joint_0' are 1.0 .. 0.0"),
        (lambda: SerialChain([Joint("a"), "b"]), "joint 1 of chain 'chain' is 'b'; expected a Joint"),
        (lambda: SerialChain([Joint("a", lower=1e12)]), r"limits of joint 'a' .* some of it within \+-1e\+09"),
        (lambda: SerialChain([]), "no joints; give at least one"),
        (lambda: Joint(""), "expected a name"),
        (lambda: Joint("a", lower="x"), "lower of joint 'a' is 'x'; expected a number"),
        (lambda: Joint("a", lower=math.nan), "limits of joint 'a' are nan"),
        (lambda: Joint("a", lower=math.inf), "limits of joint 'a' are inf"),
        (lambda: Joint("a", velocity=-1), "velocity of joint 'a' is -1.0; expected 0 or more"),
        (lambda: Joint("a", effort=math.nan), "effort of joint 'a' is nan"),
        (lambda: Joint("a", axis=(1e-12, 0, 0)), "axis of joint 'a' is"),
        (lambda: Joint("a", axis=(math.nan, 0, 1)), "axis of joint 'a' is"),
        (lambda: Joint("a", axis=(0, 1)), r"axis of joint 'a' has shape \(2,\); expected three finite numbers"),
        (lambda: Joint("a", axis="xyz"), "axis of joint 'a' is 'xyz'"),
        (lambda: Joint("a", origin=np.eye(3)), r"origin of joint 'a' has shape \(3, 3\); expected a finite rigid"),
        (lambda: Joint("a", origin=np.diag([1, 1, -1, 1])), "origin of joint 'a' is not a rigid"),
        (
            lambda: Joint("a", after=transform(np.eye(3), (0, -1e7, 0))),
            r"after of joint 'a' lies at .* within \+-1e\+06 m",
        ),
        (lambda: Joint("a", after=np.eye(4) + 1.0), "after of joint 'a' is not a rigid"),
        (lambda: Joint("a", kind=3), "kind '3'; expected one of revolute"),
        (lambda: Joint("a", mimic="b"), "mimic of joint 'a' is 'b'; expected a Mimic"),
        (lambda: Mimic(""), "expected the name of the joint"),
        (lambda: Mimic("a", math.inf), "ratio of the mimic of 'a' is inf"),
        (lambda: Mimic("a", 1, "x"), "offset of the mimic of 'a' is 'x'"),
    ],
)
def test_bad_joints_and_tables_are_named(make, words):
    with pytest.raises(InvalidChainError, match=words):
        make()


# ------------------------------------------------------------------------------------------------ mimic joints
def test_followers_are_evaluated_and_bound_their_master(rng):
    chain = SerialChain(
        [
            Joint("a", lower=-1.0, upper=1.0, velocity=3.0),
            Joint(
                "b", "prismatic", origin=DHRow(0.3, 0.2).transform(), mimic=Mimic("a", -0.5, 0.1), lower=-0.2, upper=0.3
            ),
            Joint("c", origin=DHRow(1.0, 0.1).transform(), axis=(1, 2, 3), mimic=Mimic("b", 3.0, -0.2), velocity=1.5),
            Joint("d", axis=(0, 1, 0)),
        ]
    )
    assert chain.n == 2 and chain.joint_names == ("a", "d")
    # b = 0.1 - 0.5 a within -0.2 .. 0.3: a within -0.4 .. 0.6; c = 3 b - 0.2 = 0.1 - 1.5 a, at most 1.5: a' at most 1
    np.testing.assert_allclose(chain.lower, [-0.4, -np.inf])
    np.testing.assert_allclose(chain.upper, [0.6, np.inf])
    np.testing.assert_allclose(chain.velocity, [1.0, np.inf])
    np.testing.assert_allclose(chain.joint_values([0.4, 2.0]), [0.4, -0.1, -0.5, 2.0], atol=1e-15)
    free = SerialChain([dataclasses.replace(joint, mimic=None) for joint in chain.joints])
    np.testing.assert_allclose(chain.fk([0.4, 2.0]), free.fk([0.4, -0.1, -0.5, 2.0]), atol=1e-15)
    spread = np.array([[1, 0], [-0.5, 0], [-1.5, 0], [0, 1]])
    J = free.jacobian([0.4, -0.1, -0.5, 2.0])
    np.testing.assert_allclose(chain.jacobian([0.4, 2.0]), J @ spread, atol=1e-15)


def test_a_follower_without_its_master_is_independent():
    joint = Joint("b", mimic=Mimic("elsewhere", 2.0))
    assert SerialChain([joint]).joint_names == ("b",)


def test_followers_of_a_joint_that_is_elsewhere_stay_coupled():
    """Two joints of a finger whose drive stands in another part of the hand: one coordinate, that of the first."""
    far = [
        Joint("still", mimic=Mimic("drive", 0.0, 0.7)),
        Joint("b", mimic=Mimic("drive", -2.0, 0.1), upper=1.0),
        Joint("c", origin=DHRow(0.3, 0.2).transform(), mimic=Mimic("drive", 1.0, 0.3), upper=0.5),
        Joint("d", mimic=Mimic("c", 3.0, -0.2)),
    ]
    chain = SerialChain(far)
    # c = drive + 0.3 = (0.1 - b) / 2 + 0.3, at most 0.5: b at least -0.3
    assert chain.joint_names == ("b",) and chain.lower == pytest.approx([-0.3]) and chain.upper == [1.0]
    drive = 0.15
    np.testing.assert_allclose(chain.joint_values([0.1 - 2.0 * drive]), [0.7, -0.2, 0.45, 1.15], atol=1e-15)


@pytest.mark.parametrize(
    "joints, words",
    [
        ([Joint("a", mimic=Mimic("a"))], "'a' of chain 'chain' mimics itself"),
        ([Joint("a", mimic=Mimic("b")), Joint("b", mimic=Mimic("a"))], "mimics itself, through"),
        ([Joint("a", "fixed"), Joint("b", mimic=Mimic("a"))], "'b' of chain 'chain' mimics 'a', which is fixed"),
        ([Joint("a", upper=1), Joint("b", lower=5, mimic=Mimic("a"))], "no position is within the limits of both"),
        ([Joint("a"), Joint("b", lower=5, mimic=Mimic("a", 0.0, 1.0))], "no position is within"),
    ],
)
def test_impossible_followers_are_refused(joints, words):
    with pytest.raises(InvalidChainError, match=words):
        SerialChain(joints)


# ------------------------------------------------------------------------------------------------ value semantics
def test_models_are_immutable_comparable_and_survive_copies():
    chain = random_chains(3, 8, 2)[7]
    tree = KinematicTree.from_yaml(model_path("gripper"))
    legs = LimbSet.from_yaml(model_path("tripod"))
    table = SerialChain.from_yaml(model_path("puma560"))
    for model, field in ((chain, "n"), (table, "lower"), (tree, "root"), (legs, "common")):
        with pytest.raises(AttributeError, match=f"cannot be changed .'{field}'"):
            setattr(model, field, None)
        for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert twin == model and hash(twin) == hash(model) and str(twin) == str(model)
        assert model != 3 and str(model)
    twin = pickle.loads(pickle.dumps(chain))
    for array in (chain.parameters().pre, chain.lower, tree.lower, legs.upper, twin.lower, twin.joints[0].origin):
        with pytest.raises(ValueError):
            array[...] = 0
    assert tree == KinematicTree.from_yaml(model_path("gripper")) and hash(tree) == hash(
        load_model(model_path("gripper"))
    )
    with pytest.raises(TypeError):
        tree.joints["lift"] = None


def test_packed_parameters_rebuild_the_pose(rng):
    for chain in random_chains(4, 6, 2):
        p, q, T = chain.parameters(), rng.normal(size=chain.n), np.eye(4)
        for i in range(len(chain)):
            value = p.ratio[i] * q[p.column[i]] + p.offset[i] if p.kind[i] != 2 else 0.0
            motion = se3.se3_exp([0, 0, value * (p.kind[i] == 1), 0, 0, value * (p.kind[i] == 0)])
            T = T @ p.pre[i] @ motion @ p.post[i]
            assert p.parent[i] == i - 1
        np.testing.assert_allclose(chain.fk(q), T, atol=1e-13)


# ------------------------------------------------------------------------------------------------ trees
def random_tree(rng, size=25):
    chain = random_chain(rng, size, mimics=4)
    joints, parents = [], ["root"]
    for i, joint in enumerate(chain.joints):
        parent = str(rng.choice(parents))
        joints.append(dataclasses.replace(joint, parent=parent, child=f"l{i}"))
        parents.append(f"l{i}")
    return joints


def test_poses_and_jacobians_of_all_links_of_random_trees():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        joints = random_tree(rng)
        tree = KinematicTree([joints[i] for i in rng.permutation(len(joints))])
        assert tree.root == "root" and len(tree.links) == 26 and tree.tips
        q, dq = rng.normal(size=(2, tree.n))
        own = dict(zip(tree.joint_names, q))
        poses = tree.fk(q)
        for link, T in zip(tree.links, poses):
            path = tree.path("root", link)
            expected = np.eye(4)
            for joint in path:  # each joint alone, its value by name
                value = own.get(joint.name, 0.0)
                if joint.mimic is not None:
                    value = joint.mimic.ratio * own[joint.mimic.joint] + joint.mimic.offset
                alone = SerialChain([dataclasses.replace(joint, mimic=None)])
                expected = expected @ alone.fk([value] if joint.moves else [])
            np.testing.assert_allclose(T, expected, atol=1e-12)
            np.testing.assert_array_equal(tree.frame(link, q), T)
        for link in (tree.tips[0], tree.tips[-1], tree.links[3], "root"):
            J, H = tree.jacobian(link, q), tree.hessian(link, q)
            for i in range(tree.n):
                step = np.zeros(tree.n)
                step[i] = 1e-6
                ahead, behind = tree.frame(link, q + step), tree.frame(link, q - step)
                np.testing.assert_allclose(J[:3, i], (ahead - behind)[:3, 3] / 2e-6, atol=1e-7)
                turn = se3.so3_log(ahead[:3, :3] @ behind[:3, :3].T) / 2e-6
                np.testing.assert_allclose(J[3:, i], turn, atol=1e-7)
                slope = (tree.jacobian(link, q + step) - tree.jacobian(link, q - step)) / 2e-6
                np.testing.assert_allclose(H[:, :, i], slope, atol=1e-6)
            np.testing.assert_allclose(tree.jacobian_dot(link, q, dq), H @ dq, atol=1e-10)


def test_deep_and_wide_trees_are_read():
    deep = [Joint(f"j{i}", parent=f"l{i}", child=f"l{i + 1}") for i in range(3000)]
    tree = KinematicTree(deep[::-1])
    assert tree.n == 3000 and tree.joint_names[0] == "j0" and len(tree.path("l0", "l3000")) == 3000
    np.testing.assert_allclose(
        tree.frame("l3000", np.full(3000, 1e-3))[:2, :2], SerialChain(deep).fk([1e-3] * 3000)[:2, :2]
    )
    assert str(tree)
    wide = KinematicTree([Joint(f"j{i}", parent="root", child=f"l{i}") for i in range(3000)])
    assert len(wide.tips) == 3000 and wide.joint_names == tuple(f"j{i}" for i in range(3000))  # the order given
    mixed = [Joint("c", parent="y", child="z"), Joint("a", parent="x", child="y"), Joint("b", parent="x", child="w")]
    assert KinematicTree(mixed).joint_names == ("a", "c", "b")  # c waits for its parent, b for nobody
    one = KinematicTree([], links=["alone"])
    assert one.root == "alone" and one.fk([]).shape == (1, 4, 4) and one.jacobian("alone", []).shape == (6, 0)


@pytest.mark.parametrize(
    "joints, words",
    [
        ([Joint("a", parent="x", child="y"), Joint("a", parent="y", child="z")], "joint 'a' .* defined twice"),
        ([Joint("a", parent="x", child="y"), Joint("b", parent="z", child="y")], "'y' is the child of several"),
        ([Joint("a", parent="x", child="y"), Joint("b", parent="u", child="v")], "has 2: x, u"),
        ([Joint("a", parent="x", child="y"), Joint("b", parent="y", child="x")], "form a loop"),
        (
            [Joint("a", parent="x", child="y"), Joint("b", parent="u", child="v"), Joint("c", parent="v", child="u")],
            "above link '[uv]' .* form a loop",
        ),
        ([Joint("a", parent="x")], "child link '' of joint 'a'"),
        ([Joint("a", parent="x", child="x")], "form a loop"),
        ([None], "joint 0 of robot 'robot' is None"),
        ([], "has no links; give"),
    ],
)
def test_what_is_no_tree_is_refused(joints, words):
    with pytest.raises(InvalidChainError, match=words):
        KinematicTree(joints)


def test_unknown_links_of_a_tree():
    tree = KinematicTree.from_yaml(model_path("gripper"))
    for call in (tree.frame, tree.jacobian, tree.hessian):
        with pytest.raises(UnknownNameError, match="no link 'thumb'; it has stand, carriage"):
            call("thumb", np.zeros(3))
    with pytest.raises(InvalidChainError, match="'stand' is not below 'palm'"):
        tree.chain("palm", "stand")
    with pytest.raises(ShapeError, match=r"q of robot 'gripper' has shape \(2,\)"):
        tree.jacobian("stand", [0, 0])


# ------------------------------------------------------------------------------------------------ sets of limbs
def test_limbs_follow_across_limbs(rng):
    a = SerialChain([Joint("a1", lower=-1, upper=1), Joint("a2", mimic=Mimic("a1", 2.0, 0.1))], "a")
    b = SerialChain([Joint("b1", mimic=Mimic("a2", -1.0, 0.2), upper=0.5, velocity=3.0), Joint("b2"), Joint("b3")], "b")
    c = SerialChain([Joint("c1", mimic=Mimic("b2", 3.0, 0.0)), Joint("c2", velocity=0.5)], "c")
    legs = LimbSet({"a": a, "b": b, "c": c}, {"both": ["b3", "c2"]})
    assert legs.joint_names == ("a1", "b1", "b2", "b3", "c1", "c2") and legs.drive_names == ("a1", "b2", "both")
    u = np.array([0.3, -0.4, 0.7])
    # b1 = -a2 + 0.2 = -(2 a1 + 0.1) + 0.2
    np.testing.assert_allclose(legs.expand(u), [0.3, -0.5, -0.4, 0.7, -1.2, 0.7], atol=1e-15)
    np.testing.assert_allclose(legs.lower, [-0.2, -np.inf, -np.inf])  # b1 <= 0.5
    np.testing.assert_allclose(legs.upper, [1.0, np.inf, np.inf])
    np.testing.assert_allclose(
        legs.velocity, [1.5, np.inf, 0.5]
    )  # b1 turns at twice the speed of a1, c2 is slow itself
    assert legs.within_limits(u) and not legs.within_limits([-0.3, 0, 0])
    for limb in "abc":
        J = legs.jacobian(limb, legs.expand(u))
        for i in range(3):
            step = np.zeros(3)
            step[i] = 1e-6
            ahead, behind = (legs.fk(legs.expand(u + s))["abc".index(limb)] for s in (step, -step))
            turn = se3.so3_log(ahead[:3, :3] @ behind[:3, :3].T) / 2e-6
            np.testing.assert_allclose(J[3:, 6 + i], turn, atol=1e-8)


def test_floating_base_in_world_axes(rng):
    legs = LimbSet.from_yaml(model_path("tripod"))
    u, du = rng.uniform(0, 0.03, (2, len(legs.drive_names)))
    base, twist = random_pose(rng), rng.normal(size=6)

    def feet(t):
        moved = base.copy()
        moved[:3, :3] = se3.so3_exp(t * twist[3:]) @ base[:3, :3]
        moved[:3, 3] += t * twist[:3]
        return legs.fk(legs.expand(u + t * du), moved)

    for i, limb in enumerate(legs.limb_names):
        speed = legs.jacobian(limb, legs.expand(u), base) @ np.concatenate([twist, du])
        ahead, behind = feet(1e-6)[i], feet(-1e-6)[i]
        np.testing.assert_allclose(speed[:3], (ahead - behind)[:3, 3] / 2e-6, atol=1e-8)
        np.testing.assert_allclose(speed[3:], se3.so3_log(ahead[:3, :3] @ behind[:3, :3].T) / 2e-6, atol=1e-8)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: LimbSet({"a": 3}), "limb 'a' is 3; expected a SerialChain"),
        (
            lambda: LimbSet({"a": SerialChain([Joint("j")])}, {"d": "j"}),
            "common drive 'd' is 'j'; expected a sequence of joints",
        ),
        (
            lambda: LimbSet({"a": SerialChain([Joint("j"), Joint("k")])}, {"k": ["j"]}),
            "'k' is named like a joint",
        ),
        (
            lambda: LimbSet(
                {"a": SerialChain([Joint("j", mimic=Mimic("k"))]), "b": SerialChain([Joint("k", mimic=Mimic("j"))])}
            ),
            "mimics itself",
        ),
        (
            lambda: LimbSet(
                {"a": SerialChain([Joint("j", upper=1)]), "b": SerialChain([Joint("k", lower=2)])}, {"d": ["j", "k"]}
            ),
            "follows drive 'd', but no position",
        ),
    ],
)
def test_bad_sets_of_limbs_are_refused(make, words):
    with pytest.raises(InvalidChainError, match=words):
        make()


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda legs: legs.expand([0, 0]), r"u has shape \(2,\); expected \(4,\)"),
        (lambda legs: legs.expand([0, 0, 0, np.nan]), "u is .*; expected finite"),
        (lambda legs: legs.fk(np.zeros(5), np.eye(3)), r"T_world_base has shape \(3, 3\)"),
        (lambda legs: legs.fk(np.zeros(5), 2 * np.eye(4)), "T_world_base holds no rotation"),
        (lambda legs: legs.jacobian("front", "x"), "q is 'x'; expected 5 numbers"),
    ],
)
def test_bad_arguments_of_sets_of_limbs(call, words):
    with pytest.raises(ShapeError, match=words):
        call(LimbSet.from_yaml(model_path("tripod")))


# ------------------------------------------------------------------------------------------------ YAML
def test_published_poses_of_the_puma_and_the_ur5():
    puma, ur5 = SerialChain.from_yaml(model_path("puma560")), SerialChain.from_yaml(str(model_path("ur5")))
    # Corke, Robotics, Vision and Control, ch. 7: the pose at the nominal angles
    T = puma.fk([0, np.pi / 4, np.pi, 0, np.pi / 4, 0])
    np.testing.assert_allclose(
        T, [[0, 0, 1, 0.5963], [0, 1, 0, -0.1501], [-1, 0, 0, -0.01435], [0, 0, 0, 1]], atol=5e-5
    )
    np.testing.assert_allclose(puma.fk(np.zeros(6))[:3, 3], [0.4521, -0.15005, 0.4318], atol=1e-12)
    # by hand: x = a2 + a3, y = -(d4 + d6), z = d1 - d5 at zero
    np.testing.assert_allclose(ur5.fk(np.zeros(6))[:3, 3], [-0.81725, -0.19145, -0.005491], atol=1e-12)
    np.testing.assert_allclose(ur5.fk([0, -np.pi / 2, 0, -np.pi / 2, 0, 0])[:3, 3], [0, -0.19145, 1.001059], atol=1e-12)
    assert np.degrees(puma.lower).round(9).tolist() == [-160, -45, -225, -110, -100, -266]
    np.testing.assert_allclose(ur5.velocity, np.pi)
    assert ur5.base == "base" and ur5.tip == "tool0" and "standard" in str(puma)
    one = dh_chain([(90, 0, 0, 0.089159), (0, -0.425, 0, 0)], "x")
    np.testing.assert_allclose(ur5.frames(np.full(6, 0.3))[1], one.fk([0.3, 0.3]), atol=1e-14)


def test_models_of_the_package_load_and_name_their_source():
    assert set(model_names()) >= {"gripper", "puma560", "tripod", "ur5"}
    for name in model_names():
        text = Path(model_path(name)).read_text(encoding="utf-8")
        assert load_model(text) == load_model(model_path(name)) and "source:" in text
    with pytest.raises(UnknownNameError, match="no model 'ur99'; there are arm4, gripper, puma560"):
        model_path("ur99")


def test_units_kinds_and_links_of_yaml():
    legs = load_model(model_path("tripod"))
    hip, slide = legs.limb("front").joints[:2]
    np.testing.assert_allclose(hip.origin[:3, 3], [0.1, 0, 0])
    assert (hip.upper, hip.velocity) == (math.radians(60), math.radians(90))
    assert slide.upper == 0.04 and slide.mimic.offset == 0.02
    # 0.25 mm per degree: at 60 deg 15 mm more than at rest
    assert slide.mimic.ratio * math.radians(60) == pytest.approx(0.015)
    assert (
        legs.drive_names == ("front_hip", "left_hip", "telescopes", "right_hip")
        and legs.limb("left").tip == "left_foot"
    )
    tree = load_model(model_path("gripper"))
    assert isinstance(tree, KinematicTree) and tree.joint_names == ("lift", "pan", "left")
    text = Path(model_path("gripper")).read_text(encoding="utf-8")
    chain = SerialChain.from_yaml(text + "tip: left_finger\nbase: carriage\n")
    assert chain.joint_names == ("pan", "left") and (chain.base, chain.tip) == ("carriage", "left_finger")
    hand = LimbSet.from_yaml(text + "limbs: {l: {tip: left_finger}, r: {tip: right_finger, base: palm}}\nbase: palm\n")
    assert hand.drive_names == ("left",) and hand.limb_names == ("l", "r")


@pytest.mark.parametrize("load, name", [(load_chain, "ur5"), (load_limbs, "tripod"), (load_tree, "gripper")])
def test_a_model_of_another_kind_is_refused(load, name):
    assert load(model_path(name)) == load_model(model_path(name))
    for other in {"ur5", "tripod", "gripper"} - {name}:
        made = type(load_model(model_path(other))).__name__
        with pytest.raises(InvalidYamlError, match=f"the model makes a {made}; expected a"):
            load(model_path(other))


DH = "name: r\ndh:\n  - {alpha: 0, a: 1}\n"


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "the model is .*; expected a mapping"),
        ("[1, 2]\n", "expected a mapping"),
        ("name: [\n", "no YAML"),
        ("a: &a [*a]\n", "no YAML"),
        ("name: r\n--- \nname: s\n", "no YAML"),
        ("name: !!python/object:os.system {}\n", "no YAML|expected a word"),
        ("dh: []\n", "has no name"),
        ("name:\ndh: []\n", "name of the model is ''; expected a word"),
        ("name: r\n", "expected either dh or joints"),
        (DH + "joints: []\n", "either dh or joints, not both"),
        ("name: r\ndh: []\n", "no joints"),
        ("name: r\ndh: {}\n", "dh of the model is {}; expected a list"),
        (DH + "rows: 3\n", "unknown key 'rows'; expected one of name, source"),
        (DH + "name: s\n", "key 'name' stands twice"),
        (DH.replace("a: 1", "a: 1, a: 2"), "key 'a' stands twice"),
        (DH.replace("a: 1", "beta: 1"), "item 0 of dh of the model: unknown key 'beta'"),
        (DH.replace(", a: 1", ""), "item 0 of dh of the model: has no a"),
        (DH.replace("a: 1", "a: one"), "a of item 0 of dh of the model is 'one'; expected a finite number"),
        (DH.replace("a: 1", "a: .nan"), "a of item 0 .* expected a finite number"),
        (DH.replace("a: 1", "a: inf"), "expected a finite number"),
        (DH.replace("a: 1", "a: 1e7"), "a in row 0 of the table is 1e7|within"),
        (DH.replace("a: 1", "a: [1]"), "expected a finite number"),
        (DH.replace("a: 1", "a: 1, kind: ball"), "kind of item 0 .* is 'ball'; expected one of revolute"),
        (DH.replace("a: 1", "a: 1, lower: 1, upper: 0"), "limits of joint 'joint_0' are 1.0 .. 0.0"),
        (DH.replace("a: 1", "a: 1, mimic: x"), "mimic of item 0 .* is 'x'; expected a mapping"),
        (DH.replace("a: 1", "a: 1, mimic: {ratio: 2}"), "has no joint"),
        (DH.replace("a: 1", "a: 1, mimic: {joint: joint_0}"), "mimics itself"),
        (DH + "convention: hartenberg\n", "convention of the model is 'hartenberg'; expected one of standard"),
        (DH + "units: {length: inch}\n", "length of units of the model is 'inch'; expected one of m, mm"),
        (DH + "units: m\n", "units of the model is 'm'; expected a mapping"),
        (DH + "common: {x: [joint_0]}\n", "common: expected only beside limbs"),
        ("name: r\njoints: [{xyz: [0, 0]}]\n", r"xyz of item 0 of joints of the model is \['0', '0'\]; expected three"),
        ("name: r\njoints: [{axis: [0, 0, 0]}]\n", "item 0 of joints .*axis of joint 'joint_0'"),
        ("name: r\njoints: [{parent: a}]\n", "item 0 .* expected parent and child in every joint"),
        ("name: r\njoints: [{parent: a, child: b}, {name: c}]\n", "item 1 .* expected parent and child"),
        ("name: r\njoints: [{parent: a, child: a}]\n", "loop"),
        ("name: r\njoints: [{parent: a, child: b}]\ntip: c\n", "no link 'c'; it has a, b"),
        ("name: r\njoints: [{kind: fixed, mimic: {joint: x}}]\n", "a fixed joint follows no other"),
        ("name: r\nlimbs: {}\n", "at least one limb"),
        ("name: r\nlimbs: {a: {tip: x}}\n", "a: expected either dh or joints"),
        ("name: r\nlimbs: {a: 3}\n", "a of limbs of the model is '3'; expected a mapping"),
        ("name: r\nlimbs: {a: {joints: [{parent: x, child: y}]}}\n", "expected none of them in a limb"),
        ("name: r\ndh: []\nlimbs: {a: {}}\n", "dh: expected inside the limbs"),
        ("name: r\njoints: [{parent: a, child: b}]\nlimbs: {x: {base: a}}\n", "x of limbs of the model: has no tip"),
        ("name: r\ndh: " + "[" * 3000 + "\n", "nested too deeply|no YAML"),
        ("name: r\ndh: " + "[" * 3000 + "]" * 3000 + "\n", "nested too deeply"),
        ("nowhere.yaml", "neither text of that kind nor the path of a file"),
        (3, "of type int; expected text or a path"),
        (None, "of type NoneType"),
        (Path("/nowhere/x.yaml"), "cannot be read from"),
        ("name: r\x00\n", "no YAML"),
    ],
)
def test_broken_yaml_is_refused(text, words):
    with pytest.raises(InvalidYamlError, match=words):
        load_model(text)


def test_a_model_of_another_kind_is_named():
    with pytest.raises(InvalidYamlError, match="makes a LimbSet; expected a serial chain"):
        SerialChain.from_yaml(model_path("tripod"))
    with pytest.raises(InvalidYamlError, match="makes a KinematicTree; expected a set of limbs"):
        LimbSet.from_yaml(model_path("gripper"))
    with pytest.raises(InvalidYamlError, match="makes a SerialChain; expected a tree"):
        KinematicTree.from_yaml(model_path("ur5"))


# ------------------------------------------------------------------------------------------------ URDF by file
TWO_LINKS = """<robot name="two"><link name="base"/><link name="arm"/><link name="tip"/>
<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>
<joint name="hold" type="fixed"><parent link="arm"/><child link="tip"/><origin xyz="0.1 0 0"/></joint></robot>"""


def test_urdf_is_read_from_text_and_file(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(TWO_LINKS, encoding="utf-8")
    trees = [load_urdf(TWO_LINKS), load_urdf(path), load_urdf(str(path)), KinematicTree.from_urdf(path)]
    assert all(tree == trees[0] for tree in trees)
    assert SerialChain.from_urdf(path, "base", "tip") == trees[0].chain("base", "tip")
    for source, words in (
        (tmp_path / "gone.urdf", "cannot be read"),
        (str(tmp_path / "gone.urdf"), "neither text of that kind nor the path"),
        (tmp_path, "cannot be read"),
        (b"<robot/>", "of type bytes; expected text or a path"),
    ):
        with pytest.raises(InvalidUrdfError, match=words):
            load_urdf(source)
    path.write_bytes(b"\xff\xfe<robot/>")
    with pytest.raises(InvalidUrdfError, match="cannot be read .* UTF-8"):
        load_urdf(path)
