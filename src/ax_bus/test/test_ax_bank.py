# SPDX-License-Identifier: MIT
"""The motors of a chain that a simulator moves: the law of a single motor, the battery, bytes and physics in order."""

from __future__ import annotations

import numpy as np
import pytest

from ax_bus import Bus, Timeouts, protocol
from ax_bus.protocol import ErrorFlags
from ax_bus.registers import AX_12A, AX_18A, RAD_PER_STEP
from ax_emulator import Battery, CoupledChain, EmulatedServo, MotorBank, VirtualPort, World, equal_servos
from ax_emulator.errors import EmulationError


def random_registers(servo, rng):
    table = servo.table
    table["torque_enable"] = int(rng.random() < 0.8)
    table["goal_position"] = int(rng.integers(0, 1024))
    table["moving_speed"] = int(rng.choice([0, 5, 200, 1023]))
    table["torque_limit"] = int(rng.choice([0, 300, 1023]))
    table["punch"] = int(rng.integers(32, 300))
    for side in ("cw", "ccw"):
        table[f"{side}_compliance_margin"] = int(rng.integers(0, 6))
        table[f"{side}_compliance_slope"] = int(rng.choice([4, 16, 32, 100]))
    if rng.random() < 0.2:
        table["cw_angle_limit"] = table["ccw_angle_limit"] = 0


def test_the_bank_follows_the_law_of_the_single_motor():
    rng = np.random.default_rng(5)
    for _ in range(40):
        models = [AX_12A, AX_18A] * 3
        alone = [EmulatedServo(i, model) for i, model in enumerate(models)]
        for servo in alone:
            random_registers(servo, rng)
        banked = [EmulatedServo(i, model) for i, model in enumerate(models)]
        for servo, twin in zip(alone, banked):
            twin.table.image[:] = servo.table.image
        bank = MotorBank(banked)
        position = rng.uniform(0.5, 4.5, len(models))
        bank.position = position.copy()
        for servo, twin, x in zip(alone, banked, position):
            servo.motor.set_external(x, 0.0)
            servo.motor.restart()
            twin.motor.restart()
        for k in range(1, 30):
            position = position + rng.normal(0.0, 0.01, len(models))
            torque = bank.step(position, np.zeros(len(models)), 1e-3)
            for i, servo in enumerate(alone):
                servo.motor.set_external(position[i], 0.0)
                servo.motor.advance(k * 1e-3)
                assert banked[i].motor.output == pytest.approx(servo.motor.output, abs=1e-12)
                # the single motor's is after the step, and a thousandth of a second warmer
                assert torque[i] == pytest.approx(servo.motor.torque(), abs=1e-5)


def test_registers_show_what_the_simulator_did():
    servos = equal_servos([1, 2])
    bank = MotorBank(servos)
    servos[0].table["torque_enable"] = 1
    servos[0].table["goal_position"] = 600
    bank.step(np.array([500.0, 700.2]) * RAD_PER_STEP, np.array([1.0, -0.5]), 0.002)
    for servo in servos:
        servo.advance(0.002)
    assert servos[0].table["present_position"] == 500 and servos[1].table["present_position"] == 700
    assert servos[0].table["present_load"] == 1023 and servos[1].table["present_load"] == 0
    assert servos[1].table["present_speed"] == 1024 + 43  # 0.5 rad/s clockwise


def test_a_stalled_motor_overloads_and_shuts_down():
    servos = equal_servos([1])
    bank = MotorBank(servos)
    servos[0].table["torque_enable"], servos[0].table["goal_position"] = 1, 1000
    for _ in range(1200):
        torque = bank.step(np.array([2.0]), np.zeros(1), 0.002)
    assert torque[0] == pytest.approx(1.5 / (1.0 + 0.0039 * (bank.temperature[0] - 25.0)), rel=1e-5)
    assert 1.48 < torque[0] < 1.49, "2 K warmer"
    servos[0].advance(2.4)
    assert servos[0].alarms & ErrorFlags.OVERLOAD and servos[0].table["torque_limit"] == 0
    assert bank.step(np.array([2.0]), np.zeros(1), 0.002)[0] == 0.0


def test_heat_of_a_stall_agrees_with_the_single_motor():
    alone, twin = EmulatedServo(1), EmulatedServo(1)
    for servo in (alone, twin):
        servo.table["torque_enable"], servo.table["goal_position"] = 1, 1000
    bank = MotorBank([twin])
    alone.motor.set_external(2.0, 0.0)
    alone.motor.advance(60.0)
    for _ in range(30000):
        bank.step(np.array([2.0]), np.zeros(1), 0.002)
    assert alone.motor.temperature > 60.0
    assert twin.motor.temperature == pytest.approx(alone.motor.temperature, abs=0.1)


def test_a_voltage_fault_outlasts_the_battery():
    servo = equal_servos([1])[0]
    servo.sag = 6.0
    servo.voltage = 12.1
    assert servo.voltage == 6.0
    servo.sag = None
    assert servo.voltage == 12.1


def test_current_is_that_of_the_datasheet_at_stall_and_nothing_without_torque():
    servos = equal_servos([1, 2])
    bank = MotorBank(servos)
    for goal in (1000, 0):
        servos[0].table["torque_enable"], servos[0].table["goal_position"] = 1, goal
        bank.step(np.array([2.0, 2.0]), np.zeros(2), 0.002)
        assert bank.current() == pytest.approx(1.5 + 2 * 0.05, rel=1e-4)


def test_a_warm_winding_pushes_brakes_draws_and_heats_less():
    figures = []
    for temperature in (25.0, 75.0):
        servo = equal_servos([1])[0]
        bank = MotorBank([servo])
        servo.table["torque_enable"], servo.table["goal_position"] = 1, 1000
        servo.motor.temperature = temperature
        no_load = servo.motor.parameters.no_load_speed
        torque = bank.step(np.array([2.0]), np.array([0.5 * no_load]), 0.002)
        heat = bank.temperature - temperature + (temperature - 25.0) * 0.002 / 300.0
        figures.append((torque[0], bank.braking[0], bank.current() - 0.05, heat[0]))
    assert figures[0] == pytest.approx((1.5, 1.0, 0.75, 0.25 * 0.8 * 0.002))
    assert figures[1] == pytest.approx(np.array(figures[0]) / (1.0 + 0.0039 * 50.0))
    bank.step(np.array([2.0]), np.array([no_load]), 0.002)
    assert bank.temperature < 75.0, "no current at the speed without load, and no heat"


def test_the_single_motor_turns_as_fast_warm_and_brakes_less():
    speeds, braking = [], []
    for temperature in (25.0, 69.0):
        servo = EmulatedServo(1)
        servo.table["cw_angle_limit"] = servo.table["ccw_angle_limit"] = 0
        servo.table["torque_enable"], servo.table["moving_speed"] = 1, 1023
        servo.motor.load_torque = servo.motor.parameters.friction
        servo.advance(1.0)
        servo.motor.temperature = temperature
        servo.advance(2.0)
        speeds.append(servo.motor.velocity)
        servo.motor.output = 0.0
        braking.append(servo.motor.torque())
        assert servo.motor.temperature < temperature + 1e-4, "it draws no current"
    assert speeds == pytest.approx([servo.motor.parameters.no_load_speed] * 2, rel=1e-3)
    assert braking[0] / braking[1] == pytest.approx(1.0 + 0.0039 * 44.0, rel=0.01)


def test_a_battery_sags_discharges_and_refuses_nonsense():
    battery = Battery()
    assert battery.voltage == pytest.approx(12.0, abs=0.02)
    assert battery.drain(10.0, 0.0) == pytest.approx(battery.open_voltage - 0.6)
    for _ in range(3600):
        battery.drain(1.15, 1.0)
    assert battery.charge == pytest.approx(0.28, abs=1e-6)
    assert 11.2 < battery.voltage < 11.3
    for charge in (-0.1, 1.1, float("nan")):
        with pytest.raises(EmulationError, match="give a fraction from 0 to 1"):
            Battery(charge)


def test_an_empty_battery_has_no_voltage():
    battery = Battery(0.05)
    volts = [battery.voltage]
    while battery.charge > 0.0:
        volts.append(battery.drain(0.01, 2.0))
    assert np.diff(volts).max() < 0.0 and volts[0] == pytest.approx(10.83) and volts[-1] == 0.0
    assert Battery(0.02).voltage == pytest.approx(10.2, abs=0.03), "above 2 % the usual table"
    assert 9.0 < Battery(0.01).voltage < 9.6, "the driver's ladder ends before the charge does"
    assert battery.drain(10.0, 1.0) == 0.0, "never below"


class Recorder(World):
    """Notes when it is stepped, and what the servo's goal is then."""

    def __init__(self, servo):
        self.servo, self.steps, self.seen = servo, 0, []

    @property
    def next_time(self):
        return (self.steps + 1) * 1e-3

    def step(self):
        self.steps += 1
        self.seen.append(self.servo.table["goal_position"])


def test_bytes_and_physics_happen_in_the_order_of_their_times():
    servos = equal_servos([1], return_delay=0)
    world = Recorder(servos[0])
    MotorBank(servos)
    port = VirtualPort(CoupledChain(servos, world))
    bus = Bus(port, Timeouts(link_latency=1e-4))
    port.sleep(0.00095)
    # 90 us on the wire: lands after the first step, before the second; nothing is awaited, the clock makes one leap
    bus.write(1, 30, (700).to_bytes(2, "little"), acknowledged=False)
    port.sleep(0.0021)
    assert world.seen == [512, 700, 700]


def test_physics_that_is_behind_leaves_the_servos_time_to_answer():
    servos = equal_servos([1])
    world = Recorder(servos[0])
    chain = CoupledChain(servos, world)
    chain.is_paced, chain.most_steps = True, 1
    chain.transmit(1.0, protocol.ping(1))
    chain.advance(1.01)
    assert world.steps == 1 and chain.next_time() < 1.01, "of a thousand that are due"
    assert chain.take(1.01)


def test_a_paced_chain_wakes_up_for_physics():
    servos = equal_servos([1])
    chain = CoupledChain(servos, Recorder(servos[0]))
    assert chain.next_time() is None
    chain.is_paced = True
    assert chain.next_time() == pytest.approx(1e-3)
