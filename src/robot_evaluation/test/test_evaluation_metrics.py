# SPDX-License-Identifier: MIT
"""Metrics on synthetic traces whose figures are known."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from robot_evaluation.errors import DefinitionError, EvaluationError
from robot_evaluation.metrics import (
    body_metrics,
    cost_of_transport,
    mechanical_power,
    speed_metrics,
    total_torque,
)
from robot_evaluation.stats import percentile, spread
from robot_evaluation.trace import TopicRecorder, Trace, TraceRecorder

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
    with pytest.raises(EvaluationError, match="fewer than 2 ticks"):
        trace.window(3.0, 4.0)
    np.savez(tmp_path / "other.npz", t=np.zeros(3))
    with pytest.raises(EvaluationError, match="is no trace: it lacks p_world_base"):
        Trace.load(tmp_path / "other.npz")


def test_empty_recorder_has_no_trace():
    with pytest.raises(EvaluationError, match="nothing was recorded"):
        TraceRecorder(NAMES).trace()


def test_statistics_are_those_of_samples_that_occurred():
    s = spread([1.0, 2.0, 3.0, 6.0])
    assert (s.n, s.mean, s.minimum, s.maximum) == (4, 3.0, 1.0, 6.0)
    assert s.std == pytest.approx(np.std([1, 2, 3, 6], ddof=1))
    assert percentile(range(1, 101), 99.0) == 99.0
    assert percentile(range(1, 1001), 99.9) == 999.0
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


def topics(names=NAMES, odom=True):
    """Topics of a robot that goes ahead with 1 m/s and turns over pi with 1 rad/s, joints each 10 ms, poses each 20."""
    recorder = TopicRecorder(NAMES)
    for k in range(101):
        t = 0.01 * k
        recorder.joints(t, names, [float(k), -float(k)], [1.0, 2.0], [3.0, 4.0])
        if k % 2 == 0:
            yaw = 2.7 + t
            recorder.truth(t + 0.001, (t, 0.0, 0.2), (0.0, 0.0, np.sin(0.5 * yaw), np.cos(0.5 * yaw)))
            if odom:
                recorder.odometry(t + 0.001, (t, 0.1, np.arctan2(np.sin(yaw), np.cos(yaw))))
    return recorder


def test_what_topics_say_becomes_a_row_for_each_message_of_joints_with_the_poses_next_to_it():
    trace = topics(names=NAMES[::-1]).trace()
    assert trace.t.tolist() == pytest.approx(np.linspace(0.0, 1.0, 101))
    assert trace.joint_position[7].tolist() == [-7.0, 7.0]  # in the order of the trace
    assert trace.joint_velocity[7].tolist() == [2.0, 1.0] and trace.joint_effort[7].tolist() == [4.0, 3.0]
    assert trace.step_effort.shape == (101, 1, 2)
    assert np.abs(trace.truth_path.xy[:, 0] - trace.t).max() < 0.0111
    assert trace.yaw_world_base[-1] == pytest.approx(3.7) and trace.odom[-1, 2] == pytest.approx(3.7)
    assert np.isnan(trace.lowest_foot_z).all()


def test_topics_without_speeds_leave_them_unknown_and_joints_of_another_robot_do_not_count():
    recorder = topics()
    recorder.joints(1.01, NAMES, [1.0, 2.0], [], [])
    recorder.joints(1.02, ("other",), [1.0], [], [])
    trace = recorder.trace()
    assert len(trace.t) == 102
    assert np.isnan(trace.joint_velocity[-1]).all() and np.isnan(trace.joint_effort[-1]).all()


def test_a_silent_topic_is_named():
    with pytest.raises(EvaluationError, match="nothing on odom; start a simulator"):
        topics(odom=False).trace()
    with pytest.raises(EvaluationError, match=f"nothing on joint_states, or it lacks one of {NAMES[0]}"):
        topics(names=("other", "names")).trace()
