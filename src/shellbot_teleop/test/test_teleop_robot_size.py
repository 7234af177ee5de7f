# SPDX-License-Identifier: MIT
"""The size of a robot, for the first view of it."""

from __future__ import annotations

import pytest

from shellbot_common import package_file
from shellbot_teleop.orbit import Orbit
from shellbot_teleop.robot_size import reach


def joint(name, parent, child, xyz):
    return f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>{xyz}</joint>'


TREE = "".join(
    (
        joint("a", "base", "one", '<origin xyz="0 3 4"/>'),
        joint("b", "one", "two", '<origin xyz="1 0 0"/>'),
        joint("c", "base", "three", '<origin xyz="0 0 5.5"/>'),
        joint("d", "three", "four", ""),
    )
)


def test_the_reach_is_the_longest_chain_of_joints():
    assert reach(f"<robot>{TREE}</robot>") == pytest.approx(6.0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<robot",
        "<robot/>",
        "<robot><joint/></robot>",
        "<robot>" + joint("a", "b", "c", '<origin xyz="x"/>') + "</robot>",
    ],
)
def test_what_is_no_description_has_none(text):
    assert reach(text) == 0.0


def test_a_circle_of_links_ends():
    assert reach("<robot>" + TREE + joint("e", "two", "two", "") + "</robot>") == pytest.approx(6.0)


def test_an_arm_is_seen_from_far_enough_and_at_half_its_height():
    arm = reach(package_file("arm_description", "urdf/arm.urdf").read_text(encoding="utf-8"))
    view = Orbit().framing(arm, is_fixed=True)
    assert view.distance == pytest.approx(2.4 * arm) and view.target[2] == pytest.approx(0.4 * arm)
    assert Orbit().framing(0.0, is_fixed=False) == Orbit()
