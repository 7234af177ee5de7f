# SPDX-License-Identifier: MIT
"""Shellbot as a robot of the general library: its description as tree, sets of limbs and YAML."""

from __future__ import annotations

import math

import numpy as np
import pytest

import shellbot_description as description
from robot_mechanics import LimbSet, load_urdf
from robot_mechanics.errors import InvalidUrdfError
from robot_mechanics.motion import se3
from shellbot_kinematics import LIMBS, Frame


@pytest.mark.parametrize("variant, n", [("simulation", 36), ("full", 31), ("walker", 24)])
def test_tree_of_shellbot_is_its_chains(variant, n, rng):
    tree = load_urdf(description.expand(variant))
    assert tree.n == n and set(tree.joint_names) <= set(description.driven_joint_names(variant))
    q = rng.uniform(-1, 1, n)
    own = dict(zip(tree.joint_names, q))
    poses = dict(zip(tree.links, tree.fk(q)))
    for link in ("lower_2_foot", "lower_6_sphere_centre", "lower_1_gore_link"):
        chain = tree.chain("base_link", link)
        values = [own.get(name, own["lower_1_fan"]) for name in chain.joint_names]  # in `full` fan 1 leads the others
        np.testing.assert_allclose(poses[link], chain.fk(values), atol=1e-14)
        J = tree.jacobian(link, q)
        for i, name in enumerate(chain.joint_names):
            at = tree.joint_names.index(name if name in own else "lower_1_fan")
            np.testing.assert_allclose(J[:, at], chain.jacobian(values)[:, i], atol=1e-14)
    assert "lower_3_tibia" in str(tree) and len(str(tree).splitlines()) == len(tree.links)


def test_full_variant_has_nineteen_drives_below(rng):
    tips = {f"lower_{k}": f"lower_{k}_foot" for k in range(1, 7)}
    by_mimic = LimbSet.from_urdf(description.expand("full"), "base_link", tips)
    assert len(by_mimic.drive_names) == 19
    u = rng.uniform(-0.3, 0.3, 19)
    fans = by_mimic.expand(u)[::4]
    assert set(fans) == {u[0]}


def test_six_legs_are_one_leg_turned(model, rng):
    turn = se3.se3_exp([0, 0, 0, 0, 0, np.pi / 3])
    for frame, limbs in ((Frame.FOOT, LIMBS[:6]), (Frame.SPHERE_CENTRE, LIMBS[:6]), (Frame.SPHERE_CENTRE, LIMBS[6:])):
        q = rng.uniform(-2, 2, model.chain(limbs[0], frame).n)
        for one, following in zip(limbs, limbs[1:]):
            a, b = model.chain(one, frame), model.chain(following, frame)
            np.testing.assert_allclose(turn @ a.fk(q), b.fk(q), atol=1e-14)
            np.testing.assert_allclose(np.kron(np.eye(2), turn[:3, :3]) @ a.jacobian(q), b.jacobian(q), atol=1e-14)
            np.testing.assert_allclose(a.jacobian(q, "local"), b.jacobian(q, "local"), atol=1e-14)
            assert a.manipulability(q, "translation") == pytest.approx(b.manipulability(q, "translation"), abs=1e-15)


def test_closed_ball_brings_all_sphere_centres_together(model):
    """Angles of the study, rounded to 0.01 deg: yaw sum -72 deg, pitch sum 240 deg, every centre in the body's."""
    lower, upper = np.radians([-118.48, 46.48, 130, 110]), np.radians([-26.69, 131.69])
    for k in range(6):
        T = model.chain(LIMBS[k], Frame.SPHERE_CENTRE).fk(lower)
        assert np.linalg.norm(T[:3, 3]) < 2e-4
        foot = model.chain(LIMBS[k], Frame.FOOT).fk(lower)[:3, :3]
        # the shank lies in the leg's vertical plane at yaw 60 k - 72 deg, pitched down by 240 deg
        yaw, pitch = math.radians(60 * k - 72), math.radians(240)
        expected = [math.cos(yaw) * math.cos(pitch), math.sin(yaw) * math.cos(pitch), -math.sin(pitch)]
        np.testing.assert_allclose(foot[:, 0], expected, atol=1e-9)
    for limb in LIMBS[6:]:
        assert np.linalg.norm(model.chain(limb, Frame.SPHERE_CENTRE).fk(upper)[:3, 3]) < 2e-4


def test_shellbot_by_yaml_is_shellbot(lower_legs, rng):
    variables = description.load_variables()
    lines = ["name: shellbot", "limbs:"]
    for k in range(1, 7):
        lines.append(f"  lower_{k}: {{dh: [")
        for row in description.dh_table_lower(variables, k):
            values = ", ".join(f"{key}: {getattr(row, key)!r}" for key in ("alpha", "a", "theta", "d", "kind", "name"))
            lines.append(f"    {{{values}}},")
        lines.append("  ]}")
    lines.append("common: {fan: [" + ", ".join(f"lower_{k}_fan" for k in range(1, 7)) + "]}")
    legs = LimbSet.from_yaml("\n".join(lines))
    q = rng.uniform(-3, 3, 24)
    np.testing.assert_allclose(legs.fk(q), lower_legs.fk(q), atol=1e-12)
    assert legs.drive_names == lower_legs.drive_names


@pytest.mark.parametrize("variant", ["simulation", "full", "walker"])
def test_a_description_cut_or_with_a_wrong_character_is_refused_or_read(variant, rng):
    text = description.expand(variant)
    for at in rng.integers(0, len(text), 20):
        for changed in (text[:at], text[:at] + chr(rng.integers(1, 0x250)) + text[at + 1 :]):
            try:
                tree = load_urdf(changed)
            except InvalidUrdfError as error:
                assert str(error)
            else:
                assert np.isfinite(tree.fk(np.zeros(tree.n))).all(), f"cut or changed at {at}"
