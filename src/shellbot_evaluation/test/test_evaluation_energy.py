# SPDX-License-Identifier: MIT
"""Run time of the battery: against Coulombs and volts, and real runs of the chain."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from ax_emulator.battery import Battery
from robot_evaluation.metrics import mechanical_power, total_torque
from shellbot_chain.chain import Chain
from shellbot_chain.onboard_chain import OnboardChain
from shellbot_evaluation.energy_experiment import LONGEST, Case, battery_figures, conditions, execute, run_time
from shellbot_evaluation.transport_experiment import electrical_power, measured_walk
from shellbot_motor_driver.driving.driver_config import DriverConfig


def test_the_run_time_is_what_charge_and_voltage_allow():
    capacity = Battery().parameters.capacity
    times = {current: run_time(0.0, current) for current in (0.5, 2.0, 4.0, 20.0)}
    for current, seconds in times.items():
        assert 0.5 * 3600.0 * capacity / current < seconds <= 3600.0 * capacity / current + 1.0
    battery = Battery(1.0)
    assert battery.drain(20.0, times[20.0]) > DriverConfig.load().voltage.sit >= battery.drain(20.0, 2.0)
    assert battery.charge > 0.03, "of 20 A some charge stays unused"
    assert run_time(0.0, 4.0, charge=0.5) < 0.55 * times[4.0]
    assert run_time(0.0, 1e3) == run_time(1e4) == 0.0
    assert run_time(0.0, 0.01) == LONGEST


def test_motors_take_the_same_power_from_a_pack_that_falls_below_12_v_and_electronics_the_same_current():
    energy = 0.0  # J
    pack = Battery(1.0)
    while pack.charge > 0.0 and pack.voltage > DriverConfig.load().voltage.sit:
        energy += pack.drain(2.5, 1.0) * 2.5
    assert run_time(30.0) == pytest.approx(energy / 30.0, rel=0.005)
    assert run_time(30.0) < 0.97 * run_time(0.0, 30.0 / 12.0), "nearly all of the charge lies below 12 V"


def test_mean_and_peak_are_those_of_the_load():
    power = 12.0 * np.where(np.arange(1000) < 985, 1.0, 5.0)[:, None]  # 1.5 % of the time much
    figures = battery_figures(power, 0.5)
    assert figures["peak_a"] == pytest.approx(5.5) and figures["mean_a"] == pytest.approx(1.56)
    few = np.where(np.arange(1000) < 995, 12.0, 60.0)[:, None]
    assert battery_figures(few, 0.0)["peak_a"] == pytest.approx(1.0)
    assert figures["run_min"] == pytest.approx(run_time(12.0 * 1.06, 0.5) / 60.0)
    drawn = 0.5 + 60.0 / figures["sag_v"]
    assert figures["sag_v"] == pytest.approx(Battery(0.5).drain(drawn, 0.0), abs=1e-4)


def walking(timestep):
    chain = Chain(variant="walker", seed=100, gait="tripod", timestep=timestep)
    return chain, measured_walk(chain, 0.2, 2.0, 3.0)


@pytest.fixture(scope="module")
def walker():
    return walking(0.002)


def test_the_chain_draws_what_the_emulated_battery_gives(walker):
    onboard, drawn = OnboardChain(variant="walker", seed=100, gait="tripod"), []
    drain = onboard.robot.emulated.battery.drain
    onboard.robot.emulated.battery.drain = lambda current, dt: drawn.append(current) or drain(current, dt)
    trace = measured_walk(onboard, 0.2, 2.0, 3.0)
    current = np.mean(drawn[-1500:])
    for robot, walk in ((walker[0], walker[1]), (onboard, trace)):
        assert np.mean(electrical_power(walk, robot)) / 12.0 == pytest.approx(current, rel=0.04)


def test_what_the_servos_give_goes_into_their_friction(walker):
    chain, trace = walker
    model = chain.simulator.model
    friction = model.dof_damping[model.jnt_dofadr[model.actuator_trnid[:, 0]]]
    given = np.sum(trace.step_effort * trace.step_velocity, axis=2).mean()
    assert given == pytest.approx(np.sum(friction * trace.step_velocity**2, axis=2).mean(), rel=0.03)


def test_the_figures_do_not_depend_on_the_step_of_the_physics(walker):
    fine = walking(0.0005)
    for figure in (lambda c, t: mechanical_power(t), lambda c, t: electrical_power(t, c), lambda c, t: total_torque(t)):
        assert np.mean(figure(*walker)) == pytest.approx(np.mean(figure(*fine)), rel=0.04)


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
