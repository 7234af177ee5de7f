# SPDX-License-Identifier: MIT
"""The start of the motor driver: what it finds, what it refuses, and that nothing jumps."""

from __future__ import annotations

import numpy as np
import pytest
from driver_bench import SHIPPED, DriverBench

from ax_bus.direction import GpioDirection
from ax_bus.registers import RAD_PER_STEP
from ax_emulator import ServoBehaviour
from shellbot_motor_driver import Condition, Phase, Reaction, StartError

BLIND = {"start": {"allow_write_only": True}}


def refused(bench, words):
    with pytest.raises(StartError, match=words) as caught:
        bench.driver.start()
    assert all(not servo.table["torque_enable"] for servo in bench.chain.servos), "nothing may move"
    return caught.value


@pytest.mark.parametrize(("variant", "count"), [("walker", 19), ("full", 31)])
def test_start_finds_all_servos_and_brings_torque_up_where_they_stand(variant, count):
    bench = DriverBench(variant, start=False, config=SHIPPED)
    steps = np.random.default_rng(3).integers(300, 700, count)
    for servo, where in zip(bench.chain.servos, steps):
        servo.motor.position = where * RAD_PER_STEP
        servo.table["goal_position"] = 1000  # what a torque-on would jump to
    report = bench.driver.start()
    assert len(report.answered) == count and not report.missing and not report.is_write_only and not report.notices
    assert [s.table["goal_position"] for s in bench.chain.servos] == steps.tolist(), "goal := present, before any tick"
    assert all(s.table["torque_limit"] < 0.1 * 1023 for s in bench.chain.servos)
    assert "trusted" in report.wiring and f"{count} of {count} servos answered" in report.text
    shares = []

    def watch():
        shares.append(bench.driver.snapshot().table[9].max())
        assert all(abs(s.motor.steps - w) <= 2 for s, w in zip(bench.chain.servos, steps)), "a joint moved"

    bench.run(1.4, None, until=watch)
    assert shares[0] < 0.3 and shares[-1] == 1.0 and max(np.diff(shares)) < 0.06, "torque must rise, not jump"
    assert bench.phase is Phase.WAITING
    assert all(
        s.table["torque_enable"] and s.table["torque_limit"] == s.table["max_torque"] for s in bench.chain.servos
    )
    assert all(s.table["lock"] for s in bench.chain.servos)


def test_torque_limit_rises_in_the_servo_itself():
    bench = DriverBench(config=SHIPPED)
    first = bench.servo(5).table["torque_limit"]
    bench.run(0.4)
    half = bench.servo(5).table["torque_limit"]
    bench.run(1.0)
    assert first < 0.1 * 1023 < half < 0.7 * 1023 and bench.servo(5).table["torque_limit"] == 983


def test_start_without_torque_waits_for_the_service():
    bench = DriverBench(config={"start": {"torque": False}})
    bench.run(0.5)
    assert bench.phase is Phase.OFF and not any(s.table["torque_enable"] for s in bench.chain.servos)
    assert bench.driver.torque(True)
    bench.run(1.3)
    assert bench.phase is Phase.FOLLOWING and all(s.table["torque_enable"] for s in bench.chain.servos)


def test_a_missing_servo_is_named_with_those_who_answered():
    bench = DriverBench(start=False)
    bench.servo(7).is_dead = bench.servo(8).is_dead = True
    error = refused(bench, "2 of 19 servos do not answer: servo 7 .lower_3_coxa., servo 8 .* Answered: 0-6, 9-18")
    assert error.report.missing == (7, 8)


def test_a_dead_bus_is_power_cable_or_rate():
    bench = DriverBench(start=False)
    for servo in bench.chain.servos:
        servo.is_dead = True
    refused(bench, "none of the 19 servos answers .* power, the cable and the baud rate")


def test_a_wrong_rate_of_one_servo_is_a_missing_one():
    bench = DriverBench(start=False)
    bench.servo(3).table["baud_rate"] = 34
    refused(bench, "servo 3 .*scripts/servo scan")


def test_two_servos_of_one_id_are_named():
    bench = DriverBench(start=False)
    bench.servo(4).motor.position = 2.0
    bench.servo(9).table["id"] = 4
    refused(bench, "(?s)servo 9 .*servo 4 .*two servos with ID 4|servo 4 .*garbled")


def test_a_servo_of_another_model_is_refused():
    bench = DriverBench(start=False)
    bench.servo(2).table["model_number"] = 12
    refused(bench, "servo 2 .lower_1_femur. is an AX-12A, the map has an AX-18A: replace it")


def test_an_unknown_model_is_refused():
    bench = DriverBench(start=False)
    bench.servo(2).table["model_number"] = 350
    refused(bench, "unknown model 350")


def test_a_joint_in_wheel_mode_is_refused():
    bench = DriverBench(start=False)
    bench.servo(5).table["ccw_angle_limit"] = 0
    refused(bench, "servo 5 .* wheel mode and turns without end")


def test_narrow_angle_limits_are_refused():
    bench = DriverBench(start=False)
    bench.servo(5).table["ccw_angle_limit"] = 600
    refused(bench, "servo 5 .* accepts goals from 0 to 600 only, but its joint needs")


def test_status_level_0_is_named():
    bench = DriverBench(start=False)
    bench.servo(6).table["status_return_level"] = 0
    refused(bench, "servo 6 .* answers PING but no READ: its status return level is 0")


def test_status_level_1_works_and_is_said():
    bench = DriverBench(start=False)
    bench.servo(6).table["status_return_level"] = 1
    assert "return level of servos 6 is not 2" in bench.driver.start().text
    bench.targets = bench.driver.state().command.copy()
    bench.ready()


def test_a_long_return_delay_is_said_with_the_command():
    bench = DriverBench(return_delay=250)
    assert "return delay of servos 0-18 is 500 us" in bench.report.text and "scripts/servo prepare" in bench.report.text
    assert all(servo.table["return_delay_time"] == 250 for servo in bench.chain.servos), "EEPROM is the tools' business"


def test_a_slow_latency_timer_is_said_with_the_command():
    bench = DriverBench(start=False)
    bench.port.latency_timer_ms = lambda: 16
    report = bench.driver.start()
    assert report.latency_timer_ms == 16 and "latency_timer" in report.text and "sudo tee" in report.text


def test_a_wiring_that_loses_heads_is_driven_without_reading():
    bench = DriverBench(start=False, config=BLIND)
    bench.chain.host_hold = 60e-6
    report = bench.driver.start()
    assert report.is_write_only and "too late" in report.text and "WITHOUT FEEDBACK" in report.text
    asked = bench.driver.bus.statistics.exchanges
    bench.targets = bench.driver.state().command.copy()
    bench.run(5.0)
    assert bench.driver.bus.statistics.exchanges == asked, "a reply that cannot be trusted is not asked for"
    state = bench.driver.state()
    assert bench.phase is Phase.FOLLOWING and not state.is_measured.any()
    assert {servo.condition for servo in state.servos} == {Condition.UNREAD}
    assert np.allclose(state.position, state.command)
    assert (
        abs(bench.servo(3).motor.position - bench.map.goals(bench.map.reduce(state.command))[3] * RAD_PER_STEP) < 0.02
    )


def test_a_gpio_beside_a_usb_uart_does_not_drive_either():
    """It drops the line before the adapter has sent: goals would arrive cut, or not at all."""
    bench = DriverBench(start=False, reads_trusted=False, config=BLIND)
    bench.port.direction = GpioDirection(is_usb=True)
    refused(bench, "releases the line while the adapter still sends.*direction write-only")


def test_a_write_only_direction_never_moves_faster_than_sitting_at_start():
    bench = DriverBench(start=False, reads_trusted=False, config=BLIND)
    assert bench.driver.start().is_write_only
    speeds = []
    gears = [entry.gear for entry in bench.map.entries]
    bench.run(
        2.5, until=lambda: speeds.append(max(abs(s.motor.velocity) / g for s, g in zip(bench.chain.servos, gears)))
    )
    assert 0.2 < max(speeds) < 0.9


def test_write_only_must_be_allowed():
    bench = DriverBench(start=False, reads_trusted=False)
    refused(bench, "Driving without feedback is switched off")


def test_an_echo_where_none_is_expected_is_no_feedback():
    bench = DriverBench(start=False, config=BLIND)
    bench.chain.echoes = True
    report = bench.driver.start()
    assert report.is_write_only and "single-wire wiring" in report.text


def test_servos_that_hold_already_keep_holding():
    """A driver that is started again takes over without a change of torque or goal, and waits for rearming."""
    bench = DriverBench().ready()
    goals = [servo.table["goal_position"] for servo in bench.chain.servos]
    bench.new_driver()
    on = []
    report = bench.driver.start()
    assert report.resumed and "keep holding" in report.text

    def watch():
        on.append(all(s.table["torque_enable"] and s.table["torque_limit"] >= 980 for s in bench.chain.servos))

    bench.run(0.5, None, until=watch)
    assert all(on) and goals == [servo.table["goal_position"] for servo in bench.chain.servos]
    assert bench.phase is Phase.HOLDING and bench.ladder.rung("restarted").reaction is Reaction.HOLD
    bench.run(0.3)
    assert bench.phase is Phase.HOLDING
    assert bench.driver.rearm()
    bench.run(0.3)
    assert bench.phase is Phase.FOLLOWING


def test_servos_that_hold_unlocked_keep_holding():
    """Other programs (ax-servo torque on) leave the EEPROM open: that is no restart of the servo."""
    bench = DriverBench(start=False)
    bench.fault("garbled_instruction", probability=0.05)
    for servo in bench.chain.servos:
        servo.table["torque_enable"] = 1
    report, on = bench.driver.start(), []
    assert report.resumed
    bench.run(1.0, None, until=lambda: on.append(all(servo.table["torque_enable"] for servo in bench.chain.servos)))
    assert all(on) and all(servo.table["lock"] for servo in bench.chain.servos), bench.words()


def test_loss_at_start_does_not_refuse_or_blind():
    for seed in range(5):
        bench = DriverBench(seed=seed, start=False)
        bench.fault("lost_reply", probability=0.05)
        assert not bench.driver.start().is_write_only


def test_goal_enables_torque_firmware_does_not_jump_at_start():
    bench = DriverBench(start=False, behaviour=ServoBehaviour(goal_enables_torque=True))
    for servo in bench.chain.servos:
        servo.motor.position = 2.0
        servo.table["goal_position"] = 800
    bench.driver.start()
    bench.run(0.3, None)
    assert all(abs(s.motor.position - 2.0) < 0.01 for s in bench.chain.servos)


def test_a_read_that_was_garbled_once_does_not_make_a_servo_hold():
    """A garbled address is answered, too: what decides about torque is asked twice."""
    bench = DriverBench(start=False)
    answers = []
    table = bench.servo(7).table
    read = table.read

    def once_from_elsewhere(address, count):
        if address == 24 and not answers:
            answers.append(address)
            data = bytearray(read(24, count))
            data[0] = 1
            return bytes(data)
        return read(address, count)

    table.read = once_from_elsewhere
    report = bench.driver.start()
    assert answers and not report.resumed and bench.phase is Phase.STARTING


def test_a_stall_while_torque_comes_on_is_survived():
    bench = DriverBench(start=False)
    bench.fault("stuck_line", after=0.075, stop=0.095)
    bench.driver.start()
    assert bench.faults.struck["stuck_line"] > 2 and all(s.table["torque_enable"] for s in bench.chain.servos)
