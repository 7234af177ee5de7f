# SPDX-License-Identifier: MIT
"""Metrics on synthetic traces whose figures are known."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from shellbot_chain.errors import ChainError, DefinitionError
from shellbot_chain.trace import Trace, TraceRecorder
from shellbot_client.mission import PhaseRecord
from shellbot_client.phases import turn, walk
from shellbot_evaluation.metrics import (
    body_metrics,
    cost_of_transport,
    mechanical_power,
    speed_metrics,
    total_torque,
)
from shellbot_evaluation.phase_metrics import square_metrics, turn_metrics, walk_metrics
from shellbot_evaluation.stats import percentile, spread

NAMES = ("a", "b")


def synthetic(xy, yaw, odom=None, z=None, q=None, dq=None, effort=None, lowest=None):
    """A trace at 100 Hz from arrays; whatever is not given is zero or equal to the truth."""
    m = len(xy)
    yaw = np.broadcast_to(np.asarray(yaw, dtype=float), (m,))
    recorder = TraceRecorder(NAMES)
    for i in range(m):
        recorder.append(
            t=0.01 * i,
            p_world_base=(*xy[i], 0.16 if z is None else z[i]),
            q_world_base=(0.0, 0.0, math.sin(yaw[i] / 2), math.cos(yaw[i] / 2)),
            odom=(*xy[i], yaw[i]) if odom is None else odom[i],
            joint_position=np.zeros(2) if q is None else q[i],
            joint_velocity=np.zeros(2) if dq is None else dq[i],
            joint_effort=np.zeros(2) if effort is None else effort[i],
            joint_target=np.zeros(2),
            contact_truth=np.ones(6, bool),
            contact_estimated=np.ones(6, bool),
            lowest_foot_z=0.0 if lowest is None else lowest[i],
        )
    return recorder.trace()


def score_walk(trace, direction, distance=1.0):
    record = PhaseRecord(walk("w", distance, direction, 0.2), trace.t[0], trace.t[-1] - 1.0, trace.t[-1])
    return walk_metrics(record, trace.truth_path, trace.odom_path)


@pytest.mark.parametrize("heading", [0.0, 1.1, -2.9])
def test_walk_is_scored_in_the_axes_of_the_start_heading(heading):
    s = np.linspace(0.0, 1.0, 601)[:, None]
    end = np.array([0.97, 0.02])
    rotation = np.array([[math.cos(heading), -math.sin(heading)], [math.sin(heading), math.cos(heading)]])
    m = score_walk(synthetic((5.0, -3.0) + (s * end) @ rotation.T, heading), (1.0, 0.0))
    assert (m.walked_m, m.lateral_m) == pytest.approx((0.97, 0.02))
    assert (m.distance_error_percent, m.deviation_percent) == pytest.approx((3.0, 2.0))
    assert (m.duration_s, m.mean_speed_m_s) == pytest.approx((5.0, 0.97 / 5.0))


def test_sideways_walk_counts_left_as_along_and_backward_as_lateral():
    s = np.linspace(0.0, 1.0, 301)[:, None]
    m = score_walk(synthetic(s * (0.03, 1.02), 0.0), (0.0, 1.0))
    assert (m.walked_m, m.lateral_m) == pytest.approx((1.02, -0.03))


def test_greatest_lateral_deviation_on_the_way_is_kept_though_the_end_is_straight():
    s = np.linspace(0.0, 1.0, 301)
    m = score_walk(synthetic(np.stack((s, 0.05 * np.sin(math.pi * s)), axis=1), 0.0), (1.0, 0.0))
    assert (m.max_lateral_m, m.lateral_m) == pytest.approx((0.05, 0.0), abs=1e-5)


def test_odometry_is_reported_beside_the_truth_in_its_own_axes():
    s = np.linspace(0.0, 1.0, 301)
    odom = np.stack((0.0 * s, 1.05 * s, np.full_like(s, math.pi / 2)), axis=1)
    m = score_walk(synthetic(np.stack((s, 0.0 * s), axis=1), 0.0, odom), (1.0, 0.0))
    assert (m.walked_m, m.odometry_m, m.odometry_lateral_m) == pytest.approx((1.0, 1.05, 0.0))


@pytest.mark.parametrize("commanded_deg", [360.0, -270.0])
def test_turn_counts_beyond_half_a_turn(commanded_deg):
    yaw = np.linspace(0.3, 0.3 + math.radians(0.98 * commanded_deg), 800)
    trace = synthetic(np.stack((0.003 * np.linspace(0, 1, 800), np.zeros(800)), axis=1), yaw)
    record = PhaseRecord(turn("t", math.radians(commanded_deg), 0.5), 0.0, 7.0, trace.t[-1])
    m = turn_metrics(record, trace.truth_path, trace.odom_path)
    assert (m.turned_deg, m.angle_error_percent, m.drift_m) == pytest.approx((0.98 * commanded_deg, 2.0, 0.003))


def test_a_square_is_scored_by_its_end_and_by_what_the_odometry_says_of_it():
    s = np.linspace(0.0, 1.0, 601)
    xy, yaw = np.column_stack((0.3 * s, 0.4 * s)), 0.5 + (2.0 * math.pi + 0.1) * s
    turned = np.arctan2(np.sin(yaw), np.cos(yaw))
    trace = synthetic(xy, turned, odom=[(0.0, 0.0, angle) for angle in 0.99 * (turned - turned[0])])
    sides = PhaseRecord(walk("side", 2.0, (1.0, 0.0), 0.2), trace.t[0], trace.t[300], trace.t[300])
    corners = PhaseRecord(turn("corner", 1.0, 1.0), trace.t[300], trace.t[-1], trace.t[-1])
    own = square_metrics([sides, corners], trace.truth_path, trace.odom_path)
    assert own.path_m == 2.0
    assert own.drift_m == own.odometry_error_m == pytest.approx(0.5)
    assert own.odometry_error_percent == pytest.approx(25.0)
    assert own.turned_deg == pytest.approx(360.0 + math.degrees(0.1))


def test_scoring_a_phase_by_the_wrong_kind_or_beyond_the_recording_is_refused():
    trace = synthetic(np.zeros((200, 2)), 0.0)
    record = PhaseRecord(turn("t", 1.0, 0.5), 0.0, 0.5, 1.0)
    with pytest.raises(DefinitionError, match="'t' is no walk"):
        walk_metrics(record, trace.truth_path, trace.odom_path)
    late = PhaseRecord(turn("t", 1.0, 0.5), 0.0, 0.5, 5.0)
    with pytest.raises(ChainError, match=r"covers 0.00\.\.1.99 s, not 0.00\.\.5.00 s"):
        turn_metrics(late, trace.truth_path, trace.odom_path)


def test_body_metrics_report_height_feet_joint_limits_and_effort():
    m = 101
    z = 0.16 + 0.004 * np.sin(np.linspace(0, 2 * math.pi, m))
    q = np.zeros((m, 2))
    q[50] = (0.0, 1.1)  # 0.1 rad beyond the limit of joint b
    effort = np.zeros((m, 2))
    effort[:, 0], effort[7, 1] = 0.5, -1.35
    dq = np.zeros((m, 2))
    dq[:, 0] = 2.0
    lowest = np.zeros(m)
    lowest[3] = -0.0015
    xy = np.stack((np.linspace(0, 1, m), np.zeros(m)), axis=1)
    b = body_metrics(
        synthetic(xy, 0.0, z=z, q=q, dq=dq, effort=effort, lowest=lowest),
        np.array([-1.0, -1.0]),
        np.array([1.0, 1.0]),
        np.array([1.5, 1.8]),
        3.8,
    )
    assert (b.height_band_mm, b.height_deviation_mm) == pytest.approx((8.0, 4.0), abs=1e-3)
    assert b.lowest_foot_mm == pytest.approx(-1.5)
    assert (b.joint_limit_worst, b.joint_limit_excess_deg) == ("b", pytest.approx(math.degrees(0.1)))
    assert b.peak_effort_fraction == pytest.approx(0.75)
    assert b.cost_of_transport == pytest.approx(0.5 * 2.0 * 1.0 / (3.8 * 9.81 * 1.0))


def test_joint_inside_its_limits_has_a_margin_and_no_excess():
    q = np.tile((0.8, -0.2), (10, 1))
    b = body_metrics(synthetic(np.zeros((10, 2)), 0.0, q=q), np.full(2, -1.0), np.ones(2), np.ones(2), 1.0)
    assert (b.joint_limit_excess_deg, b.joint_limit_margin_deg) == (0.0, pytest.approx(math.degrees(0.2)))
    assert math.isnan(b.cost_of_transport)


def test_speed_is_the_best_mean_over_the_window_not_a_peak():
    v = np.concatenate((np.linspace(0, 0.4, 200), np.full(400, 0.4), np.zeros(100)))
    v[300] = 9.0  # one tick of nonsense moves the mean of 3 s by 0.029 m/s only
    x = np.cumsum(v) * 0.01
    s = speed_metrics(synthetic(np.stack((x, 0 * x), axis=1), 0.0), 3.0)
    assert s["speed_m_s"] == pytest.approx(0.4 + 8.6 * 0.01 / 3.0, abs=1e-3)
    with pytest.raises(DefinitionError, match="does not fit the run"):
        speed_metrics(synthetic(np.zeros((50, 2)), 0.0), 3.0)


def test_trace_file_round_trip_and_window(tmp_path):
    trace = synthetic(np.random.default_rng(1).normal(size=(60, 2)), 0.4)
    trace.save(tmp_path / "run.npz")
    loaded = Trace.load(tmp_path / "run.npz")
    assert loaded.joint_names == NAMES
    np.testing.assert_array_equal(loaded.p_world_base, trace.p_world_base)
    assert loaded.window(0.1, 0.2).t == pytest.approx(np.arange(0.1, 0.201, 0.01))
    with pytest.raises(ChainError, match="fewer than 2 ticks"):
        trace.window(3.0, 4.0)
    np.savez(tmp_path / "other.npz", t=np.zeros(3))
    with pytest.raises(ChainError, match="is no trace: it lacks p_world_base"):
        Trace.load(tmp_path / "other.npz")


def test_empty_recorder_has_no_trace():
    with pytest.raises(ChainError, match="nothing was recorded"):
        TraceRecorder(NAMES).trace()


def test_statistics_are_those_of_samples_that_occurred():
    s = spread([1.0, 2.0, 3.0, 6.0])
    assert (s.n, s.mean, s.minimum, s.maximum) == (4, 3.0, 1.0, 6.0)
    assert s.std == pytest.approx(np.std([1, 2, 3, 6], ddof=1))
    assert percentile(range(1, 101), 99.0) == 99.0
    assert percentile([5.0, 1.0, 3.0], 50.0) == 3.0
    assert percentile([5.0, 1.0, 3.0], 99.0) == 5.0
    with pytest.raises(DefinitionError, match="value 1 of 2 is not finite"):
        spread([1.0, math.nan])
    with pytest.raises(DefinitionError, match="no values"):
        percentile([], 50.0)


def test_power_and_torque_are_of_every_physics_step_and_of_the_samples_where_there_are_no_others():
    xy = np.linspace(0.0, 1.0, 201)[:, None] * (1.0, 0.0)
    samples = synthetic(xy, 0.0, dq=np.full((201, 2), 3.0), effort=np.full((201, 2), (-2.0, 1.0)))
    assert mechanical_power(samples) == pytest.approx(9.0) and total_torque(samples) == pytest.approx(math.sqrt(5.0))
    effort = np.stack([2.0 * samples.step_effort[:, 0], 0.0 * samples.step_effort[:, 0]], axis=1)
    steps = dataclasses.replace(samples, step_effort=effort, step_velocity=np.full((201, 2, 2), 5.0))
    assert mechanical_power(steps) == pytest.approx(15.0) and total_torque(steps) == pytest.approx(math.sqrt(10.0))
    body = body_metrics(steps, np.full(2, -1.0), np.full(2, 1.0), np.full(2, 4.0), mass_kg=2.0)
    assert body.peak_effort_fraction == pytest.approx(1.0) and body.power_w == pytest.approx(15.0)
    assert cost_of_transport(steps, 2.0, mechanical_power(steps)) == pytest.approx(15.0 * 2.0 / (2.0 * 9.81))
    at_once = np.zeros(201)
    at_once[-1] = 100.0  # in the tick before the last row
    assert cost_of_transport(steps, 2.0, at_once) == pytest.approx(1.0 / (2.0 * 9.81))
