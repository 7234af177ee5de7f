# SPDX-License-Identifier: MIT
"""Gait: standing feet do not move on the ground, swinging feet start and land at rest on it, the feet come home."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from shellbot_action_manager.body.geometry import load_geometry
from shellbot_action_manager.config import load_config
from shellbot_action_manager.gait.gait_table import load_gaits
from shellbot_action_manager.gait.phase_clock import PhaseClock
from shellbot_action_manager.gait.planar_motion import body_point_after, exp_twist, ground_points_after
from shellbot_action_manager.gait.twist_command import ease_change
from shellbot_action_manager.gait.walk_engine import WalkEngine
from shellbot_action_manager.gait.walk_to import LineWalk
from shellbot_action_manager.gait.walking import advance, is_home, leg_phases, neutral_feet, standing_at

DT = 0.01
TWISTS = [(0.3, 0.0, 0.0), (-0.1, 0.2, 0.0), (0.0, 0.0, 0.8), (0.2, -0.1, -0.6), (0.05, 0.05, 1e-9)]


def gait(name="tripod", **changes):
    return dataclasses.replace(load_gaits()[name], **changes)


def compose(pose, twist, dt):
    """Pose of the body (x, y, yaw) in the world after a tick, by an independent product of matrices."""
    x, y, yaw = exp_twist(np.asarray(twist), dt)
    c, s = math.cos(pose[2]), math.sin(pose[2])
    return np.array([pose[0] + c * x - s * y, pose[1] + s * x + c * y, pose[2] + yaw])


def in_world(pose, points):
    c, s = math.cos(pose[2]), math.sin(pose[2])
    return points @ np.array([[c, s], [-s, c]]) + pose[:2]


def walk(g, twist, ticks, state=None):
    """Walk with perfect references; yields (body pose in the world, state)."""
    state = standing_at(neutral_feet(g.rest_radius)) if state is None else state
    pose = np.zeros(3)
    for _ in range(ticks):
        state = advance(state, g, DT, np.asarray(twist, dtype=float), 0.5, commanded=any(twist))
        pose = compose(pose, twist, DT)
        yield pose, state


@pytest.mark.parametrize("twist", TWISTS)
def test_exp_twist_agrees_with_many_small_steps(twist):
    pose, n = np.zeros(3), 200000
    w = np.asarray(twist)
    angles = w[2] * (np.arange(n) + 0.5) / n
    pose[0] = np.mean(w[0] * np.cos(angles) - w[1] * np.sin(angles))
    pose[1] = np.mean(w[0] * np.sin(angles) + w[1] * np.cos(angles))
    pose[2] = w[2]
    assert exp_twist(w, 1.0) == pytest.approx(pose, abs=1e-10)


@pytest.mark.parametrize("twist", TWISTS)
def test_ground_points_after_is_the_inverse_of_body_point_after(twist):
    points = np.random.default_rng(1).normal(size=(6, 2))
    there = np.array([body_point_after(point, np.asarray(twist), 0.37) for point in points])
    assert ground_points_after(there, np.asarray(twist), 0.37) == pytest.approx(points, abs=1e-12)


@pytest.mark.parametrize("name", ["tripod", "ripple", "wave", "tetrapod", "sprint"])
@pytest.mark.parametrize("twist", TWISTS)
def test_standing_feet_stay_where_they_are_in_the_world(name, twist):
    last, compared = None, 0
    for pose, state in walk(gait(name), twist, 400):
        here = in_world(pose, state.p_feet[:, :2])
        standing = ~state.swinging
        if last is not None:
            both = standing & last[1]
            assert np.abs(here[both] - last[0][both]).max(initial=0.0) < 1e-9
            compared += int(both.sum())
        assert (state.p_feet[standing, 2] == 0.0).all()
        last = (here, standing)
    assert compared > 1000


@pytest.mark.parametrize("twist", TWISTS)
def test_swinging_feet_lift_and_land_at_rest_over_the_ground(twist):
    g = gait(period_slow=2.0, period_fast=1.0)
    previous, peak, landings = None, 0.0, 0
    for pose, state in walk(g, twist, 900):
        here = np.column_stack((in_world(pose, state.p_feet[:, :2]), state.p_feet[:, 2]))
        if previous is not None:
            speed = np.linalg.norm(here - previous[0], axis=1) / DT
            for k in range(6):
                lifted = state.swinging[k] and not previous[1].swinging[k]
                landed = previous[1].swinging[k] and not state.swinging[k]
                landings += landed
                if lifted or landed:
                    assert speed[k] < 0.04, f"foot {k + 1} moves at {speed[k]:.3f} m/s over the ground"
            peak = max(peak, speed.max())
        assert (state.p_feet[:, 2] >= 0.0).all()
        previous = (here, state)
    assert landings > 20
    assert peak > 0.1


@pytest.mark.parametrize("angle", [0.0, 0.5, 1.0])
def test_the_foot_of_the_leg_that_leads_lifts_as_high_as_the_others(angle):
    """At half of the greatest speed, so to the middle of the gait's lifts at creeping and at top speed."""
    engine = WalkEngine(load_config(), load_geometry("walker").legs)
    heights, lift = [], 0.5 * (engine.gait.lift_height + engine.gait.lift_height_fast)
    for _ in range(300):
        engine.step(DT, np.array([0.2 * math.cos(angle), 0.2 * math.sin(angle), 0.0]), np.zeros(6), None)
        heights.append(engine.p_walk[:, 2])
    assert np.max(heights[150:], axis=0) == pytest.approx(np.full(6, lift), rel=0.1)


@pytest.mark.parametrize("name", sorted(load_gaits()))
def test_a_foot_waits_over_its_foothold_before_it_lands(name):
    g, waited = gait(name), []
    for _, state in walk(g, (0.5 * g.stride_limit / g.period_slow, 0.0, 0.0), 600):
        end = (leg_phases(state, g) - g.duty_factor) / (1.0 - g.duty_factor) > 1.0 - state.dwell
        over = np.linalg.norm(state.p_feet[:, :2] - state.p_target, axis=1)
        waited += over[state.swinging & end].tolist()
        assert (state.dwell[state.swinging] > 0.0).all()
    assert len(waited) > 20
    assert max(waited) < 1e-12


def test_a_twist_arrives_from_anywhere_within_acceleration_and_jerk_and_from_rest_without_overshoot():
    rng, most, jerk_time = np.random.default_rng(4), np.array([0.5, 0.4, 1.5]), 0.1
    for trial in range(200):
        is_at_rest = trial % 2 == 0
        twist, rate = (np.zeros(3), np.zeros(3)) if is_at_rest else (rng.normal(size=3), rng.uniform(-1, 1, 3) * most)
        goal = twist + rng.normal(size=3) * rng.choice([1e-4, 1e-2, 0.5])
        begin, ticks = twist, 0
        while (twist != goal).any() or rate.any():
            before = rate
            twist, rate = ease_change(twist, rate, goal, most, jerk_time, DT)
            assert (np.abs(rate) <= most * (1.0 + 1e-9)).all()
            assert (np.abs(rate - before) <= most * DT / jerk_time * (1.0 + 1e-6)).all()
            if is_at_rest:
                assert (np.abs(twist - begin) <= np.abs(goal - begin) + 1e-15).all()
            ticks += 1
        assert ticks < 1200


@pytest.mark.parametrize("then", [0.0, 0.2])
def test_hard_braking_ends_at_rest_whatever_comes_in_the_middle_of_it(then):
    """A zero 0.01 s after it began led the twist through zero and the robot 0.1 to 0.2 m back."""
    for lapsed_ticks in range(1, 15):
        engine, twists = WalkEngine(load_config(), load_geometry("walker").legs), []
        for k in range(160):
            twist = (0.2 if k < 100 else 0.0 if k < 100 + lapsed_ticks else then, 0.0, 0.0)
            engine.step(DT, np.array(twist), np.zeros(6), None, lapsed=100 <= k < 100 + lapsed_ticks)
            twists.append(engine.twist[0])
        assert min(twists) >= 0.0 and min(twists[100:120]) == 0.0, lapsed_ticks
        assert twists[-1] == pytest.approx(then, abs=0.02)


@pytest.mark.parametrize("slow", ["wave", "rough"])
def test_a_change_to_a_slow_gait_while_it_brakes_does_not_lead_it_back(slow):
    """What the quick gait may brake with was led on into the slow one: from zero at 0.3 m/s back at up to 0.37."""
    for wait in range(1, 40, 3):
        engine, twists = WalkEngine(load_config(), load_geometry("walker").legs), []
        engine.set_gait("tripod")
        for k in range(400):
            if k == 150 + wait:
                engine.set_gait(slow)
            engine.step(DT, np.array([0.3 if k < 150 else 0.0, 0.0, 0.0]), np.zeros(6), None)
            twists.append(engine.twist[0])
        assert min(twists) > -1e-3 and twists[-1] == 0.0, wait


def test_a_creeping_robot_stops_where_the_walk_to_a_point_expects_it():
    """`stop_before` knows nothing of the engine: within half a millimetre it is what the engine goes on."""
    engine = WalkEngine(load_config(), load_geometry("walker").legs)
    x, after = 0.0, None
    for k in range(400):
        engine.step(DT, np.array([0.03 if k < 300 else 0.0, 0.0, 0.0]), np.zeros(6), None)
        x += engine.twist[0] * DT
        after = x if k == 299 else after
    expected = LineWalk(1.0, (1.0, 0.0), 0.2).stop_before(tuple(engine.limits.max_acceleration))
    answer = 0.02 * 0.03  # the legs follow later, which the engine does not know
    assert x - after + answer == pytest.approx(expected, abs=0.5e-3)


def test_steady_stance_is_centred_on_the_rest_point():
    g = gait()
    x = [s.p_feet[0, 0] - g.stance_radius for _, s in walk(g, (0.2, 0.0, 0.0), 600) if not s.swinging[0]]
    assert max(x[150:]) == pytest.approx(-min(x[150:]), abs=0.004)


def test_first_tick_after_the_command_changes_standing_and_swinging_feet():
    g = gait()
    rest = standing_at(neutral_feet(g.rest_radius))
    state = advance(rest, g, DT, np.array([0.01, 0.0, 0.0]), 0.03, commanded=True)
    moved = np.abs(state.p_feet - rest.p_feet).max(axis=1)
    assert (moved > 1e-6).all()
    assert list(state.swinging) == [True, False] * 3


@pytest.mark.parametrize("name", ["tripod", "ripple", "wave", "tetrapod", "sprint"])
def test_feet_come_home_after_the_last_command_and_then_nothing_moves(name):
    g = gait(name)
    _, state = list(walk(g, (0.05, 0.02, 0.1), 333))[-1]
    ticks = 0
    while state.active:
        state = advance(state, g, DT, np.zeros(3), 0.0, commanded=False)
        ticks += 1
        assert ticks < 2.0 * g.period_slow / DT
    assert is_home(state, g)
    assert np.isnan(leg_phases(state, g)).all()
    assert advance(state, g, DT, np.zeros(3), 0.0, commanded=False) is state


def test_at_least_three_feet_stand_all_the_time():
    for name in ("tripod", "ripple", "wave", "tetrapod", "sprint"):
        g = gait(name)
        for _, state in walk(g, (0.05, 0.0, 0.1), 500):
            assert (~state.swinging).sum() >= 3


@pytest.mark.parametrize("period", [0.8, 1.2])  # s: a change of tripods falls on a tick
def test_rounding_lets_one_tripod_land_in_the_tick_in_which_the_other_lifts(period):
    clock = PhaseClock(gait("tripod").phase_offset, 0.5)
    for _ in range(2000):
        clock.advance(DT, period)
        assert np.isnan(clock.swing_fraction).sum() == 3


@pytest.mark.parametrize("gait", ["tripod", "ripple", "wave", "tetrapod", "sprint"])
def test_a_command_that_ends_in_mid_swing_moves_no_foot_at_once(gait):
    """The feet come home to a smaller circle than they walk on: a foot in the air turns there, it does not jump."""
    gait, twist = load_gaits()[gait], np.array([0.1, 0.0, 0.0])
    walking, largest = standing_at(neutral_feet(gait.rest_radius)), 0.0
    for _ in range(150):
        walking = advance(walking, gait, DT, twist, 0.5, commanded=True)
        before = walking
        for _ in range(3):
            after = advance(before, gait, DT, np.zeros(3), 0.0, commanded=False)
            speed = np.linalg.norm(after.p_feet - before.p_feet, axis=1) / DT
            largest, before = max(largest, speed[after.swinging].max(initial=0.0)), after
    assert largest < 1.5, "m/s"
