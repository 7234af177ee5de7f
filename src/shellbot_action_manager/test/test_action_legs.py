# SPDX-License-Identifier: MIT
"""Leg geometry, body pose and walkspace against the kinematics library and against brute force."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from shellbot_action_manager.body.body_pose import (
    PoseLimits,
    approach,
    feet_in_base,
    feet_in_walk,
)
from shellbot_action_manager.body.geometry import load_geometry
from shellbot_action_manager.body.pose_range import clamp_pose, obstacle, pose_ranges
from shellbot_action_manager.config import load_config
from shellbot_action_manager.gait.gait_table import SlipScale
from shellbot_action_manager.gait.walking import LEG_AZIMUTH, advance, neutral_feet, standing_at
from shellbot_action_manager.gait.walkspace import acceleration_limits, find_reach, scale_twist, speed_limits
from shellbot_description import expand, named_pose_array
from shellbot_kinematics.solver import ShellbotSolver

UNCAPPED = (5.0, 5.0, 5.0)
MARGIN = 0.05


@pytest.fixture(scope="module")
def geometry():
    return load_geometry()


@pytest.fixture(scope="module")
def config():
    return load_config()


def random_feet(rng, count):
    feet = np.zeros((6, count, 3))
    feet[..., :2] = neutral_feet(0.28)[:, None, :] + rng.uniform(-0.04, 0.04, (6, count, 2))
    feet[..., 2] = rng.uniform(-0.19, -0.13, (6, count))
    return feet


def test_forward_undoes_solve(geometry):
    feet = random_feet(np.random.default_rng(0), 200)
    q = geometry.legs.solve(feet)
    for i in range(200):
        q_lower = np.column_stack((np.zeros(6), q[:, i]))
        assert geometry.legs.forward(q_lower) == pytest.approx(feet[:, i], abs=1e-12)


def test_feet_agree_with_the_kinematics_library(geometry):
    solver = ShellbotSolver(expand("simulation"))
    rng = np.random.default_rng(1)
    limits = np.vstack(([[-0.5, 0.05]], geometry.legs.limits))
    for _ in range(50):
        q_lower = rng.uniform(limits[:, 0], limits[:, 1], (6, 4))
        q = np.concatenate((q_lower.ravel(), np.zeros(12)))
        assert geometry.legs.forward(q_lower) == pytest.approx(solver.fk_feet(q), abs=1e-6)


def test_stand_is_the_stand_of_the_description(geometry):
    q = geometry.legs.solve(np.hstack((neutral_feet(0.270), np.full((6, 1), -0.1623)))[:, None, :])[:, 0]
    stand = named_pose_array("stand")[:24].reshape(6, 4)[:, 1:]
    assert q == pytest.approx(stand, abs=1e-4)
    assert np.degrees(q[0]) == pytest.approx([-16.8, -9.4, 110.2], abs=0.1)  # the study


def test_out_of_reach_is_nan_and_said_in_words(geometry):
    feet = np.hstack((neutral_feet(0.5), np.full((6, 1), -0.16)))
    q = geometry.legs.solve(feet[:, None, :])[:, 0]
    assert np.isnan(q[:, 1:]).all()
    assert not geometry.legs.reachable(feet)
    assert "out of reach" in geometry.legs.explain(q)
    low = np.hstack((neutral_feet(0.270), np.full((6, 1), -0.113)))
    assert "tibia would go to" in geometry.legs.explain(geometry.legs.solve(low[:, None, :])[:, 0])


def test_a_flat_shank_is_named_only_for_feet_that_stand(geometry):
    legs = dataclasses.replace(geometry.legs, shank_min=1.02)
    far = np.hstack((neutral_feet(0.37), np.full((6, 1), -0.1623)))
    assert legs.reachable(far)
    assert legs.reachable(far, np.zeros(6, dtype=bool))
    assert not legs.reachable(far, np.arange(6) == 2)
    q = legs.solve(far[:, None, :])[:, 0]
    assert legs.explain(q) == ""
    assert legs.explain(q, stands=True) == "the shell of lower_1 would touch the ground"


def test_pose_round_trip_and_direction_of_tilt():
    rng = np.random.default_rng(2)
    for _ in range(20):
        pose, feet = rng.uniform(-0.2, 0.2, 6), rng.uniform(-0.3, 0.3, (6, 3))
        assert feet_in_walk(feet_in_base(feet, pose, 0.16), pose, 0.16) == pytest.approx(feet, abs=1e-12)
    # nose down (positive pitch): the front foot comes nearer to the body, the rear foot goes away from it
    feet = feet_in_base(np.hstack((neutral_feet(0.27), np.zeros((6, 1)))), np.array([0, 0, 0, 0, 0.1, 0.0]), 0.16)
    assert feet[0, 2] > -0.16 + 0.02
    assert feet[3, 2] < -0.16 - 0.02


def test_pose_approach_respects_rate_and_acceleration_and_does_not_overshoot():
    limits = PoseLimits(0.08, 0.5, 0.4, 2.5)
    pose, rate, goal = np.zeros(6), np.zeros(6), np.array([0.03, -0.02, 0.04, 0.2, -0.1, 0.0])
    arrived = False
    for _ in range(300):
        new, new_rate = approach(pose, rate, goal, limits, 0.01)
        assert (np.abs(new_rate) <= limits.rate + 1e-12).all()
        if not (new == goal).any():
            assert (np.abs(new_rate - rate) <= limits.acceleration * 0.01 + 1e-12).all()
        assert (np.abs(new) <= np.abs(goal) + 1e-6).all()
        pose, rate = new, new_rate
        arrived = bool((pose == goal).all())
        if arrived:
            break
    assert arrived
    assert not rate.any()


def test_limits_reach_the_speed_of_the_issue(geometry, config):
    gait = config.gaits["tripod"]
    reach = find_reach(geometry.legs, gait, np.zeros(6), MARGIN)
    speed = speed_limits(reach, gait)
    assert speed[0] == pytest.approx(0.40)
    assert (acceleration_limits(speed, gait, 0.6) > 0.0).all()
    low = find_reach(geometry.legs, gait, np.array([0, 0, -0.025, 0.05, 0, 0]), MARGIN)
    uncapped = dataclasses.replace(gait, speed_cap=UNCAPPED)
    assert speed_limits(low, uncapped)[0] < speed_limits(reach, uncapped)[0]


def test_limits_follow_from_stride_duty_and_period(geometry, config):
    changes = {"stride_limit": 0.05, "slip_scale": SlipScale(1.0, 1.0, 1.0), "speed_cap": UNCAPPED}
    gait = dataclasses.replace(config.gaits["tripod"], **changes)
    reach = find_reach(geometry.legs, gait, np.zeros(6), MARGIN)
    speed = speed_limits(reach, gait)
    longest = 0.05 / (gait.duty_factor * gait.period_fast)
    assert speed == pytest.approx([longest, longest, longest / gait.stance_radius])
    wide = dataclasses.replace(gait, stride_limit=0.2)  # now the legs decide: 45 to 75 mm each way
    assert longest * 1.7 < speed_limits(reach, wide)[0] < longest * 3.1


def test_scaling_keeps_the_direction_and_leaves_small_twists_alone(geometry, config):
    gait, rng = config.gaits["tripod"], np.random.default_rng(4)
    reach = find_reach(geometry.legs, gait, np.zeros(6), MARGIN)
    speed = speed_limits(reach, gait)
    for _ in range(500):
        twist = rng.normal(size=3) * rng.uniform(0.01, 2.0)
        scaled, usage = scale_twist(twist, reach, gait, speed)
        share = scaled[0] / twist[0]
        assert scaled == pytest.approx(share * twist, rel=1e-12)
        assert 0.0 < share <= 1.0
        assert usage <= 1.0 + 1e-12
        if share == 1.0:
            assert (np.abs(twist) <= speed + 1e-12).all()
    small = np.array([0.01, 0.0, 0.02])
    assert (scale_twist(small, reach, gait, speed)[0] == small).all()


def test_no_foot_leaves_its_reach_at_random_scaled_twists(geometry, config):
    """Every steady walk within the limits, in every direction, stays inside the joint limits."""
    gait, rng = config.gaits["tripod"], np.random.default_rng(5)
    reach = find_reach(geometry.legs, gait, np.zeros(6), MARGIN)
    speed = speed_limits(reach, gait)
    for _ in range(40):
        twist, usage = scale_twist(rng.normal(size=3) * 3.0, reach, gait, speed)
        state = standing_at(neutral_feet(gait.stance_radius))
        for tick in range(110):
            state = advance(state, gait, 0.01, twist, usage, commanded=True)
            if tick < 50:  # the first stance begins in the middle; the core gets there with limited acceleration
                continue
            feet = feet_in_base(state.p_feet, np.zeros(6), gait.stance_height)
            assert geometry.legs.reachable(feet), (
                f"twist {twist}: {geometry.legs.explain(geometry.legs.solve(feet[:, None])[:, 0])}"
            )


def test_body_pose_is_shortened_with_its_direction_and_the_limit_is_named(geometry, config):
    gait = config.gaits["tripod"]
    wanted = np.array([0.03, 0.0, -0.03, 0.2, 0.2, 0.0])
    pose, text = clamp_pose(wanted, config, geometry.legs, gait, walking=True)
    assert pose[0] / wanted[0] == pytest.approx(pose[3] / wanted[3])
    assert 0.0 < pose[0] < wanted[0]
    assert text.startswith("body pose limited to")
    assert "lower_" in text
    assert "rad" in text
    assert not obstacle(pose, config, geometry.legs, gait, walking=True)
    _, text = clamp_pose(pose / 0.97, config, geometry.legs, gait, walking=True)
    assert text.startswith("body pose limited to 90 %"), "what is limited is not at 100 %"


def test_a_limit_is_that_of_a_leg_that_stands(geometry, config):
    """Also where legs that do not stand are the first, and would be in the way themselves."""
    idle, named = np.array([True, False, True, False, False, False]), set()
    for commanded in np.random.default_rng(2).uniform(-1.0, 1.0, (40, 6)) * (0.06, 0.06, 0.05, 0.4, 0.4, 0.4):
        _, text = clamp_pose(commanded, config, geometry.legs, config.gaits["tripod"], walking=False, idle=idle)
        named.update(re.findall(r"lower_(\d)", text))
    assert named and named <= {"2", "4", "5", "6"}, named


def test_body_pose_outside_the_box_and_nan_are_answered_in_words(geometry, config):
    gait = config.gaits["tripod"]
    pose, text = clamp_pose(np.array([0, 0, 0.2, 0, 0, 0.0]), config, geometry.legs, gait, walking=False)
    assert pose[2] == config.body.shift_range[2][1]
    assert "height 0.200 is outside -0.030 to 0.050" in text
    pose, text = clamp_pose(np.array([np.nan, 0, 0, 0, 0, 0]), config, geometry.legs, gait, walking=False)
    assert not pose.any()
    assert "not a number" in text


def test_walking_leaves_less_room_to_the_body_than_standing(geometry, config):
    gait = config.gaits["tripod"]
    standing = pose_ranges(config, geometry.legs, gait, walking=False)
    walking = pose_ranges(config, geometry.legs, gait, walking=True)
    assert standing[2][:2] == pytest.approx([0.25, 0.25])
    assert (walking[2] <= standing[2] + 1e-12).all()
    assert walking[2][0] > 0.08


def test_legs_are_in_six_fold_symmetry():
    assert pytest.approx(np.arange(0, 360, 60)) == np.degrees(LEG_AZIMUTH)
