# SPDX-License-Identifier: MIT
"""The URDF loader: what it reads, what it refuses and in which words."""

from __future__ import annotations

import numpy as np
import pytest

from robot_mechanics import SerialChain, load_urdf
from robot_mechanics.errors import InvalidChainError, InvalidUrdfError, UnknownNameError
from shellbot_kinematics import ShellbotModel

LINKS = '<link name="a"/><link name="b"/><link name="c"/>'
SLIDE = (
    '<joint name="slide" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="0 0 2"/>'
    '<limit lower="0" upper="0.1" velocity="1" effort="2"/><mimic joint="turn" multiplier="-2" offset="0.5"/></joint>'
)
TURN = (
    '<joint name="turn" type="continuous"><parent link="a"/><child link="b"/>'
    '<origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/></joint>'
)


def robot(*parts):
    return "<robot name='r'>" + "".join(parts) + "</robot>"


def test_reads_kinds_limits_defaults_and_mimic():
    tree = load_urdf(robot(LINKS, TURN, SLIDE))
    turn, slide = tree.joints["turn"], tree.joints["slide"]
    assert tree.root == "a" and turn.kind == "revolute" and np.isinf(turn.upper)
    np.testing.assert_array_equal(turn.axis, [1, 0, 0])  # the URDF's default
    np.testing.assert_array_equal(slide.axis, [0, 0, 1])
    assert (slide.lower, slide.upper, slide.velocity, slide.effort) == (0, 0.1, 1, 2)
    assert (slide.mimic.joint, slide.mimic.ratio, slide.mimic.offset) == ("turn", -2, 0.5)


def test_chain_of_it():
    chain = SerialChain.from_urdf(robot(LINKS, TURN, SLIDE), "a", "c")
    assert chain.joint_names == ("turn",)  # the slide follows it: 0.5 - 2 turn, within 0 .. 0.1
    np.testing.assert_allclose((chain.lower, chain.upper), ([0.2], [0.25]), atol=1e-15)
    assert chain.velocity[0] == 0.5
    # by hand: the base's yaw of 90 deg, a turn about its x, then 0.06 along z
    np.testing.assert_allclose(chain.fk([0.22])[:3, 3], [1 + 0.06 * np.sin(0.22), 0, 0.06 * np.cos(0.22)], atol=1e-12)


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "well-formed"),
        ("<?xml version='1.0' encoding='klingon'?><robot/>", "well-formed"),
        ("<?xml version='1.0' encoding='utf-16-le'?><robot/>", "well-formed"),
        ("<robot name='\ud800'/>", "well-formed"),
        ("<robot>", "well-formed"),
        ("<sdf/>", "expected <robot>"),
        (robot(), "no <link>"),
        (robot(LINKS), "one root link"),
        (robot(LINKS, '<link name="a"/>', TURN, SLIDE), "twice"),
        (robot(LINKS, TURN, TURN, SLIDE), "defined twice"),
        (robot(LINKS, TURN, SLIDE.replace('"c"', '"b"')), "several joints"),
        (robot(LINKS, TURN, SLIDE.replace('"c"', '"z"')), "child link 'z'"),
        (robot(LINKS, TURN, SLIDE.replace("prismatic", "planar")), "type 'planar'"),
        (robot(LINKS, TURN, SLIDE.replace('"0 0 2"', '"0 0"')), "three finite"),
        (robot(LINKS, TURN, SLIDE.replace('"0 0 2"', '"0 0 0"')), "axis of joint 'slide'"),
        (robot(LINKS, TURN, SLIDE.replace('"0.1"', '"nan"')), "upper='nan'"),
        (robot(LINKS, TURN, SLIDE.replace('"0.1"', '"-1"')), "lower <= upper"),
        (robot(LINKS, TURN, SLIDE.replace('joint="turn"', 'joint="gone"')), "'gone'"),
        (robot(LINKS, TURN.replace("1 0 0", "1 x 0"), SLIDE), "three finite"),
        (robot(LINKS, TURN.replace('name="turn"', ""), SLIDE), "has no name"),
        (robot(LINKS, TURN.replace('"a"', '"c"'), SLIDE), "loop|one root"),
        (robot(LINKS, TURN, SLIDE.replace('<limit lower="0" upper="0.1" velocity="1" effort="2"/>', "")), "no <limit>"),
    ],
)
def test_broken_descriptions_are_refused(text, words):
    with pytest.raises(InvalidUrdfError, match=words):
        load_urdf(text)


def test_unknown_and_unconnected_links():
    text = robot(LINKS, TURN, SLIDE)
    with pytest.raises(UnknownNameError, match="no link 'd'"):
        SerialChain.from_urdf(text, "a", "d")
    with pytest.raises(InvalidChainError, match="not below"):
        SerialChain.from_urdf(text, "c", "a")


def test_cut_descriptions_never_crash(urdf, rng):
    """Fuzz: text cut or with characters changed is refused by our own errors, or still describes the robot."""
    for _ in range(60):
        i = int(rng.integers(0, len(urdf)))
        broken = urdf[:i] if rng.random() < 0.5 else urdf[:i] + chr(int(rng.integers(33, 127))) + urdf[i + 1 :]
        try:
            assert ShellbotModel(broken).n == 36
        except InvalidChainError:
            pass
        except UnknownNameError:
            pass


def test_robot_without_a_leg_is_refused(urdf):
    for old, words in (
        ("lower_4_tibia", "lower_4_tibia"),
        ("lower_2_foot", "lower_2_foot"),
        ("upper_6_shell", "upper_6_shell"),
    ):
        with pytest.raises((InvalidChainError, UnknownNameError), match=words):
            ShellbotModel(urdf.replace(f'"{old}"', '"renamed"'))


def test_leg_with_a_skew_axis_is_refused(urdf):
    tree = load_urdf(urdf)
    assert tree.joints["lower_1_coxa"].axis[2] == 1.0
    start = urdf.index('name="lower_1_coxa"')
    end = urdf.index("</joint>", start)
    skew = urdf[:start] + urdf[start:end].replace('<axis xyz="0 0 1"', '<axis xyz="0 0.1 1"') + urdf[end:]
    with pytest.raises(InvalidChainError, match="parallel"):
        ShellbotModel(skew)
