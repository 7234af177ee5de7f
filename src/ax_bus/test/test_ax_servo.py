# SPDX-License-Identifier: MIT
"""The emulated servo itself: motion, compliance, limits, alarms, memory."""

from __future__ import annotations

import math

import pytest

from ax_bus import AX_12A, AX_18A, MODELS, MX_28, MX_64, ErrorFlags
from ax_bus.registers import RAD_PER_STEP
from ax_emulator import EmulatedServo, EmulationError, ServoBehaviour
from ax_emulator.motor import effective_slope, motor_parameters


def servo_on(model=AX_12A, slope=16, **options):
    servo = EmulatedServo(1, model, behaviour=ServoBehaviour(interrupts=False), **options)
    servo.table["torque_enable"] = 1
    if not model.multi_turn:
        servo.table["cw_compliance_slope"] = servo.table["ccw_compliance_slope"] = slope
    return servo


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda m: m.name)
def test_it_turns_no_faster_than_the_datasheet_and_arrives(model):
    servo = servo_on(model, position=100)
    goal = model.position_max - 123
    servo.table["goal_position"] = goal
    top = 0.0
    for i in range(1, 2500):
        servo.advance(i * 1e-3)
        top = max(top, servo.motor.velocity)
    limit = motor_parameters(model).no_load_speed
    assert 0.9 * limit < top <= limit
    # AX: the dead band is one step, the sag of the friction less than two more; MX: P gain of 32, a step is a quarter
    assert abs(servo.motor.steps - goal) <= 3 and abs(servo.motor.velocity) < 1e-9


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
    assert servo.motor.torque() == pytest.approx(
        1.5 * share - 1.5 / motor_parameters(AX_12A).no_load_speed * 0.5, rel=1e-4
    )
    assert servo.motor.position == 512 * RAD_PER_STEP - 0.04  # moved by the simulator only
    assert servo.table["present_load"] == round(share * 1023)


@pytest.mark.parametrize("enables", [False, True])
def test_whether_a_goal_switches_torque_on_is_a_choice(enables):
    servo = EmulatedServo(1, behaviour=ServoBehaviour(goal_enables_torque=enables))
    servo.handle(0x03, bytes((30, 0x00, 0x03)), False, 0.1)
    servo.advance(1.0)
    assert servo.table["torque_enable"] == enables and (servo.motor.steps > 700) is enables


def test_a_p_gain_holds_a_load_with_an_error_and_an_i_gain_without():
    """e-Manual, PID gains: P / 8 of output per step of error."""
    for gains, steps in (({"p_gain": 32}, 0.1 * 1023 / 4), ({"p_gain": 64}, 0.1 * 1023 / 8), ({"i_gain": 8}, 0)):
        servo = servo_on(MX_28)
        for name, number in gains.items():
            servo.table[name] = number
        servo.motor.load_torque = -0.25
        servo.advance(20.0)
        friction = 0.03 / 2.5 * 1023 / (servo.table["p_gain"] / 8)
        assert 2048 - servo.motor.steps == pytest.approx(steps, abs=friction + 2)


def test_goal_acceleration_is_kept():
    """The manual's example: acceleration 10 gives 14.3 rpm after a second."""
    servo = servo_on(MX_28, position=100)
    servo.table["goal_acceleration"], servo.table["goal_position"] = 10, 4000
    servo.advance(1.0)
    assert servo.motor.velocity == pytest.approx(14.3 * math.pi / 30.0, rel=0.08)  # behind by damping over stiffness
    servo.advance(15.0)
    assert abs(servo.motor.steps - 4000) <= 8


def test_multi_turn_counts_turns_with_divider_and_offset():
    servo = servo_on(MX_64)
    servo.table["cw_angle_limit"] = servo.table["ccw_angle_limit"] = 4095
    servo.table["goal_position"] = -8000
    servo.advance(20.0)
    assert abs(servo.table["present_position"] + 8000) <= 3
    turned = servo.motor.position
    servo.table["torque_enable"], servo.table["resolution_divider"], servo.table["multi_turn_offset"] = 0, 4, 1024
    servo.advance(21.0)
    assert servo.table["present_position"] == pytest.approx(-8000 / 4 + 1024, abs=2) and servo.motor.position == turned
    servo.table["ccw_angle_limit"] = 4094  # joint mode: divider and offset do not count
    servo.advance(22.0)
    assert servo.table["present_position"] == pytest.approx(-8000 % 4096, abs=3)


def test_a_wheel_of_mx_has_its_speed_whatever_the_load():
    servo = servo_on(MX_28)
    servo.table["cw_angle_limit"] = servo.table["ccw_angle_limit"] = 0
    servo.table["moving_speed"] = 1024 | 100  # clockwise, 11.4 rpm
    for load in (0.0, 0.3, -0.3):
        servo.motor.load_torque = load
        servo.advance(servo.motor.time + 3.0)
        assert servo.motor.velocity == pytest.approx(-11.4 * math.pi / 30.0, rel=0.02)


def test_torque_mode_of_mx64_drives_by_current():
    servo = servo_on(MX_64)
    servo.table["torque_control_mode_enable"], servo.table["goal_torque"] = 1, 1024 | 200  # 0.9 A of 4.1 A
    servo.motor.load_torque = 0.9 / 4.1 * 6.0
    servo.advance(1.0)
    assert abs(servo.motor.velocity) < 0.05 and servo.table["current"] == 2048 - 200


def test_ping_to_all_is_answered_and_nothing_else_is():
    """AX-12 manual, p. 22; a chain of several answers at once, which collides."""
    servo = EmulatedServo(9)
    assert servo.handle(0x01, b"", True, 0.1).packet == bytes.fromhex("ff ff 09 02 00 f4")
    assert servo.handle(0x02, bytes((3, 1)), True, 0.2) is None


def test_every_bit_of_the_shutdown_mask_takes_the_torque_away():
    for mask, instruction, parameters in ((64, 0x55, b""), (8, 0x03, bytes((30, 0, 4))), (1, 0x01, b"")):
        servo = EmulatedServo(1)
        servo.table["shutdown"] = mask
        servo.voltage = 5.0 if mask == 1 else 12.0
        servo.handle(instruction, parameters, False, 0.1)
        assert servo.table["torque_limit"] == 0


def test_a_lock_ends_with_the_power_only():
    servo = EmulatedServo(1)
    for value, flag in ((1, 0), (0, ErrorFlags.RANGE), (1, 0)):
        assert servo.handle(0x03, bytes((47, value)), False, 0.1).packet[4] == flag
    assert servo.table["lock"] == 1
    servo.reboot(1.0)
    assert servo.table["lock"] == 0


def test_mx_reboot_and_ax_do_not_know_how():
    assert EmulatedServo(1).handle(0x08, b"", False, 0.1).packet[4] == ErrorFlags.INSTRUCTION
    servo = EmulatedServo(1, MX_28)
    servo.table["torque_enable"] = 1
    assert servo.handle(0x08, b"", False, 5.0).packet[4] == 0 and servo.table["torque_enable"] == 0
    servo.advance(6.5)
    assert servo.table["realtime_tick"] == 1500


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
        (0x02, b"\x00", ErrorFlags.INSTRUCTION),
        (0x03, bytes((47, 2)), ErrorFlags.RANGE),
        (0x03, bytes((30, 1)), ErrorFlags.RANGE),  # half a register
        (0x03, bytes((32, 0, 4)), ErrorFlags.RANGE),  # a speed of wheel mode in joint mode
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


@pytest.mark.parametrize("delay", [-1, 255])
def test_a_return_delay_that_no_register_holds_is_refused(delay):
    with pytest.raises(EmulationError, match=f"return delay is {delay}; give 0 to 254 units of 2 us"):
        EmulatedServo(1, AX_12A, return_delay=delay)
