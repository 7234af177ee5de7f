# SPDX-License-Identifier: MIT
"""What real servos add: margin, punch, steps, play, a supply that sags, windings that warm up; all off as delivered."""

from __future__ import annotations

import numpy as np
import pytest
import tiny_robot

from shellbot_simulator.core.config import load_config
from shellbot_simulator.core.servo_effects import ServoEffects
from shellbot_simulator.core.simulator import Simulator

STALL, STIFFNESS = 1.5, 18.5  # of the tiny robot's servos


def simulator(**settings):
    return Simulator(tiny_robot.URDF, tiny_robot.profile(), load_config().replace(**settings))


def run(robot, seconds, load=0.0):
    robot.data.qfrc_applied[6] = load
    for _ in range(round(100 * seconds)):
        robot.step_tick()
    return robot.state()


def test_without_any_of_it_nothing_is_computed():
    plain = simulator()
    assert plain._effects is None and plain.supply_voltage == 12.0
    assert (plain.winding_temperature == 25.0).all()


def test_inside_the_margin_the_joint_is_limp_and_beyond_it_as_stiff_as_before():
    robot = simulator(servo_margin_deg=2.0)
    robot.command([np.radians(1.5), 0.0])
    assert run(robot, 0.5).q[0] == pytest.approx(0.0, abs=1e-6)
    assert robot.state().effort[0] == 0.0
    robot.command([0.0, 0.0])
    assert run(robot, 1.0, load=0.37).q[0] == pytest.approx(np.radians(2.0) + 0.37 / STIFFNESS, rel=1e-3)


def test_punch_is_the_least_output():
    robot = simulator(servo_punch=0.2, servo_margin_deg=1.0)
    robot.command([np.radians(1.1), 0.0])
    robot.step_tick()
    assert robot.state().effort[0] == pytest.approx(0.2 * STALL, rel=1e-3)
    robot.reset()
    robot.command([np.radians(0.9), 0.0])
    assert run(robot, 0.1).effort[0] == 0.0
    limp = simulator(servo_punch=0.2, supply_resistance=1.0)
    for joint in limp.joint_names:
        limp.set_gains(joint, 0.0)
    limp.command([0.5, 0.0])
    assert run(limp, 0.1).effort[0] == 0.0
    assert limp.supply_voltage == pytest.approx(11.9), "a limp servo has no punch: it draws no current"


def test_goal_and_position_come_in_steps():
    robot = simulator(servo_resolution_deg=0.29)
    for goal_deg, reached_deg in ((10.0, 34 * 0.29), (0.14, 0.0), (0.16, 0.29)):
        robot.reset()
        robot.command([np.radians(goal_deg), 0.0])
        # within half a step of where the goal is rounded to: the sensor shows no error there
        assert np.degrees(run(robot, 1.0).q[0]) == pytest.approx(reached_deg, abs=0.146)
    assert run(robot, 0.2).effort[0] == 0.0
    robot.reset()
    robot.command([np.radians(10.0), 0.0])
    assert run(robot, 1.0).effort[0] == 0.0, "the sensor is exact without steps, and the goal 10 deg then"


def test_torque_of_the_other_sign_comes_when_the_motor_has_run_through_the_play():
    efforts = {}
    for play_deg in (0.0, 5.0):  # the motor takes 14 ms for 5 deg, at its no-load speed
        robot = simulator(servo_backlash_deg=play_deg)
        assert run(robot, 0.3, load=-0.5).effort[0] == pytest.approx(0.5, rel=0.05)  # in touch with what holds the load
        robot.command([-1.4, 0.0])
        efforts[play_deg] = [run(robot, 0.01).effort[0] for _ in range(2)]
    assert max(efforts[0.0]) < -1.0
    assert efforts[5.0][0] == 0.0 and efforts[5.0][1] < -1.0


def test_the_supply_sags_with_the_load_and_takes_torque_with_it():
    low = simulator(supply_voltage=9.0)
    low.command([1.4, 0.0])
    low.step_tick()
    assert low.state().effort[0] == pytest.approx(0.75 * STALL, rel=1e-3)
    sagging = simulator(supply_resistance=1.0, servo_stall_current=1.5)
    assert sagging.supply_voltage == 12.0
    sagging.command([1.4, 0.0])
    state = run(sagging, 1.0, load=-5.0)  # it cannot turn
    # 1.5 A of one servo at full output and full voltage, and 2 x 50 mA of electronics, through 1 Ohm
    assert sagging.supply_voltage == pytest.approx((12.0 - 0.1) / (1.0 + 1.5 / 12.0), abs=0.01)
    assert state.effort[0] == pytest.approx(STALL * sagging.supply_voltage / 12.0, rel=1e-3)
    assert sagging.winding_temperature == pytest.approx(25.0)
    held = simulator(supply_resistance=1.0, servo_stall_current=1.5)
    run(held, 1.0, load=-0.5 * STALL)
    # half the torque: half of the time half of the current
    assert held.supply_voltage == pytest.approx(12.0 - 0.1 - 1.5 / 4.0, abs=0.03)


def settled(output, dq, ohm):
    """Voltage at which a supply and servos agree, by bisection on the law of the current."""
    low, high = -100.0, 12.0
    for _ in range(100):
        volts = 0.5 * (low + high)
        draw = np.maximum(output * (output * volts / 12.0 - dq / 6.0), 0.0).sum() * 1.5 + 0.05 * output.size
        low, high = (low, volts) if 12.0 - ohm * draw < volts else (volts, high)
    return max(0.0, low)


@pytest.mark.parametrize("ohm", [0.06, 0.25, 1.0, 5.0])
def test_the_sag_is_the_fixed_point_of_the_servos_current_at_any_resistance(ohm):
    rng, n = np.random.default_rng(4), 36
    effects = ServoEffects(load_config().replace(supply_resistance=ohm), np.full(n, 1.5), np.full(n, 6.0))
    for _ in range(200):  # from step to step as different as can be
        output, dq = rng.uniform(-1.2, 1.2, n), rng.uniform(-8.0, 8.0, n) * rng.choice([0.0, 1.0])
        effects.torque(np.full(n, 1.5), output, np.zeros(n), dq, 0.002)
        expected = settled(np.clip(output, -1.0, 1.0), dq, ohm)
        assert effects.voltage == pytest.approx(expected, abs=1e-6)
        last = np.clip(output, -1.0, 1.0), dq
    if ohm == 0.06:  # as the former iteration from step to step ended
        volts = 12.0
        for _ in range(100):
            current = np.maximum(last[0] * (last[0] * volts / 12.0 - last[1] / 6.0), 0.0).sum() * 1.5 + 0.05 * n
            volts = 12.0 - ohm * current
        assert effects.voltage == pytest.approx(volts, abs=1e-9)


def test_windings_warm_up_lose_torque_and_cool():
    robot = simulator(winding_heating=30.0, winding_cooling_time=100.0)
    robot.command([1.4, 0.0])
    run(robot, 1.0, load=-5.0)  # pressed to its stop; on the way there it was the motor's brake
    robot._effects.reset()
    state = run(robot, 1.0, load=-5.0)
    # 1 s at the stall current, 30 K, less what the resistance takes from the current: 0.39 % a kelvin
    assert robot.winding_temperature[0] == pytest.approx(25.0 + 30.0 * (1.0 - 0.5 * 0.0039 * 30.0), abs=0.3)
    assert robot.winding_temperature[1] == pytest.approx(25.0, abs=0.1)
    warm = 1.0 + 0.0039 * (robot.winding_temperature[0] - 25.0)
    assert state.effort[0] == pytest.approx(STALL / warm, rel=1e-3)
    robot.set_gains("left", 0.0)
    hot = robot.winding_temperature[0]
    run(robot, 1.0)
    assert robot.winding_temperature[0] - 25.0 == pytest.approx((hot - 25.0) * np.exp(-0.01), rel=1e-3)
    robot.reset()
    assert (robot.winding_temperature == 25.0).all()


def test_a_warm_winding_brakes_less_and_turns_as_fast_without_load():
    speeds = []
    for temperature in (25.0, 69.0):
        robot = simulator(servo_margin_deg=10.0, winding_heating=1e-9)
        robot._effects.temperature[:] = temperature
        speeds.append(run(robot, 0.2, load=0.1).dq[0])  # no output in the margin: load against damping
    assert speeds[1] / speeds[0] == pytest.approx(1.0 + 0.0039 * 44.0, rel=0.01)
    one = ServoEffects(load_config().replace(winding_heating=1e-9), np.array([1.5]), np.array([6.0]))
    one.temperature[:] = 69.0
    torque = one.torque(np.array([18.0]), np.array([9.0]), np.zeros(1), np.array([6.0]), 0.002)
    assert torque - 1.5 / 6.0 * one.braking * 6.0 == pytest.approx(0.0, abs=1e-9), "nothing is left at that speed"


@pytest.mark.parametrize(
    ("speed", "volts", "current"), [(0.0, 12.0, 1.0), (6.0, 12.0, 0.0), (3.0, 9.0, 0.25), (-3.0, 12.0, 1.5)]
)
def test_heat_is_that_of_the_current(speed, volts, current):
    config = load_config().replace(winding_heating=40.0, supply_voltage=volts)
    effects = ServoEffects(config, np.array([1.5]), np.array([6.0]))
    effects.torque(np.array([18.0]), np.array([9.0]), np.zeros(1), np.array([speed]), 0.002)
    assert effects.temperature - 25.0 == pytest.approx(0.08 * current**2)


def test_a_warm_winding_draws_less():
    effects = ServoEffects(load_config().replace(supply_resistance=1.0), np.array([1.5]), np.array([6.0]))
    effects.temperature[:] = 69.0
    effects.torque(np.array([18.0]), np.array([9.0]), np.zeros(1), np.zeros(1), 0.002)
    assert effects.voltage == pytest.approx(11.95 / (1.0 + 1.5 / 12.0 / (1.0 + 0.0039 * 44.0)))


def test_a_servo_beyond_its_temperature_limit_shuts_down_until_the_reset():
    robot = simulator(winding_heating=50.0, winding_cooling_time=1.0)
    robot.command([1.4, 0.0])
    hottest = 0.0
    for _ in range(300):
        state = run(robot, 0.01, load=-5.0)
        hottest = max(hottest, robot.winding_temperature[0])
    assert 70.0 < hottest < 72.0
    assert robot.winding_temperature[0] < 60.0, "it cools, and stays without torque all the same"
    assert state.effort[0] == 0.0 and robot.overheated_joints == ("left",)
    robot.reset()
    robot.command([1.4, 0.0])
    assert run(robot, 0.01, load=-5.0).effort[0] == pytest.approx(STALL, rel=1e-2) and not robot.overheated_joints
    assert not simulator().overheated_joints
