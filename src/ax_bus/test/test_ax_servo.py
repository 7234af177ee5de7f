# SPDX-License-Identifier: MIT
"""The emulated servo itself: motion, compliance, limits, alarms, memory."""

from __future__ import annotations

import math

import pytest

from ax_bus import AX_12A, AX_18A, MODELS, ErrorFlags
from ax_bus.registers import RAD_PER_STEP
from ax_emulator import EmulatedServo, ServoBehaviour
from ax_emulator.motor import effective_slope, motor_parameters


def servo_on(model=AX_12A, slope=16, **options):
    servo = EmulatedServo(1, model, behaviour=ServoBehaviour(interrupts=False), **options)
    servo.table["torque_enable"] = 1
    servo.table["cw_compliance_slope"] = servo.table["ccw_compliance_slope"] = slope
    return servo


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda m: m.name)
def test_it_turns_no_faster_than_the_datasheet_and_arrives(model):
    servo = servo_on(model, position=100)
    servo.table["goal_position"] = 900
    top = 0.0
    for i in range(1, 1500):
        servo.advance(i * 1e-3)
        top = max(top, servo.motor.velocity)
    limit = motor_parameters(model).no_load_speed
    assert 0.9 * limit < top <= limit
    # the dead band is one step, the sag of the friction less than two more
    assert abs(servo.motor.steps - 900) <= 3 and servo.motor.velocity == 0.0


def test_moving_speed_is_kept():
    servo = servo_on(position=200)
    servo.table["moving_speed"] = 100  # 11.1 rpm, 1.16 rad/s
    servo.table["goal_position"] = 800
    servo.advance(0.5)
    start = servo.motor.position
    servo.advance(1.5)
    assert servo.motor.position - start == pytest.approx(11.1 * math.pi / 30, rel=0.02)


@pytest.mark.parametrize("slope,model", [(16, AX_12A), (32, AX_12A), (16, AX_18A), (64, AX_18A)])
def test_stiffness_is_torque_over_slope(slope, model):
    """Sag under a load is margin + load · slope / stall torque; at slope 16 the simulators' own stiffness."""
    servo = servo_on(model, slope)
    load = 0.3
    servo.motor.load_torque = -load
    servo.advance(2.0)
    sag = 512 * RAD_PER_STEP - servo.motor.position - 1 * RAD_PER_STEP
    stiffness = motor_parameters(model).stall_torque / (slope * RAD_PER_STEP)
    friction = motor_parameters(model).friction
    assert sag == pytest.approx(load / stiffness, abs=friction / stiffness + 1e-9)


def test_slope_acts_in_seven_steps():
    assert [effective_slope(i) for i in (0, 3, 4, 7, 8, 16, 31, 32, 64, 127, 128, 254)] == [
        2, 2, 4, 4, 8, 16, 16, 32, 64, 64, 128, 128]  # fmt: skip


def test_torque_limit_bounds_the_load_it_holds():
    for limit, holds in ((1023, True), (200, False)):
        servo = servo_on()
        servo.table["torque_limit"] = limit
        servo.motor.load_torque = -0.6
        servo.advance(0.5)
        assert (servo.motor.steps > 480) is holds
    assert abs(servo.motor.output) <= 200 / 1023 + 1e-12


def test_torque_off_lets_go_and_friction_holds_a_little():
    servo = EmulatedServo(1)
    servo.motor.load_torque = 0.02
    servo.advance(1.0)
    assert servo.motor.steps == 512
    servo.motor.load_torque = 0.3
    servo.advance(2.0)
    assert servo.motor.steps > 700


def test_a_stalled_servo_raises_overload_and_shuts_down():
    servo = servo_on()
    servo.table["torque_limit"] = 300
    servo.motor.load_torque = -1.0
    servo.motor.position = 3.0  # an end stop would hold it; here the load is the stop
    servo.table["goal_position"] = 1023
    servo.motor.parameters = servo.motor.parameters.__class__(1.5, 6.18, 0.006, friction=2.0)
    servo.advance(1.5)
    assert not servo.error
    servo.advance(2.5)
    assert servo.error == ErrorFlags.OVERLOAD and servo.table["torque_limit"] == 0


def test_stall_heats_to_the_shutdown_in_about_a_minute_and_rest_cools():
    servo = servo_on()
    servo.table["shutdown"] = 4  # heat alone
    servo.table["goal_position"] = 1023
    servo.motor.parameters = servo.motor.parameters.__class__(1.5, 6.18, 0.006, friction=5.0)
    for second in range(1, 121):
        servo.advance(float(second))
        if servo.error & ErrorFlags.OVERHEATING:
            break
    assert 40 < second < 90 and servo.table["torque_limit"] == 0
    servo.advance(second + 1200.0)
    assert servo.motor.temperature < 30.0


def test_low_voltage_slows_and_alarms():
    fast, slow = servo_on(position=100), servo_on(position=100)
    slow.voltage = 5.9
    for servo in (fast, slow):
        servo.table["goal_position"] = 1000
        servo.advance(0.3)
    start = 100 * RAD_PER_STEP
    assert slow.motor.position - start < 0.55 * (fast.motor.position - start)
    assert slow.error == ErrorFlags.INPUT_VOLTAGE and not fast.error


def test_no_byte_begins_while_the_motor_interrupt_runs():
    servo = EmulatedServo(3, seed=4)
    packet = bytes(range(14))
    phases_us = []
    for i in range(1000):
        start = i * 1.37e-5
        bursts = servo.bursts(start, packet, 1e-5)
        assert b"".join(data for _, data in bursts) == packet and bursts[0][0] >= start
        begins = [begin + k * 1e-5 for begin, data in bursts for k in range(len(data))]
        phases_us += [(t - servo._phase) % 1e-3 * 1e6 for t in begins]
    assert not [phase for phase in phases_us if 0.1 < phase < 129.9]
    assert min(phase for phase in phases_us if phase > 1.0) < 131.0 and max(phases_us) > 990.0


def test_external_physics_gets_torque_and_gives_the_horn():
    servo = servo_on()
    servo.motor.set_external(512 * RAD_PER_STEP - 0.04, 0.5)
    servo.advance(0.01)
    share = (0.04 - RAD_PER_STEP) / (16 * RAD_PER_STEP)
    assert servo.motor.torque() == pytest.approx(1.5 * share - 1.5 / motor_parameters(AX_12A).no_load_speed * 0.5)
    assert servo.motor.position == 512 * RAD_PER_STEP - 0.04  # moved by the simulator only
    assert servo.table["present_load"] == round(share * 1023)


@pytest.mark.parametrize("enables", [False, True])
def test_whether_a_goal_switches_torque_on_is_a_choice(enables):
    servo = EmulatedServo(1, behaviour=ServoBehaviour(goal_enables_torque=enables))
    servo.handle(0x03, bytes((30, 0x00, 0x03)), False, 0.1)
    servo.advance(1.0)
    assert servo.table["torque_enable"] == enables and (servo.motor.steps > 700) is enables


def test_reset_is_refused_as_on_many_ax12_unless_wanted():
    servo = EmulatedServo(7)
    assert servo.handle(0x06, b"", False, 0.1).packet[4] == ErrorFlags.INSTRUCTION and servo.servo_id == 7
    servo = EmulatedServo(7, behaviour=ServoBehaviour(accepts_reset=True))
    servo.handle(0x06, b"", False, 0.1)
    assert servo.servo_id == 1 and servo.table["return_delay_time"] == 250


@pytest.mark.parametrize(
    "instruction,parameters,flag",
    [
        (0x02, bytes((45, 9)), ErrorFlags.RANGE),
        (0x02, bytes((0, 0)), ErrorFlags.RANGE),
        (0x02, b"\x00", ErrorFlags.RANGE),
        (0x03, b"\x1e", ErrorFlags.INSTRUCTION),
        (0x03, bytes((49, 1, 1)), ErrorFlags.RANGE),
        (0x03, bytes((3, 254)), ErrorFlags.RANGE),
        (0x92, bytes((0, 2, 1, 36)), ErrorFlags.INSTRUCTION),
        (0x55, b"", ErrorFlags.INSTRUCTION),
    ],
)
def test_wrong_instructions_change_nothing_and_say_so(instruction, parameters, flag):
    servo = EmulatedServo(1)
    before = servo.table.as_dict()
    assert servo.handle(instruction, parameters, False, 0.01).packet[4] == flag
    assert servo.table.as_dict() == before
    assert servo.handle(instruction, parameters, True, 0.02) is None  # broadcast is never answered
