# SPDX-License-Identifier: MIT
"""Walks of a robot that runs over ROS: when they end, and what their row says."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from humanoid_evaluation import running_node
from humanoid_evaluation.campaign import campaign_table, campaign_trials, thesis
from humanoid_evaluation.running import WALKS, Walk, campaign_walks, measured, score, table
from robot_evaluation.trace import TopicRecorder
from shellbot_common import SettingsError


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
    row = score(WALKS[0], truth, own, 3.0 * 9.81 * 5.0, 5.0)
    assert row["cost"] == "1.00" and score(WALKS[5], truth, own, 1.0, 5.0)["cost"] == "–", "a turn goes nowhere"
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
    assert score(WALKS[0], samples, samples, 1.0, 5.0)["fell"] == "yes"


def test_walks_measured_before_one_that_does_not_arrive_are_not_lost(monkeypatch, capsys):
    class Robot:
        def walk(self, walk):
            if walk is WALKS[1]:
                raise SettingsError(f"{walk.name}: not there after 65 s")
            samples = [(0.0, 0.0, 0.0, 0.0, 0.31, 0.0), (30.0, 3.0, 0.0, 0.0, 0.31, 0.0)]
            return samples, samples, 1.0, 5.0

    monkeypatch.setattr(running_node, "RunningHumanoid", Robot)
    with pytest.raises(SettingsError, match="not there"):
        running_node.run_walks(WALKS[:3])
    assert "walk: 3 m at 0.10 m/s" in capsys.readouterr().err


def test_the_work_of_a_walk_is_that_of_the_joints_from_the_command_on(monkeypatch):
    robot = object.__new__(running_node.RunningHumanoid)
    robot._topics, robot._mass = TopicRecorder(("hip", "knee")), 5.0
    robot._truth = robot._odometry = SimpleNamespace(samples=[(0.0, 0.0, 0.0, 0.0, 0.31, 0.0)])

    def move(seconds, effort):
        begin = robot._truth.samples[-1][0]
        for t in begin + np.arange(0.1, seconds + 0.05, 0.1):
            robot._topics.joints(t, ["knee", "hip"], [0.0, 0.0], [0.5, -2.0], [effort, effort])
            robot._topics.truth(t, (0.0, 0.0, 0.3), (0.0, 0.0, 0.0, 1.0))
            robot._topics.odometry(t, (0.0, 0.0, 0.0))
        robot._truth.samples.append((t, 0.0, 0.0, 0.0, 0.31, 0.0))

    monkeypatch.setattr(robot, "_rest", lambda: move(1.5, 0.0 if len(robot._truth.samples) > 2 else 100.0))
    monkeypatch.setattr(robot, "_drive", lambda walk: move(10.0, 3.0))
    truth, _, work, mass = robot.walk(WALKS[0])
    assert (truth[0][0], truth[-1][0], mass) == (pytest.approx(1.5), pytest.approx(13.0), 5.0)
    assert work == pytest.approx(3.0 * (0.5 + 2.0) * 9.9), "of samples, so without the first"


def test_the_campaign_has_the_cases_of_the_simulators_in_their_order():
    walks = campaign_walks(2)
    assert [case for case, _ in walks] == [case for case, _ in campaign_trials([0, 1])]
    assert len({job for _, job in walks}) == len(walks)  # each is a run of its own for the journal
    for (_, (walk, _)), (_, trial) in zip(walks, campaign_trials([0, 1])):
        assert walk.length == pytest.approx(trial.distance or abs(math.radians(trial.angle_deg)))
        speed = walk.twist[0] or walk.twist[2] * math.copysign(1.0, trial.angle_deg)
        assert speed == pytest.approx(trial.speed)


def test_runs_over_ros_are_rows_of_the_campaigns_table():
    row = thesis()["distances"]["A"]
    walk = Walk("A", (row["speed"], 0.0, 0.0), row["distance"])
    truth = [(0.0, 0.0, 0.0, 0.0, 0.31, 0.0), (18.0, 0.512, 0.003, 0.0, 0.31, 0.0)]
    text = campaign_table([measured(walk, truth, truth, work, 5.0) for work in (20.0, 30.0)])
    assert "| over ROS" in text and "| 0.512 ± 0.000 | 0.003 ± 0.000 | 18.0 ± 0.0 | 1.00 ± 0.28" in text
    fallen = measured(walk, [truth[0], (18.0, 0.2, 0.0, 0.0, 0.05, 1.4)], truth, math.nan, 5.0)
    assert fallen["fell"] and fallen["odometry_error_m"] == pytest.approx(0.312, abs=1e-3)


def test_without_a_master_there_is_a_sentence_and_no_waiting():
    command = [sys.executable, "-m", "humanoid_evaluation.running_node"]
    environment = dict(os.environ, ROS_MASTER_URI="http://localhost:9")
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert "no ROS master at http://localhost:9; start the robot" in ended.stderr
    ended = subprocess.run(
        [*command, "--campaign", "--repetitions", "0"], env=environment, capture_output=True, text=True
    )
    assert ended.returncode == 2 and "--repetitions is 0; give at least 1" in ended.stderr
    ended = subprocess.run([*command, "--repetitions", "3"], env=environment, capture_output=True, text=True)
    assert ended.returncode == 2 and "add --campaign" in ended.stderr
