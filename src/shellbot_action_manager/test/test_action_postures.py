# SPDX-License-Identifier: MIT
"""Finding a robot that stands, and keeping every foot within reach on the way."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from shellbot_action_manager.body.body_pose import feet_in_base
from shellbot_action_manager.body.geometry import load_geometry
from shellbot_action_manager.body.postures import find_standing
from shellbot_action_manager.body.rising import plan_rise
from shellbot_action_manager.config import load_config
from shellbot_action_manager.gait.walk_engine import WalkEngine
from shellbot_action_manager.gait.walking import neutral_feet

HEIGHT = 0.1623


@pytest.fixture(scope="module")
def config():
    return load_config()


@pytest.fixture(scope="module")
def geometry():
    return load_geometry()


def on_ground(radius=0.27):
    return np.hstack((neutral_feet(radius), np.zeros((6, 1))))


@pytest.mark.parametrize("lifted", [(), (0, 2, 4), (1, 3, 5), (5,)])
def test_height_and_tilt_are_found_from_the_standing_feet(config, lifted):
    pose = np.array([0.0, 0.0, 0.012, 0.06, -0.04, 0.0])
    feet = on_ground()
    feet[list(lifted), 2] = 0.025
    found = find_standing(feet_in_base(feet, pose, HEIGHT), 0.1, HEIGHT, config.posture)
    assert found.pose == pytest.approx(pose, abs=1e-9)
    assert found.p_walk[:, 2] == pytest.approx(feet[:, 2], abs=1e-9)


def test_sagging_feet_count_as_standing(config):
    feet = on_ground()
    feet[:, 2] = np.random.default_rng(0).uniform(-0.004, 0.004, 6)
    found = find_standing(feet_in_base(feet, np.zeros(6), HEIGHT), 0.0, HEIGHT, config.posture)
    assert (found.p_walk[:, 2] == 0.0).all()
    assert abs(found.pose[2]) < 0.004


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda p: p + [0.0, 0.0, 0.04], "sitting low"),
        (lambda p: p * [1.4, 1.4, 1.0], "legs spread too far"),
        (lambda p: p * [0.5, 0.5, 1.0], "legs under the body"),
        (lambda p: p * [1.0, 1.0, -1.0], "feet above the body"),
        (lambda p: np.where(np.arange(6)[:, None] < 2, p, p + [0, 0, 0.06]), "two feet do not carry the body"),
        (lambda p: p * np.nan, "not a number"),
    ],
)
def test_what_is_not_standing(config, change, why):
    feet = feet_in_base(on_ground(), np.zeros(6), HEIGHT)
    assert find_standing(feet, 0.0, HEIGHT, config.posture) is not None
    assert find_standing(change(feet), 0.0, HEIGHT, config.posture) is None, why


def test_a_robot_on_its_side_does_not_stand(config):
    feet = feet_in_base(on_ground(), np.zeros(6), HEIGHT)
    assert find_standing(feet, 1.2, HEIGHT, config.posture) is None


def test_rise_pushes_straight_when_it_can_and_folds_first_when_not(config, geometry):
    sit = geometry.sit_lower
    direct = plan_rise(sit, HEIGHT, sit, geometry.legs, config.posture)
    assert direct.on_feet
    spread = sit + np.outer([1, 0, 1, 0, 1, 0], [0.0, 0.3, 0.4, 0.0])
    assert not plan_rise(spread, HEIGHT, sit, geometry.legs, config.posture).on_feet
    turned = sit + np.array([-0.5, 0.0, 0.0, 0.0])
    assert not plan_rise(turned, HEIGHT, sit, geometry.legs, config.posture).on_feet


def test_no_joint_jumps_while_rising(config, geometry):
    start = geometry.sit_lower + np.random.default_rng(2).uniform(-0.2, 0.05, (6, 4))
    moves, last, progress = plan_rise(start, HEIGHT, geometry.sit_lower, geometry.legs, config.posture), start, 0.0
    while not moves.done:
        command = moves.step(0.01)
        assert np.abs(command.q - last).max() < 0.04
        assert moves.progress >= progress
        last, progress = command.q, moves.progress
    assert geometry.legs.forward(last)[:, 2] == pytest.approx(-HEIGHT)


@pytest.mark.parametrize("gait", ["tripod", "ripple", "wave", "tetrapod", "sprint"])
def test_standing_feet_never_leave_their_reach_however_hard_the_start(config, geometry, gait):
    """With more acceleration than is good for it the robot goes slower instead of out of reach."""
    wild = dataclasses.replace(config, gait=gait)
    for twist in ([0.4, 0.0, 0.0], [0.0, 0.3, 0.0], [-0.3, 0.2, 1.0]):
        feet = WalkEngine(wild, geometry.legs)
        feet.step(0.01, np.array(twist), np.zeros(6), None)
        feet.limits = dataclasses.replace(feet.limits, max_acceleration=np.array([9.0, 9.0, 30.0]))
        for _ in range(250):
            told = feet.step(0.01, np.array(twist), np.zeros(6), None)
            assert (geometry.legs.margin(told.q[:, 1:])[feet.standing] >= -1e-9).all()
