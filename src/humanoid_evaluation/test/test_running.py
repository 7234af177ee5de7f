# SPDX-License-Identifier: MIT
"""Walks of a robot that runs over ROS: when they end, and what their row says."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import pytest

from humanoid_evaluation.running import WALKS, Walk, score, table


def test_the_odometry_ends_a_walk_by_its_distance_and_a_turn_by_its_angle():
    straight, turn = Walk("w", (0.1, 0.0, 0.0), 3.0), Walk("t", (0.0, 0.0, -0.5), 2.0 * math.pi)
    assert not straight.is_done((1.0, 1.0, 0.0), (3.9, 1.0, 9.0))
    assert straight.is_done((1.0, 1.0, 0.0), (1.0, -2.0, 0.0))
    assert not turn.is_done((0.0, 0.0, 1.0), (9.0, 0.0, -5.0))
    assert turn.is_done((0.0, 0.0, 1.0), (0.0, 0.0, -5.3))
    assert straight.limit == pytest.approx(65.0)


def test_a_row_is_in_the_axes_of_the_start():
    truth = [(10.0, 1.0, 2.0, math.pi / 2, 0.310, 0.01), (40.0, 0.99, 5.0, math.pi / 2 + 0.1, 0.306, 0.02)]
    own = [(10.0, 0.0, 0.0, 0.0, 0.31, 0.0), (40.0, 3.02, 0.01, 0.11, 0.31, 0.0)]
    row = score(WALKS[0], truth, own)
    assert (row["ahead"], row["left"], row["fell"], row["height"], row["seconds"]) == (
        "3.000",
        "0.010",
        "no",
        "2.0",
        "30.0",
    )
    assert row["turned"] == "5.7" and row["odometry"] == "20 mm, 0.6°"
    assert "3 m at 0.10 m/s" in table([row])


def test_a_fall_is_in_the_row():
    samples = [(0.0, 0.0, 0.0, 0.0, 0.31, 0.0), (1.0, 0.0, 0.0, 0.0, 0.1, 1.5)]
    assert score(WALKS[0], samples, samples)["fell"] == "yes"


def test_without_a_master_there_is_a_sentence_and_no_waiting():
    command = [sys.executable, "-m", "humanoid_evaluation.running_node"]
    environment = dict(os.environ, ROS_MASTER_URI="http://localhost:9")
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert "no ROS master at http://localhost:9; start the robot" in ended.stderr
