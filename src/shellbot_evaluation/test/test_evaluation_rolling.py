# SPDX-License-Identifier: MIT
"""Rolling courses: what the truth is compared with, and what the command line varies."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from shellbot_evaluation import rolling_cli
from shellbot_evaluation.experiment_cli import main as experiment
from shellbot_evaluation.perturbations import RAW_IMU
from shellbot_evaluation.roller import Roller
from shellbot_evaluation.rolling_experiment import build, conditions, far, hold


def test_with_a_raw_imu_odom_is_compared_in_its_own_axes():
    case = dataclasses.replace(conditions(661), changes=RAW_IMU)  # its filter begins 95 deg off the world's axes
    roller = Roller(build(case))
    v_odom = 0.8 * np.array([np.cos(case.bearing), np.sin(case.bearing)])
    start = roller.truth
    roller.for_time(v_odom, 3.0)
    moved = roller.truth - start
    assert roller.path_m > 0.8
    assert roller.odometry_error < 0.1
    assert moved @ roller.in_world(v_odom) > 0.9 * 0.8 * np.linalg.norm(moved)


def test_the_command_line_chooses_the_imu(tmp_path, monkeypatch):
    def row(case):
        figures = dict.fromkeys(rolling_cli.ROLL.goals, 0.2 if case.changes.get("raw_imu") else 9.0)
        return {**figures, "seed": case.seed, "speed_m_s": 1.0, "success": True, "message": ""}

    monkeypatch.setattr(rolling_cli, "ROLL", dataclasses.replace(rolling_cli.ROLL, execute=row))
    file = tmp_path / "roll.json"
    slow = []
    for options in ([], ["--raw-imu"]):
        experiment(["roll", "--seeds", "2", "--json", str(file), "--out", str(tmp_path / "out"), *options])
        slow.append(json.loads(file.read_text())["summary"]["slow_m_s"]["within"])
    assert slow == [0, 2]


def test_a_row_has_how_soon_the_ball_starts_and_how_it_rests(monkeypatch):
    case = conditions(2000)
    roller = Roller(build(case))
    row = far(roller, case.bearing)
    assert 0.2 < row["start_s"] < 3.0
    assert roller.torque.longest_s > 0.05 and roller.torque.mean_joints > 0.1
    truth = Roller.truth.fget  # as if the ball crept by 5 mm a second, unseen by its odometry
    monkeypatch.setattr(Roller, "truth", property(lambda self: truth(self) + [5e-3 * self.chain.time, 0.0]))
    row = hold(roller)
    assert row["hold_m"] == pytest.approx(0.05, abs=0.02)
    assert row["hold_odometry_m"] == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize("name", ["roll", "right"])
def test_a_robot_over_ros_cannot_be_put_down(name, tmp_path, capsys):
    assert experiment([name, "--running", "--out", str(tmp_path)]) == 2
    assert f"'{name}' puts the ball down" in capsys.readouterr().err
