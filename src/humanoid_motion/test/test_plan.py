# SPDX-License-Identifier: MIT
"""Footsteps, the plan of centre of pressure and DCM, swing, feedback and the inputs of a tick."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from humanoid_motion.dcm_plan import backwards, instant
from humanoid_motion.feedback import beyond_band, foothold_change, predicted_error, remaining_time
from humanoid_motion.footsteps import FootstepPlanner, foothold, remaining
from humanoid_motion.interface import Feedback
from humanoid_motion.parameters import WalkError, WalkParameters
from humanoid_motion.planar import LEFT, RIGHT, moved, outwards, seen_from
from humanoid_motion.swing import SwingFoot, lift_height
from humanoid_motion.tick_inputs import TickInputs

P = WalkParameters()
OMEGA = 6.1


def twist_of(message):
    return np.array([message.linear.x, message.linear.y, message.angular.z])


def test_the_plan_solves_the_pendulums_equation_and_ends_on_the_last_foot():
    """Integrated forwards from the planned start, the DCM follows the plan through both parts of the step."""
    zmps = np.array([[0.0, 0.05], [0.05, -0.05], [0.1, 0.05], [0.1, 0.0]])
    plan = instant(0.0, 0.3, 0.08, zmps, 0.3, 0.08, OMEGA)
    dcm, dt = plan.dcm, 1e-5
    for index in range(30000):
        now = instant(index * dt, 0.3, 0.08, zmps, 0.3, 0.08, OMEGA)
        if index % 3000 == 0:
            assert np.allclose(dcm, now.dcm, atol=2e-4)
        dcm = dcm + OMEGA * (dcm - now.zmp) * dt
    assert np.allclose(dcm, plan.dcm_end, atol=5e-4)
    after = backwards(backwards(zmps[-1], zmps[3], zmps[3], 0.22, OMEGA), zmps[2], zmps[3], 0.08, OMEGA)
    middle = backwards(after, zmps[2], zmps[2], 0.22, OMEGA)
    assert np.allclose(plan.dcm_end, backwards(middle, zmps[1], zmps[2], 0.08, OMEGA), atol=1e-12)


@pytest.mark.parametrize("goal", [(1.0, 0.0, 0.0), (0.3, -0.2, 0.6), (-0.2, 0.1, 0.0), (0.0, 0.0, 2.0 * math.pi)])
def test_a_goal_is_met_exactly_within_the_limits_and_feet_never_cross(goal):
    planner, side, goal = FootstepPlanner(P), LEFT, np.array(goal)
    most, feet = np.array([0.2, 0.06, 0.5]), [foothold(np.zeros(3), s, P.foot_distance) for s in (LEFT, RIGHT)]
    for _ in range(300):
        if planner.is_at(goal):
            break
        before = planner.centre.copy()
        planner.step(side, most, goal, P.step_time)
        step = seen_from(before, planner.centre)
        assert abs(step[0]) <= (most[0] + 2 * most[1]) * P.step_time + 1e-9
        feet[side] = foothold(planner.centre, side, P.foot_distance)
        apart = seen_from(feet[1 - side], feet[side])
        assert outwards(side) * apart[1] > 0.08
        assert outwards(side) * apart[2] > -1e-6 or abs(apart[2]) < 0.2  # toes turn out
        side = 1 - side
    assert np.allclose(remaining(planner.centre, goal), 0.0, atol=2e-3)


def test_the_limit_backwards_counts_on_the_way_to_a_goal():
    planner, goal, ahead = FootstepPlanner(WalkParameters(limit_back=0.05)), np.array([-0.3, 0.0, 0.0]), []
    for side in [LEFT, RIGHT] * 30:
        planner.step(side, np.array([0.15, 0.06, 0.5]), goal, P.step_time)
        ahead.append(planner.twist[0])
    assert min(ahead) == pytest.approx(-0.05) and planner.is_at(goal)


def test_a_twist_is_limited_in_size_and_change_and_nonsense_is_a_stop():
    planner = FootstepPlanner(P)
    assert np.all(planner.limited(np.array([math.nan, 0.1, 0.1])) == 0.0)
    for corner in ([0.25, -0.10, 1.05], [25.0, -10.0, 105.0]):
        assert planner.limited(np.array(corner)) == pytest.approx(np.array([0.25, -0.10, 1.05]) / math.sqrt(3.0))
    assert planner.limited(np.array([-9.0, 0.0, 0.0])) == pytest.approx([-0.15, 0.0, 0.0])
    for inside in ([0.25, 0.0, 0.0], [0.0, -0.10, 0.0], [0.0, 0.0, math.radians(60.0)], [0.15, 0.06, -0.5]):
        assert (planner.limited(np.array(inside)) == inside).all()
    assert WalkParameters(limit_ahead=0.0).limited(np.array([0.2, 0.05, 0.0])) == pytest.approx([0.0, 0.05, 0.0])
    planner.step(LEFT, np.array([0.25, 0.0, 0.0]), None, P.step_time)
    assert planner.twist[0] == pytest.approx(P.change_per_step[0])


def test_a_twist_that_is_not_followed_is_named_with_the_limits():
    assert P.objection(np.array([0.25, 0.0, 0.0])) == "" == P.objection(np.array([0.15, 0.06, -0.5]))
    text = P.objection(np.array([0.25, 0.0, -1.05]))
    assert "several axes together" in text and "scaled to ahead 0.18 m/s, sideways 0.00 m/s, turning -0.74" in text
    text = P.objection(np.array([-0.20, 0.0, 2.0]))
    assert "ahead -0.20 m/s (limits -0.15 .. 0.25)" in text and "turning 2.00 rad/s (limits -1.05 .. 1.05)" in text
    assert "sideways 0.00 m/s (limits" not in text
    for nonsense in (math.nan, math.inf):
        assert "the robot stops; give finite numbers" in P.objection(np.array([0.0, nonsense, 0.0]))


def test_the_published_limits_and_acceleration_are_those_of_the_steps():
    convert = pytest.importorskip("humanoid_motion.walk_conversions")
    message, planner = convert.walkspace_message(P), FootstepPlanner(P)
    most, acceleration = twist_of(message.max_velocity), twist_of(message.max_acceleration)
    for axis in np.diag(most):
        assert planner.limited(axis) == pytest.approx(axis) and planner.limited(2.0 * axis) == pytest.approx(axis)
        planner.twist = np.zeros(3)
        planner.step(LEFT, axis, None, P.step_time)
        assert planner.twist == pytest.approx(np.minimum(axis, acceleration * P.step_time))


def test_steps_follow_the_middle_of_a_turn_and_come_back():
    pose = moved(np.array([1.0, 2.0, 0.5]), np.array([0.2, -0.1, 0.8]))
    back = seen_from(pose, np.array([1.0, 2.0, 0.5]))
    assert back[2] == pytest.approx(-0.8)
    assert np.hypot(*back[:2]) == pytest.approx(np.hypot(0.2, 0.1))


def test_the_swing_foot_meets_a_foothold_that_moves_and_obeys_its_top_speed():
    foot, target = SwingFoot(np.zeros(3), 1.0), np.array([0.1, 0.02, 0.3])
    speeds = []
    for tick in range(24):
        if tick == 12:
            target = target + [0.02, 0.01, 0.0]
        foot.advance(target, 0.24 - 0.01 * tick, 0.01)
        speeds.append(float(np.hypot(*foot.velocity[:2])))
    assert np.allclose(foot.pose, target, atol=0.004)
    assert max(speeds) <= 1.0 + 1e-9
    slow = SwingFoot(np.zeros(3), 0.1)
    for tick in range(24):
        slow.advance(target, 0.24 - 0.01 * tick, 0.01)
    assert np.hypot(*slow.pose[:2]) <= 0.1 * 0.24 + 1e-9
    assert lift_height(0.5, 0.03) == 0.03
    assert lift_height(1.2, 0.03) == pytest.approx(0.0)


def test_what_the_sole_can_correct_moves_no_foothold_and_what_it_cannot_does():
    small = predicted_error(np.array([0.005, -0.005]), np.array([0.008, -0.008]), OMEGA, P.dcm_gain, 0.2)
    assert np.all(np.abs(small) < 0.005)
    assert np.all(beyond_band(small, P.step_dead_band) == 0.0)
    large = predicted_error(np.array([0.06, -0.06]), np.array([0.03, -0.03]), OMEGA, P.dcm_gain, 0.2)
    assert large == pytest.approx([0.03 + 0.03 * math.exp(1.22), -0.03 - 0.03 * math.exp(1.22)])
    shift = np.zeros(2)
    for _ in range(20):
        shift += foothold_change(beyond_band(10.0 * large, P.step_dead_band), shift, P.step_gain, P.step_limits, 0.012)
    assert np.abs(shift) == pytest.approx(P.step_limits)


def test_a_step_ends_when_the_error_at_its_end_is_least_for_its_price():
    """Against a search over all times; and the end of a step to the side to which the robot falls comes sooner."""

    def price(time, pressure, dcm, end, weight, nominal):
        error = pressure + (dcm - pressure) * math.exp(OMEGA * time) - end
        late = weight * (math.exp(OMEGA * time) - math.exp(OMEGA * nominal))
        return error @ error + late * late

    rng, times = np.random.default_rng(4), np.linspace(0.0, 0.6, 6001)
    for _ in range(30):
        pressure, dcm, end = rng.normal(0.0, 0.02, (3, 2)) + [[0.0, 0.0], [0.01, 0.04], [0.03, 0.1]]
        left, nominal, weight = rng.uniform(0.05, 0.3), rng.uniform(0.05, 0.3), rng.uniform(0.005, 0.05)
        at_end = pressure + (dcm - pressure) * math.exp(OMEGA * left) - end
        found = remaining_time(at_end, dcm - pressure, left, nominal, OMEGA, weight)
        prices = [price(time, pressure, dcm, end, weight, nominal) for time in times]
        assert found == pytest.approx(times[int(np.argmin(prices))], abs=2e-4)
    lead = np.array([0.0, 0.05])
    assert remaining_time(np.array([0.0, 0.03]), lead, 0.15, 0.15, OMEGA, 0.03) < 0.14
    assert remaining_time(np.array([0.0, -0.03]), lead, 0.15, 0.15, OMEGA, 0.03) > 0.16
    assert remaining_time(np.zeros(2), lead, 0.15, 0.15, OMEGA, 0.03) == pytest.approx(0.15)


MS = 1_000_000  # ns


def test_messages_of_a_tick_come_together_in_any_order_and_the_missing_one_is_known():
    inputs = TickInputs(3)
    assert inputs.add(2, 10 * MS, "c") is None
    assert inputs.add(0, 10 * MS, "a") is None
    assert inputs.silent() == [1]
    assert inputs.add(1, 10 * MS, "b") == ["a", "b", "c"]
    assert inputs.silent() == []
    for stamp in range(20, 10000, 10):
        assert inputs.add(0, stamp * MS, "a") is None
    assert sum(len(topic) for topic in inputs._waiting) <= 3 * 20


def test_in_lock_step_the_message_of_the_tick_before_is_no_substitute():
    inputs = TickInputs(2)
    assert inputs.add(1, 10 * MS, "imu 10") is None
    assert inputs.add(0, 10 * MS, "joints 10") == ["joints 10", "imu 10"]
    assert inputs.add(0, 20 * MS, "joints 20") is None
    assert inputs.silent() == [1]
    assert inputs.add(1, 20 * MS, "imu 20") == ["joints 20", "imu 20"]


def test_sensors_that_count_their_own_ticks_make_one_tick_for_each_stamp_of_the_joints():
    """As in Gazebo: the IMU is 3 ms late and slowly gets later, the joints keep their hundred a second."""
    inputs, ticks = TickInputs(2), []
    events = sorted([(10 * k, 0) for k in range(1, 100)] + [(3 + 11 * k, 1) for k in range(95)])
    for stamp, topic in events:
        found = inputs.add(topic, stamp * MS, stamp)
        if found is not None:
            ticks.append(found)
    assert [joints for joints, _ in ticks] == [10 * k for k in range(1, 100)]
    assert all(abs(joints - imu) < 10 for joints, imu in ticks)


def test_after_a_gap_the_newest_tick_counts_and_the_late_one_is_dropped():
    inputs = TickInputs(2)
    assert inputs.add(0, 10 * MS, "a 10") is None and inputs.add(0, 20 * MS, "a 20") is None
    assert inputs.add(1, 20 * MS, "b 20") == ["a 20", "b 20"]
    assert inputs.add(1, 10 * MS, "b 10") is None


def test_parameters_out_of_range_are_refused_with_their_range():
    with pytest.raises(WalkError, match="step_time is 3"):
        WalkParameters(step_time=3.0)
    for double_support in (0.2, 0.25, 0.3):
        with pytest.raises(WalkError, match="double_support .* leaves less than 0.1 s of the step_time 0.25 s"):
            WalkParameters(step_time=0.25, double_support=double_support)
    with pytest.raises(WalkError, match="foot_distance 0.16 m is not from least_foot_distance"):
        WalkParameters(foot_distance=0.16, greatest_foot_distance=0.12)


@pytest.mark.parametrize("length", [0.0, 1e-200, 1e200, math.nan, 0.5])
def test_an_attitude_that_is_none_is_refused(length):
    good = Feedback(np.zeros(26), (0.0, 0.0, 0.0, 1.0), np.zeros(3), np.zeros((2, 6)))
    good.check(26)
    with pytest.raises(WalkError, match="attitude"):
        replace(good, attitude=(0.0, 0.0, 0.0, length)).check(26)
