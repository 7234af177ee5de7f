# SPDX-License-Identifier: MIT
"""The attitude filter against motions whose truth is known, and the IMU input that decides when it runs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from shellbot_action_manager.config import load_config
from shellbot_action_manager.estimation.attitude import AttitudeFilter, ImuReading
from shellbot_action_manager.estimation.imu_input import ImuInput

CONFIG = load_config().attitude
DT = 0.01
UP = np.array([0.0, 0.0, 9.81])
BIAS = np.radians([0.5, -0.5, 0.5])  # rad/s
SITE = np.array([0.0, 0.0, 0.04])  # m, of the IMU from the centre of the ball
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def rolling(seconds, rest=0.0, spin_up=2.0, rate=2.0 * np.pi, steer=0.0, radius=0.2):
    """Return attitude, angular velocity and specific force of a ball that rests, then rolls; a row each tick.

    It rolls along its x axis at last with `rate` (rad/s), reached within `spin_up` (s), and turns with `steer` (rad/s);
    `radius` 0 spins it on the spot. Velocity and force are means over the tick, as a real unit gives them.
    """
    fine = 10  # instants a tick
    t = np.arange(int(round(seconds / DT)) * fine + 1) * DT / fine
    rolls = np.maximum(t - rest, 0.0)
    alpha = np.where((rolls > 0.0) & (rolls < spin_up), rate / spin_up, 0.0)
    w = rate * np.minimum(rolls / spin_up, 1.0)
    angle = np.where(rolls < spin_up, 0.5 * w * rolls, rate * (rolls - 0.5 * spin_up))
    turn, roll = (Rotation.from_euler(axis, turned[:, None]) for axis, turned in (("z", steer * rolls), ("y", angle)))
    truth = turn * roll
    zero = np.zeros_like(t)
    w_base = np.stack([zero, w, zero], 1) + roll.inv().apply([0.0, 0.0, steer]) * (rolls > 0.0)[:, None]
    centre = truth.inv().apply(UP + turn.apply(np.stack([radius * alpha, zero, zero], 1)))
    force = centre + np.cross(w_base, np.cross(w_base, SITE)) + np.cross(np.stack([zero, alpha, zero], 1), SITE)
    truth = truth[::fine]
    mean_force = np.vstack([force[:1], force[1:].reshape(-1, fine, 3).mean(1)])
    mean_rate = np.vstack([w_base[:1], (truth[:-1].inv() * truth[1:]).as_rotvec() / DT])
    return truth, mean_rate, mean_force


def measured(w_base, force, bias=BIAS, seed=1):
    rng = np.random.default_rng(seed)
    return w_base + bias + 0.003 * rng.standard_normal(w_base.shape), force + 0.03 * rng.standard_normal(force.shape)


def run(attitude, gyro, force):
    """Return the estimated attitude at each sample."""
    found = [attitude.step(DT if i else 0.0, *sample) for i, sample in enumerate(zip(gyro, force))]
    return Rotation.from_quat([reading.orientation for reading in found])


def degrees(estimate, truth):
    """Return the angle between estimate and truth, yaw included, at each sample."""
    return np.degrees((estimate.inv() * truth).magnitude())


def test_a_wrong_start_converges_to_gravity():
    attitude = AttitudeFilter(CONFIG)
    attitude.step(0.0, np.zeros(3), np.array([9.0, 4.0, -1.0]))  # held by a hand that shakes it
    estimate = run(attitude, np.zeros((300, 3)), np.tile(UP, (300, 1)))
    up = estimate.inv().apply([0.0, 0.0, 1.0])
    assert np.degrees(np.arccos(up[0, 2])) > 45.0
    assert np.degrees(np.arccos(up[-1, 2])) < 1.0


@pytest.mark.parametrize("motion", [{}, {"radius": 0.0}, {"rate": 1.2}, {"steer": 0.4}])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_minute_of_rolling_with_a_biased_gyroscope(motion, sign):
    truth, gyro, force = rolling(63.0, rest=3.0, **motion)
    attitude = AttitudeFilter(CONFIG)
    error = degrees(run(attitude, *measured(gyro, force, sign * BIAS)), truth)
    assert error.max() < 1.5  # gathering speed "up" leans by 3.7 deg, which nothing here can know
    assert np.degrees(np.abs(attitude.bias - sign * BIAS)).max() < 0.1


def test_without_a_rest_the_bias_is_learned_while_it_rolls():
    truth, gyro, force = rolling(120.0, radius=0.0, rate=1.5)
    attitude = AttitudeFilter(CONFIG)
    estimate = run(attitude, *measured(gyro, force))
    across = attitude.bias - BIAS
    assert np.degrees(np.abs(across[1])) < 0.1  # about the axis of rolling: about the others it averages out
    up = (estimate.inv().apply(UP) * truth.inv().apply(UP)).sum(1) / 9.81**2
    assert np.degrees(np.arccos(np.clip(up[-1000:], -1.0, 1.0))).max() < 1.0


def test_at_rest_the_bias_is_learned_about_the_vertical_too():
    attitude = AttitudeFilter(CONFIG)
    rest = np.zeros((700, 3))
    gyro, force = measured(rest, np.tile(Rotation.from_euler("x", 0.4).apply(UP), (700, 1)))
    estimate = run(attitude, gyro, force)
    assert np.degrees(np.abs(attitude.bias - BIAS)).max() < 0.05
    assert np.degrees((estimate[-1] * estimate[400].inv()).magnitude()) < 0.2
    assert attitude.step(DT, BIAS, force[-1]).angular_velocity == pytest.approx(np.zeros(3), abs=1e-3)


def test_a_turn_faster_than_a_bias_is_a_turn():
    attitude = AttitudeFilter(CONFIG)
    turn = np.tile([0.0, 0.0, 0.1], (1001, 1))
    estimate = run(attitude, turn, np.tile(UP, (1001, 1)))
    assert estimate[-1].as_euler("xyz") == pytest.approx([0.0, 0.0, 1.0], abs=1e-3)


def test_a_shake_does_not_tilt_it():
    tilt = []
    for config in (CONFIG, CONFIG.replace(trusted=(1.0, 1.0))):
        attitude = AttitudeFilter(config)
        run(attitude, np.zeros((300, 3)), np.tile(UP, (300, 1)))
        for _ in range(100):
            reading = attitude.step(DT, np.zeros(3), UP + np.array([7.0, 0.0, 0.0]))  # its norm is off by 23 %
        tilt.append(np.degrees(Rotation.from_quat(reading.orientation).magnitude()))
    assert tilt[0] < 1.2 and tilt[1] > 3.0


def test_steps_that_are_nothing_on_average_do_not_tilt_it():
    attitude = AttitudeFilter(CONFIG)
    step = np.concatenate([np.tile([2.0, 0.0, 6.0], (5, 1)), np.tile([-0.5, 0.0, -1.5], (20, 1))])  # m/s^2
    gait = UP + np.tile(step, (80, 1))
    assert gait.mean(0) == pytest.approx(UP)
    error = np.degrees(run(attitude, np.zeros_like(gait), gait)[-200:].magnitude())
    assert error.max() < 0.5


def send(imu, t, orientation=None, gyro=(0.0, 0.0, 0.0), force=UP):
    imu.receive(t, orientation, np.array(gyro), np.array(force))
    return imu.read(t)


def nothing(reading):
    return reading.orientation is None and reading.angular_velocity is None


def test_an_orientation_that_is_given_is_taken_as_it_is():
    imu = ImuInput(CONFIG)
    given = np.array([0.0, 0.0, 0.6, 0.8])
    for tick in range(100):
        reading = send(imu, DT * tick, given, gyro=(0.1, 0.0, 0.3))
        assert reading.orientation is given and list(reading.angular_velocity) == [0.1, 0.0, 0.3]
    for wrong in (np.full(4, np.nan), np.zeros(4)):
        reading = send(imu, imu._time + DT, wrong, gyro=(0.1, np.nan, 0.3))
        assert nothing(reading), "the filter does not stand in: its yaw is another one"


def test_readings_that_are_no_numbers_hold_the_attitude_until_it_is_old():
    imu = ImuInput(CONFIG)
    assert nothing(imu.read(0.0))
    assert send(imu, 0.0, force=(np.nan, 0.0, 9.81)).orientation is None, "which way is up is not known yet"
    for tick in range(1, 101):
        turned = send(imu, DT * tick, gyro=(0.0, 0.0, 0.5))
    blind = send(imu, 1.01, gyro=(0.0, 0.0, 0.5), force=(np.nan, np.nan, np.nan))
    yaw = [2.0 * np.arcsin(reading.orientation[2]) for reading in (turned, blind)]
    assert yaw == pytest.approx([0.495, 0.5], abs=1e-6), "the gyroscope alone goes on"
    for t in (1.02, 1.03, 1.04):
        assert send(imu, t, gyro=(np.nan, 0.0, 0.0)) is blind
    after = send(imu, 1.05, gyro=(0.0, 0.0, 0.5))
    assert 2.0 * np.arcsin(after.orientation[2]) == pytest.approx(0.52, abs=1e-6), "over the hole the rate is held"
    assert imu.read(1.25) is after and nothing(imu.read(1.26))


@pytest.mark.parametrize("gives_orientation", [True, False])
def test_readings_that_are_late_by_a_known_time_are_turned_on_to_the_present(gives_orientation):
    """A ball that turns about a tilted axis, whose IMU is two ticks late."""
    rate, late = np.array([2.0, -1.0, 3.0]), 2

    def attitude(tick):
        return Rotation.from_rotvec(DT * tick * rate)

    found = {}
    for latency in (0.0, late * DT):
        imu = ImuInput(CONFIG.replace(latency=latency))
        for tick in range(101):
            then = attitude(tick - late)
            reading = send(imu, DT * tick, then.as_quat() if gives_orientation else None, rate, then.inv().apply(UP))
        up = Rotation.from_quat(reading.orientation).inv().apply(UP)  # of the filter's attitude the yaw is arbitrary
        found[latency] = np.linalg.norm(up - attitude(100).inv().apply(UP)) / np.linalg.norm(UP)
    assert found[0.0] > 0.03 and found[late * DT] < 0.4 * found[0.0], "what is left is the filter's own"
    blind = ImuInput(CONFIG.replace(latency=0.01)).read(0.0)
    assert nothing(blind)


def test_after_a_gap_up_begins_anew_and_the_heading_goes_on():
    imu = ImuInput(CONFIG)
    for tick in range(101):
        before = send(imu, DT * tick, gyro=(0.0, 0.0, 0.5))
    fallen = Rotation.from_euler("ZX", [0.5, 0.6])  # while nothing came
    send(imu, 3.0, force=(np.nan, np.nan, np.nan))
    for tick in range(1, 4):
        reading = send(imu, 3.0 + DT * tick, force=fallen.inv().apply(UP))
    assert Rotation.from_quat(before.orientation).as_euler("ZYX") == pytest.approx([0.5, 0.0, 0.0], abs=1e-3)
    assert Rotation.from_quat(reading.orientation).as_euler("ZYX") == pytest.approx([0.5, 0.0, 0.6], abs=0.05)


def test_late_messages_change_nothing_and_a_clock_that_goes_back_starts_anew():
    imu = ImuInput(CONFIG)
    for tick in range(101):
        before = send(imu, DT * tick, gyro=(0.0, 0.0, 0.5))
    for late in (1.0, 0.97):
        imu.receive(late, None, np.array([0.0, 0.0, 9.0]), UP)
    assert imu.read(1.0) is before
    assert send(imu, 0.01, gyro=(0.0, 0.0, 0.5)).orientation == pytest.approx(LEVEL)
    assert isinstance(imu.read(0.01), ImuReading)


def test_another_input_goes_on_with_the_heading_however_far_the_ball_has_rolled_meanwhile():
    first, turn = ImuInput(CONFIG), Rotation.from_euler("z", 0.5)
    assert first.memory == []
    for tick in range(101):
        send(first, DT * tick, gyro=(0.0, 0.0, 0.5))
    memory = first.memory
    assert {type(number) for number in memory} == {float} and memory[0] == 1.0
    for angle in (0.0, 0.6, 1.6, 3.0, -2.0):
        lies = turn * Rotation.from_euler("y", angle)
        reading = send(ImuInput(CONFIG, memory), 3.0, force=lies.inv().apply(UP))
        assert degrees(Rotation.from_quat(reading.orientation), lies) == pytest.approx(0.0, abs=0.1)
    for t in (0.5, 61.5):  # the simulation was started anew; long ago
        assert send(ImuInput(CONFIG, memory), t).orientation == pytest.approx(LEVEL)
    for broken in (memory[:4], [1.0, np.nan, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0, 0.0]):
        assert send(ImuInput(CONFIG, broken), 3.0).orientation == pytest.approx(LEVEL)


def test_a_message_that_is_handled_late_gets_the_attitude_of_its_own_time():
    imu = ImuInput(CONFIG)
    readings = [send(imu, DT * tick, gyro=(0.0, 0.0, 0.5)) for tick in range(101)]
    for tick in (0, 37, 100):
        assert imu.read(DT * tick) is readings[tick]
        assert imu.read(DT * tick + 0.4 * DT) is readings[tick], "the next one had not been measured yet"
    assert imu.read(-0.5 * DT) is readings[0] and nothing(imu.read(-0.5))


def test_only_an_imu_that_measures_at_the_ticks_is_waited_for():
    imu = ImuInput(CONFIG)
    assert not imu.is_due(0.0), "none was seen"
    for tick in range(3):
        send(imu, DT * tick)
        assert imu.is_due(DT * (tick + 1)) and not imu.is_due(DT * tick)
    imu.read(DT * 3)
    assert not imu.is_due(DT * 4), "it stopped"
    send(imu, DT * 4)
    assert imu.is_due(DT * 5), "it is back"
    imu.receive(DT * 5 - 0.003, None, np.zeros(3), UP)
    imu.read(DT * 5)
    assert not imu.is_due(DT * 6), "its clock is not that of the ticks"
