# SPDX-License-Identifier: MIT
"""Metrics of phases on paths whose figures are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from robot_evaluation.errors import DefinitionError, EvaluationError
from robot_evaluation.planar import PlanarPath
from shellbot_client.mission import PhaseRecord
from shellbot_client.phases import turn, walk
from shellbot_evaluation.phase_metrics import square_metrics, turn_metrics, walk_metrics


def paths(xy, yaw, odom=None):
    """True path and that of the odometry at 100 Hz; without `odom` (m, 3) it is the truth."""
    t = 0.01 * np.arange(len(xy))
    truth = PlanarPath(t, xy, np.unwrap(np.broadcast_to(yaw, t.shape)))
    own = truth if odom is None else PlanarPath(t, np.array(odom)[:, :2], np.unwrap(np.array(odom)[:, 2]))
    return truth, own


def score_walk(trace, direction, distance=1.0):
    record = PhaseRecord(walk("w", distance, direction, 0.2), trace[0].t[0], trace[0].t[-1] - 1.0, trace[0].t[-1])
    return walk_metrics(record, *trace)


@pytest.mark.parametrize("heading", [0.0, 1.1, -2.9])
def test_walk_is_scored_in_the_axes_of_the_start_heading(heading):
    s = np.linspace(0.0, 1.0, 601)[:, None]
    end = np.array([0.97, 0.02])
    rotation = np.array([[math.cos(heading), -math.sin(heading)], [math.sin(heading), math.cos(heading)]])
    m = score_walk(paths((5.0, -3.0) + (s * end) @ rotation.T, heading), (1.0, 0.0))
    assert (m.walked_m, m.lateral_m) == pytest.approx((0.97, 0.02))
    assert (m.distance_error_percent, m.deviation_percent) == pytest.approx((3.0, 2.0))
    assert (m.duration_s, m.mean_speed_m_s) == pytest.approx((5.0, 0.97 / 5.0))


def test_sideways_walk_counts_left_as_along_and_backward_as_lateral():
    s = np.linspace(0.0, 1.0, 301)[:, None]
    m = score_walk(paths(s * (0.03, 1.02), 0.0), (0.0, 1.0))
    assert (m.walked_m, m.lateral_m) == pytest.approx((1.02, -0.03))


def test_greatest_lateral_deviation_on_the_way_is_kept_though_the_end_is_straight():
    s = np.linspace(0.0, 1.0, 301)
    m = score_walk(paths(np.stack((s, 0.05 * np.sin(math.pi * s)), axis=1), 0.0), (1.0, 0.0))
    assert (m.max_lateral_m, m.lateral_m) == pytest.approx((0.05, 0.0), abs=1e-5)


def test_odometry_is_reported_beside_the_truth_in_its_own_axes():
    s = np.linspace(0.0, 1.0, 301)
    odom = np.stack((0.0 * s, 1.05 * s, np.full_like(s, math.pi / 2)), axis=1)
    m = score_walk(paths(np.stack((s, 0.0 * s), axis=1), 0.0, odom), (1.0, 0.0))
    assert (m.walked_m, m.odometry_m, m.odometry_lateral_m) == pytest.approx((1.0, 1.05, 0.0))


@pytest.mark.parametrize("commanded_deg", [360.0, -270.0])
def test_turn_counts_beyond_half_a_turn(commanded_deg):
    yaw = np.linspace(0.3, 0.3 + math.radians(0.98 * commanded_deg), 800)
    trace = paths(np.stack((0.003 * np.linspace(0, 1, 800), np.zeros(800)), axis=1), yaw)
    record = PhaseRecord(turn("t", math.radians(commanded_deg), 0.5), 0.0, 7.0, trace[0].t[-1])
    m = turn_metrics(record, *trace)
    assert (m.turned_deg, m.angle_error_percent, m.drift_m) == pytest.approx((0.98 * commanded_deg, 2.0, 0.003))


def test_a_square_is_scored_by_its_end_and_by_what_the_odometry_says_of_it():
    s = np.linspace(0.0, 1.0, 601)
    xy, yaw = np.column_stack((0.3 * s, 0.4 * s)), 0.5 + (2.0 * math.pi + 0.1) * s
    turned = np.arctan2(np.sin(yaw), np.cos(yaw))
    trace = paths(xy, turned, odom=[(0.0, 0.0, angle) for angle in 0.99 * (turned - turned[0])])
    sides = PhaseRecord(walk("side", 2.0, (1.0, 0.0), 0.2), trace[0].t[0], trace[0].t[300], trace[0].t[300])
    corners = PhaseRecord(turn("corner", 1.0, 1.0), trace[0].t[300], trace[0].t[-1], trace[0].t[-1])
    own = square_metrics([sides, corners], *trace)
    assert own.path_m == 2.0
    assert own.drift_m == own.odometry_error_m == pytest.approx(0.5)
    assert own.odometry_error_percent == pytest.approx(25.0)
    assert own.turned_deg == pytest.approx(360.0 + math.degrees(0.1))


def test_scoring_a_phase_by_the_wrong_kind_or_beyond_the_recording_is_refused():
    trace = paths(np.zeros((200, 2)), 0.0)
    record = PhaseRecord(turn("t", 1.0, 0.5), 0.0, 0.5, 1.0)
    with pytest.raises(DefinitionError, match="'t' is no walk"):
        walk_metrics(record, *trace)
    late = PhaseRecord(turn("t", 1.0, 0.5), 0.0, 0.5, 5.0)
    with pytest.raises(EvaluationError, match=r"covers 0.00\.\.1.99 s, not 0.00\.\.5.00 s"):
        turn_metrics(late, *trace)
