# SPDX-License-Identifier: MIT
"""Two robots under the same commands: a delay is no difference, another angle is, and a robot that stays is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robot_evaluation.errors import EvaluationError
from robot_evaluation.planar import PlanarPath
from robot_evaluation.trace import TopicRecorder
from shellbot_evaluation.same_commands import (
    Case,
    Track,
    chain_tracks,
    compare,
    joint_difference_deg,
    table,
    track_of,
)

CASE = Case("0.15 m/s for 1 s", 1.0, x=0.15)


def track(delay=0.0, gain=1.0):
    t = np.arange(0.0, 4.0, 0.01)
    swing = np.where(t > 1.0 + delay, np.sin(6.0 * (t - 1.0 - delay)), 0.0)
    q = gain * 0.2 * np.stack((swing, 0.5 * swing), axis=1)
    xy = np.stack((np.zeros_like(t), 0.1 * t), axis=1)  # looks and goes along y
    return Track(t, q, PlanarPath(t, xy, np.full_like(t, np.pi / 2.0)))


def test_a_delay_is_no_difference_and_another_angle_is():
    assert joint_difference_deg(track(), track(0.37), 2.0) < 0.05
    rms = np.degrees(0.02 * np.sqrt((1.0 + 0.25) / 4.0))
    assert joint_difference_deg(track(), track(0.0, 1.1), 2.0) == pytest.approx(rms, rel=0.1)


def test_displacement_is_in_the_axes_of_the_start():
    assert track().moved() == pytest.approx((0.399, 0.0, 0.0), abs=1e-9)


def test_a_robot_that_stays_is_said():
    with pytest.raises(EvaluationError, match="no joint moved"):
        joint_difference_deg(track(), track(0.0, 0.0), 2.0)


def test_the_chain_equals_itself():
    names, mass, tracks = chain_tracks([CASE], seed=3)
    assert len(names) == tracks[0].q.shape[1] == 36
    (row,) = compare([CASE], tracks, tracks, mass)
    assert row["running_cost"] == row["chain_cost"] and 1.0 < row["chain_cost"] < 10.0
    assert row["rms_deg"] == 0.0
    assert "0.15 m/s for 1 s" in table([row])


def test_the_cost_over_ros_is_the_work_of_the_joints_over_weight_and_way():
    for effort, power in (([3.0, 4.0], 10.0), ([], None)):
        topics = TopicRecorder(("a", "b"))
        for t in (0.0, 0.01):
            topics.joints(t, ("a", "b"), [0.0, 0.0], [2.0, -1.0], effort)
            topics.truth(t, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
            topics.odometry(t, (0.0, 0.0, 0.0))
        found = track_of(topics.trace()).power
        assert (found is None) if power is None else (found.tolist() == [power, power])
    walk = replace(track(), power=np.full(400, 9.81))
    assert walk.cost(2.0) == pytest.approx(0.5 * 3.99 / 0.399)
    assert np.isnan(track().cost(2.0))
