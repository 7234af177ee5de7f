# SPDX-License-Identifier: MIT
"""Run time of the battery: against Coulombs and volts, and real runs of the chain."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from ax_emulator.battery import Battery
from shellbot_evaluation.energy_experiment import LONGEST, Case, battery_figures, conditions, execute, run_time
from shellbot_motor_driver.driving.driver_config import DriverConfig


def test_the_run_time_is_what_charge_and_voltage_allow():
    capacity = Battery().parameters.capacity
    times = {current: run_time(current) for current in (0.5, 2.0, 4.0, 20.0)}
    for current, seconds in times.items():
        assert 0.5 * 3600.0 * capacity / current < seconds <= 3600.0 * capacity / current + 1.0
    battery = Battery(1.0)
    assert battery.drain(20.0, times[20.0]) > DriverConfig.load().voltage.sit >= battery.drain(20.0, 2.0)
    assert battery.charge > 0.03, "of 20 A some charge stays unused"
    assert run_time(4.0, charge=0.5) < 0.55 * times[4.0]
    assert run_time(1e3) == 0.0
    assert run_time(0.01) == LONGEST


def test_mean_and_peak_are_those_of_the_current():
    current = np.where(np.arange(1000) < 985, 1.0, 5.0)  # 1.5 % of the time much
    figures = battery_figures(current)
    assert figures["peak_a"] == pytest.approx(5.0) and figures["mean_a"] == pytest.approx(1.06)
    assert battery_figures(np.where(np.arange(1000) < 995, 1.0, 5.0))["peak_a"] == pytest.approx(1.0)
    assert figures["run_min"] == pytest.approx(run_time(1.06) / 60.0)
    assert figures["sag_v"] == pytest.approx(Battery(0.5).drain(5.0, 0.0))


def test_walking_draws_more_than_standing_and_a_robot_that_stands_has_no_range():
    stands, walks = (execute(case) for case in (Case(0, "walker", "stands"), Case(0, "walker", "walks", "tripod", 0.2)))
    assert stands["success"] and walks["success"]
    assert 19 * 0.05 < stands["mean_a"] < 0.8 * walks["mean_a"]
    assert walks["range_m"] == pytest.approx(60.0 * walks["run_min"] * walks["speed_m_s"])
    assert stands["range_m"] != stands["range_m"], "NaN"
    assert walks["peak_a"] > walks["mean_a"] and walks["sag_v"] < stands["sag_v"]


def test_the_cases_are_every_gait_and_the_ball():
    labels = [case.label for case in conditions(0)]
    assert len(set(labels)) == len(labels) == 14
    assert "walker walks, wave" in labels and "full rolls at 0.8 m/s" in labels
    row = execute(dataclasses.replace(conditions(0)[4], gait="trot"))
    assert not row["success"] and "trot" in row["message"], "an unknown gait is a sentence in the row"
