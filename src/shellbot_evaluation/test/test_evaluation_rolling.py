# SPDX-License-Identifier: MIT
"""Rolling courses: what the truth is compared with, and what the command line varies."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from shellbot_chain.chain_config import ChainConfig
from shellbot_evaluation import rolling_cli
from shellbot_evaluation.bus_runs import COLUMNS, build_chain, bus_figures
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


def test_on_the_bus_runs_have_a_table_of_their_own_and_what_the_bus_has_is_refused(tmp_path, monkeypatch, capsys):
    cases = []

    def row(case):
        cases.append(case)
        return {
            "seed": case.seed,
            "upright_s": 2.0,
            "stands_s": 11.0,
            "success": True,
            "reactions": "none",
            "hottest_deg_c": 30,
        }

    monkeypatch.setattr(rolling_cli, "RIGHT", dataclasses.replace(rolling_cli.RIGHT, execute=row))
    page, out = tmp_path / "page.md", ["--out", str(tmp_path)]
    page.write_text("<!-- begin: right_bus -->\n<!-- end: right_bus -->\n")
    assert experiment(["right", "--bus", "--seeds", "2", "--write", str(page), *out]) == 0
    assert [case.changes["bus"] for case in cases] == [True, True]
    assert "hottest servo / deg C" in page.read_text() and (tmp_path / "right_bus.json").exists()
    for given in (
        ["right", "--bus", "--perturb", "torque_scale=0.9"],
        ["transform", "--bus", "--design", "fan_drive.reduction=1"],
    ):
        assert experiment([*given, *out]) == 2
        assert "the bus" in capsys.readouterr().err
    assert len(cases) == 2


def test_a_run_on_the_bus_has_figures_of_it_and_the_torque_that_the_battery_leaves():
    config = ChainConfig(variant="walker", record=False)
    assert bus_figures(build_chain(config, {})) == {}
    chain = build_chain(config, {"bus": True, "friction": 0.6})
    assert chain.simulator.config.friction == 0.6
    figures = bus_figures(chain)
    assert set(figures) == set(COLUMNS)
    assert (figures["timeouts"], figures["reactions"]) == (0, "none") and 11.5 < figures["lowest_v"] < 12.1
    fraction = []
    for charge in (0.78, 0.05):
        chain.robot.emulated.battery.set_charge(charge)
        chain.run(0.02)
        fraction.append((chain.robot.stall_torque / chain.limits.effort).max())
    assert fraction[0] == pytest.approx(0.99, abs=0.01) and fraction[1] == pytest.approx(0.9, abs=0.01)


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
