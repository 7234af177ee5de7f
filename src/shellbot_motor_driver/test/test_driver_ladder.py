# SPDX-License-Identifier: MIT
"""Every step of the safety ladder: when it comes, what it does, how it is said, how it ends."""

from __future__ import annotations

import numpy as np
import pytest
from driver_bench import SHIPPED, DriverBench

from ax_bus import ErrorFlags
from ax_emulator import ServoBehaviour
from shellbot_description import named_pose_array
from shellbot_motor_driver import Condition, Phase, Reaction


def limp(bench):
    return [servo.servo_id for servo in bench.chain.servos if not servo.table["torque_enable"]]


# -- targets ----------------------------------------------------------------------------------------------------------


def test_silence_of_targets_holds_sits_and_switches_off():
    bench = DriverBench().ready()
    moving = bench.targets.copy()
    start = bench.port.now()

    def approach(now):
        moving[1::4] = bench.targets[1::4] + 1.5 * (now - start)
        return moving

    bench.run(0.2, approach)
    bench.run(0.07, None)
    assert bench.phase is Phase.FOLLOWING
    bench.run(0.06, None)
    assert (
        bench.phase is Phase.HOLDING
        and not bench.ladder.needs_rearm
        and ("no valid targets for 0.1 s") in bench.ladder.text
    )
    held = bench.driver.state().command
    bench.run(1.5, None)
    assert np.abs(bench.driver.state().command - held).max() < 0.1, "holding means standing still"
    bench.run(0.5, None)
    assert bench.phase is Phase.SITTING and bench.ladder.needs_rearm
    bench.run(6.0, None)
    sit = named_pose_array("sit", "walker")
    assert bench.phase is Phase.SAT and np.allclose(bench.driver.state().command, sit, atol=1e-6)
    assert not limp(bench) and abs(bench.driver.state().position - sit).max() < 0.02
    bench.run(2.0, None)
    assert bench.phase is Phase.OFF and len(limp(bench)) == 19
    assert bench.largest_step() <= 1.0
    bench.targets = sit
    bench.run(0.5)
    assert bench.phase is Phase.OFF, "latched: only rearming ends it"
    answer = bench.driver.rearm()
    assert answer and "setpoint" in answer.reason
    bench.run(1.3)
    assert bench.phase is Phase.FOLLOWING and not limp(bench)


@pytest.mark.parametrize(("fan", "sits"), [(-0.3, True), (-1.9, False)])
def test_a_robot_whose_fan_is_turned_in_stays_as_it_is_in_place_of_sitting(fan, sits):
    bench = DriverBench().ready()
    start, begun = bench.targets.copy(), bench.port.now()

    def turn(now):
        return np.where(np.arange(24) % 4 == 0, max(fan, start[0] - (now - begun)), start)

    bench.run(3.0, turn)
    turned = bench.driver.state().command
    assert turned[0] == pytest.approx(fan, abs=1e-3)
    bench.run(7.0, None)
    assert bench.phase is Phase.SAT and not limp(bench)
    goal = named_pose_array("sit", "walker") if sits else turned
    assert np.allclose(bench.driver.state().command, goal, atol=1e-3)
    words = "lower_1_fan is at -109 deg, from where the robot does not sit: it stays as it is"
    assert (words in bench.words()) is not sits
    bench.run(4.0, None)
    assert bench.phase is Phase.OFF and len(limp(bench)) == 19


def test_a_short_silence_ends_with_the_next_targets():
    bench = DriverBench().ready()
    bench.run(0.5, None)
    assert bench.phase is Phase.HOLDING
    bench.run(0.05)
    assert bench.phase is Phase.FOLLOWING and "targets arrive again" in bench.words()


def test_without_any_targets_nothing_is_missed():
    bench = DriverBench(config={"setpoint": {"sit_after": 0.5, "off_after": 2.0}})
    bench.run(4.0, None)
    assert bench.phase is Phase.WAITING and not limp(bench) and bench.ladder.reaction is Reaction.NONE


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda q: np.where(np.arange(24) == 2, np.nan, q), "lower_1_femur are not finite"),
        (lambda q: np.where(np.arange(24) == 2, np.inf, q), "lower_1_femur are not finite"),
        (lambda q: q[:-1], "shape"),
        (lambda q: np.where(np.arange(24) == 0, q + 0.5, q), "fan targets differ"),
        (lambda q: np.where(np.arange(24) == 3, 9.0, q), "lower_1_tibia is 9.00 rad, allowed"),
        (lambda q: np.where(np.arange(24) == 3, q + 1.0, q), "lower_1_tibia jumped by 1.00 rad"),
        (lambda q: ["a"] * 24, "could not convert"),
    ],
    ids=["nan", "inf", "shape", "fans", "far", "jump", "text"],
)
def test_bad_targets_hold_and_are_said(spoil, words):
    bench = DriverBench().ready()
    before = bench.driver.state().command
    bench.run(0.02, spoil(bench.targets))
    state = bench.driver.state()
    assert state.ladder.phase is Phase.HOLDING and state.ladder.rung("targets").reaction is Reaction.HOLD
    assert words in bench.words("targets") and np.abs(state.command - before).max() < 1e-9
    bench.run(0.05)
    assert bench.phase is Phase.FOLLOWING and "targets are valid again" in bench.words()


def test_old_targets_are_not_followed():
    bench = DriverBench().ready()
    now = bench.port.now()
    bench.driver.tick(bench.targets + 0.2, stamp=now - 0.3)
    assert bench.phase is Phase.HOLDING and "0.30 s old on arrival" in bench.ladder.text


def test_a_jump_that_stays_is_approached_slowly():
    bench = DriverBench().ready()
    far = bench.targets.copy()
    far[2] += 1.0
    bench.run(0.08, far)
    assert bench.phase is Phase.HOLDING
    begin = len(bench.commands)
    bench.run(0.2, far)
    assert bench.phase is Phase.FOLLOWING and "approaching the targets slowly: 1.00 rad away" in bench.words()
    first = np.abs(np.diff(np.array(bench.commands[begin : begin + 8]), axis=0)).max()
    assert first <= 2.5 * 0.0102, "the beginning is slow"
    bench.run(1.5, far)
    assert bench.driver.state().command[2] == pytest.approx(far[2]) and bench.largest_step() <= 1.0


def test_targets_slightly_out_of_range_are_clamped_and_said():
    bench = DriverBench().ready()
    q = bench.targets.copy()
    start = bench.port.now()

    def up(now):
        q[1] = min(1.9 + 0.3, bench.targets[1] + 4.0 * (now - start))
        return q

    bench.run(1.0, up)
    assert bench.phase is Phase.FOLLOWING and bench.driver.state().command[1] == pytest.approx(1.9)
    assert "lower_1_coxa (2.200 rad) is clamped" in bench.words("clamped")


# -- one bad reply, suspect, lost, back -------------------------------------------------------------------------------


def test_one_bad_reply_is_asked_again_in_the_tick_and_changes_nothing():
    bench = DriverBench().ready()
    bench.fault("lost_reply", servo=5, times=1)
    bench.run(0.1)
    assert bench.driver.bus.statistics.retries == 1 and bench.reading(5).condition is Condition.GOOD
    assert bench.ladder.reaction is Reaction.NONE and bench.reading(5).missed == 0


def test_three_misses_make_a_servo_suspect_and_its_values_stale():
    bench = DriverBench().ready()
    bench.fault("dead", servo=5, stop=0.15)
    bench.run(0.14)
    reading = bench.reading(5)
    assert reading.condition is Condition.SUSPECT and reading.is_stale and 3 <= reading.misses < 10
    assert bench.phase is Phase.FOLLOWING and "servo 5 (lower_2_femur) missed 3 replies" in bench.words()
    assert not bench.driver.state().is_measured[bench.map.joint_names.index("lower_2_femur")]
    bench.run(0.2)
    assert bench.reading(5).condition is Condition.GOOD and "answers again" in bench.words("suspect")
    assert bench.phase is Phase.FOLLOWING


def test_a_lost_servo_holds_the_others_and_comes_back_gently():
    bench = DriverBench(config={"servo": {"rearm_without": 0}}).ready()
    bench.fault("dead", servo=5, stop=3.0)
    bench.run(0.5)
    assert bench.reading(5).condition is Condition.LOST and bench.phase is Phase.HOLDING
    assert "servo 5 (lower_2_femur) lost: the others hold" in bench.ladder.text and not bench.ladder.may_move
    assert bench.ladder.needs_rearm and not bench.driver.rearm()
    timeouts = bench.driver.bus.statistics.timeouts
    bench.run(2.0)
    assert bench.driver.bus.statistics.timeouts - timeouts <= 4, "one time-out in half a second"
    on = []
    bench.run(1.3, until=lambda: on.append(bool(bench.servo(5).table["torque_enable"])))
    assert all(on) and bench.servo(5).table["torque_limit"] == 983, "its power never failed: it was never limp"
    assert bench.reading(5).condition is Condition.GOOD and "its power never failed" in bench.words("rejoined")
    assert bench.phase is Phase.HOLDING and "rearm to resume" in bench.ladder.text
    bench.targets = bench.driver.state().command.copy()
    assert bench.driver.rearm()
    bench.run(0.2)
    assert bench.phase is Phase.FOLLOWING and bench.largest_step() <= 1.0


def test_a_servo_that_was_without_power_comes_back_gently():
    bench = DriverBench(config=SHIPPED).ready()
    bench.fault("dead", servo=5, stop=3.0)
    bench.fault("reboot", after=2.9, servo=5)
    bench.run(2.5)
    bench.servo(5).motor.position = 2.2  # moved by hand meanwhile
    positions, limits = [], []

    def watch():
        if bench.servo(5).table["torque_enable"] and bench.reading(5).condition is not Condition.LOST:
            positions.append(bench.servo(5).motor.position)
            limits.append(bench.servo(5).table["torque_limit"])

    back = bench.run(2.0, until=lambda: watch() or bench.reading(5).condition is Condition.REJOINING)
    reason = bench.driver.rearm().reason
    assert back is not None and reason.startswith("servo 5 (lower_2_femur) not back yet; torque still rises"), reason
    bench.run(0.8, until=watch)
    assert max(positions) - min(positions) < 0.02, "its goal is where it stands"
    assert limits[0] < 100 and limits[-1] > 300 and bench.reading(5).condition is Condition.REJOINING
    assert "goal set to where it stands" in bench.words("rejoined")
    bench.run(1.0)
    assert bench.reading(5).condition is Condition.GOOD and bench.phase is Phase.HOLDING
    assert "rearm to resume" in bench.ladder.text
    bench.targets = bench.driver.state().command.copy()
    assert bench.driver.rearm()
    bench.run(0.2)
    assert bench.phase is Phase.FOLLOWING and bench.largest_step() <= 40.0


def test_it_can_be_rearmed_without_a_leg_and_holds_when_that_comes_back():
    bench = DriverBench(config={"servo": {"rearm_without": 1}}).ready()
    bench.fault("dead", servo=5, stop=6.0)
    bench.run(1.0)
    assert bench.phase is Phase.HOLDING and bench.reading(5).condition is Condition.LOST
    answer = bench.driver.rearm()
    assert answer.accepted and "rearmed without servo 5 (lower_2_femur)" in answer.reason
    bench.targets = bench.driver.state().command.copy() + 0.1
    bench.run(1.0)
    assert bench.phase is Phase.FOLLOWING and bench.largest_step() <= 40.0
    bench.run(3.0)
    assert bench.phase is Phase.FOLLOWING, "the same loss is not reported again"
    goals = []
    back = bench.run(3.0, until=lambda: bench.reading(5).condition is Condition.GOOD)
    assert back is not None
    bench.run(0.02)
    assert bench.phase is Phase.HOLDING
    bench.run(0.5, until=lambda: goals.append(bench.servo(5).motor.position))
    assert max(goals) - min(goals) < 0.02, "it holds where it fell"
    assert "is back: holding; rearm to resume with it" in bench.words() or "rearm to resume" in bench.ladder.text
    assert bench.driver.rearm()
    bench.run(1.0)
    assert bench.phase is Phase.FOLLOWING and bench.largest_step() <= 40.0


def test_more_lost_servos_than_allowed_keep_it_holding():
    bench = DriverBench(config={"servo": {"rearm_without": 1}}).ready()
    bench.fault("dead", servo=5)
    bench.run(1.0)
    assert bench.driver.rearm()
    bench.run(0.5)
    assert bench.phase is Phase.FOLLOWING
    bench.fault("dead", servo=6)
    bench.run(1.0)
    assert bench.phase is Phase.HOLDING, "another loss holds again"
    assert "not back yet; check cables" in bench.driver.rearm().reason


def test_rearming_after_a_loss_can_be_left_out():
    bench = DriverBench(config={"servo": {"rearm_after_lost": False}}).ready()
    bench.fault("dead", servo=5, stop=1.0)
    bench.run(0.6)
    assert bench.phase is Phase.HOLDING
    bench.run(3.0)
    assert bench.phase is Phase.FOLLOWING and "all servos are back" in bench.words()


def test_a_servo_that_comes_back_as_another_model_stays_out():
    bench = DriverBench().ready()
    bench.fault("dead", servo=5, stop=1.0)
    bench.fault("reboot", after=1.0, servo=5)  # who exchanges a servo switches it off
    bench.run(0.6)
    bench.servo(5).table["model_number"] = 12
    bench.run(2.0)
    assert bench.reading(5).condition is Condition.LOST and "is an AX-12A, the map has an AX-18A" in bench.words()


def test_a_dead_servo_costs_at_most_one_timeout_in_half_a_second():
    bench = DriverBench().ready()
    bench.fault("dead", servo=9)
    bench.run(1.0)
    before = bench.driver.bus.statistics.timeouts
    bench.run(4.0)
    assert 4 <= bench.driver.bus.statistics.timeouts - before <= 8
    rates = [s.reads for s in bench.driver.state().servos]
    bench.run(1.0)
    assert min(s.reads - r for s, r in zip(bench.driver.state().servos, rates) if s.servo_id != 9) >= 40


@pytest.mark.parametrize("goal_enables_torque", [False, True])
def test_a_brown_out_is_noticed_within_half_a_second_and_mended(goal_enables_torque):
    config = {"compliance": {"slope": 32}}  # what a restarted servo has, too
    bench = DriverBench(behaviour=ServoBehaviour(goal_enables_torque=goal_enables_torque), config=config).ready()
    q = bench.targets.copy()
    bench.fault("reboot", servo=5)
    when = bench.port.now()
    noticed = bench.run(1.0, q, until=lambda: bench.phase is Phase.HOLDING)
    assert noticed is not None and noticed - when < 0.5, "noticed too late"
    bench.run(2.0, q)
    assert "servo 5 (lower_2_femur)" in bench.words()
    table = bench.servo(5).table
    assert table["torque_enable"] and table["torque_limit"] == 983 and table["lock"] == 1
    assert bench.driver.rearm()
    bench.run(0.2, q)
    assert bench.phase is Phase.FOLLOWING


def test_a_reboot_too_short_to_be_missed_is_seen_by_the_registers():
    bench = DriverBench(behaviour=ServoBehaviour(boot_time=0.001)).ready()
    bench.fault("reboot", servo=5)
    when = bench.port.now()
    noticed = bench.run(1.0, until=lambda: bench.phase is Phase.HOLDING)
    assert noticed is not None and noticed - when < 0.5
    assert "restarted" in bench.words("restarted") and bench.reading(5).missed == 0


# -- bus down ---------------------------------------------------------------------------------------------------------


def test_more_than_a_third_lost_is_bus_down():
    bench = DriverBench().ready()
    for servo in range(7):
        bench.fault("dead", servo=servo, stop=2.0)
    bench.run(1.0)
    assert bench.phase is Phase.BUS_DOWN and "bus down: 7 of 19 servos" in bench.ladder.rung("bus_down").text
    bench.run(6.0)
    assert all(servo.condition is Condition.GOOD for servo in bench.driver.state().servos)
    assert bench.phase is Phase.HOLDING and bench.ladder.needs_rearm
    assert bench.driver.rearm()
    bench.run(0.2)
    assert bench.phase is Phase.FOLLOWING


def test_a_replugged_port_is_back_within_three_seconds_without_a_jump():
    bench = DriverBench().ready()
    bench.fault("port_error", stop=1.0)
    bench.run(0.5)
    assert bench.phase is Phase.BUS_DOWN and "bus down" in bench.ladder.text and "open it again" in bench.ladder.text
    refused = bench.driver.rearm()
    assert not refused and "plug it in" in refused.reason
    bench.run(0.5)
    back = bench.port.now()
    fresh = bench.run(3.0, until=lambda: bench.driver.state().is_measured.all())
    assert fresh is not None and fresh - back < 2.0
    assert bench.phase is Phase.HOLDING and not limp(bench)
    assert bench.driver.rearm()
    bench.run(0.2)
    assert bench.phase is Phase.FOLLOWING and bench.largest_step() <= 1.0


def test_all_servos_without_power_and_back():
    bench = DriverBench().ready()
    for servo in range(19):
        bench.fault("dead", servo=servo, stop=4.0)
        bench.fault("reboot", after=4.0, servo=servo)
    bench.run(3.0)
    assert bench.phase is Phase.BUS_DOWN
    bench.run(9.0)
    assert all(servo.condition is Condition.GOOD for servo in bench.driver.state().servos) and not limp(bench)
    assert bench.driver.rearm()


# -- heat, overload, battery ------------------------------------------------------------------------------------------


def test_near_its_limit_a_servo_derates_its_leg_and_the_robot_sits():
    bench = DriverBench().ready()
    bench.servo(5).motor.temperature = 71.0  # AX-18A: limit 75
    bench.run(1.0)
    assert bench.phase is Phase.SITTING and "servo 5 (lower_2_femur) is at 7" in bench.ladder.text
    assert [bench.servo(i).table["torque_limit"] for i in (4, 5, 6)] == [512, 492, 492]
    assert bench.servo(1).table["torque_limit"] == 1023
    bench.run(6.0)
    assert bench.phase is Phase.SAT
    bench.servo(5).motor.temperature = 70.0
    bench.run(0.5)
    refused = bench.driver.rearm()
    assert not refused and "wait until it is below 65" in refused.reason
    bench.servo(5).motor.temperature = 60.0
    bench.run(6.0)
    bench.targets = bench.driver.state().command.copy()
    assert bench.driver.rearm()
    bench.run(0.5)
    assert bench.phase is Phase.FOLLOWING and bench.servo(5).table["torque_limit"] == 983


def test_at_its_limit_its_leg_goes_limp_and_may_not_return_within_20_minutes():
    bench = DriverBench().ready()
    bench.fault("overheat", servo=5, value=80.0)
    bench.run(1.0)
    assert limp(bench) == [4, 5, 6] and bench.phase is Phase.SITTING
    assert "torque of lower_2 is off" in bench.ladder.rung("heat_shutdown").text
    bench.servo(5).motor.temperature = 30.0
    bench.run(8.0)
    refused = bench.driver.rearm()
    assert not refused and "must cool for 19." in refused.reason and limp(bench) == [4, 5, 6]


def test_after_the_cool_down_the_leg_returns():
    bench = DriverBench(config={"heat": {"cool_down": 5.0}}).ready()
    bench.fault("overheat", servo=5, value=80.0)
    bench.run(1.0)
    bench.servo(5).motor.temperature = 30.0
    bench.run(8.0)
    assert bench.driver.rearm()
    bench.targets = bench.driver.state().command.copy()
    bench.run(2.5)
    assert limp(bench) == [] and bench.servo(5).table["torque_limit"] == 983 and bench.phase is Phase.FOLLOWING


def test_an_overload_gets_one_second_chance():
    bench = DriverBench().ready()
    bench.fault("overload", servo=5)
    bench.run(0.7)
    assert bench.phase is Phase.HOLDING and "was overloaded and switched itself off" in bench.ladder.text
    assert limp(bench) == [5] and bench.reading(5).alarms & ErrorFlags.OVERLOAD
    bench.run(3.5)
    assert limp(bench) == [] and bench.servo(5).table["torque_limit"] == 492, "half of its torque"
    assert bench.phase is Phase.FOLLOWING and bench.ladder.reaction is Reaction.DERATE
    bench.fault("overload", servo=5)
    bench.run(4.0)
    assert bench.phase is Phase.HOLDING and bench.ladder.needs_rearm and limp(bench) == [5]
    assert "overloaded again" in bench.ladder.text
    assert bench.driver.rearm()
    bench.run(2.5)
    assert limp(bench) == [] and bench.servo(5).table["torque_limit"] == 983 and bench.phase is Phase.FOLLOWING


@pytest.mark.parametrize(
    ("volts", "reaction", "phase", "limit", "words"),
    [
        (10.4, Reaction.WARN, Phase.FOLLOWING, 1023, "bring the robot home"),
        (9.8, Reaction.DERATE, Phase.FOLLOWING, 716, "torque is reduced to 70%"),
        (9.5, Reaction.SIT_AND_OFF, Phase.SITTING, 716, "sits down and switches torque off"),
        (8.9, Reaction.OFF, Phase.OFF, None, "torque is off; switch the robot off"),
    ],
)
def test_low_voltage(volts, reaction, phase, limit, words):
    bench = DriverBench().ready()
    bench.run(1.0)
    bench.chain.set_supply(volts)
    bench.run(0.8)
    assert bench.phase is Phase.FOLLOWING and bench.ladder.reaction is Reaction.NONE, "a sag of a moment"
    bench.run(1.5)
    state = bench.driver.state()
    assert state.ladder.rung("voltage").reaction is reaction and words in state.ladder.text
    assert state.ladder.phase is phase and abs(state.supply.filtered - volts) < 0.06
    if limit is None:
        assert len(limp(bench)) == 19
    else:
        assert bench.servo(1).table["torque_limit"] == limit
    if reaction is Reaction.SIT_AND_OFF:
        bench.run(8.0)
        assert bench.phase is Phase.OFF and len(limp(bench)) == 19
    bench.chain.set_supply(12.0)
    bench.run(3.0)
    if reaction is Reaction.WARN:
        assert bench.ladder.reaction is Reaction.NONE
    else:
        assert bench.ladder.rung("voltage") is not None, "latched"
        bench.targets = bench.driver.state().command.copy()
        assert bench.driver.rearm()
        bench.run(2.0)
        assert bench.phase is Phase.FOLLOWING and bench.servo(1).table["torque_limit"] == 1023


def test_an_empty_battery_cannot_be_rearmed():
    bench = DriverBench().ready()
    bench.chain.set_supply(8.9)
    bench.run(3.0)
    refused = bench.driver.rearm()
    assert not refused and "charge or replace it" in refused.reason
    assert not bench.driver.torque(True) and len(limp(bench)) == 19


def test_one_servo_with_a_bad_cable_is_no_flat_battery():
    bench = DriverBench().ready()
    bench.servo(9).voltage = 8.5
    bench.run(4.0)
    state = bench.driver.state()
    assert state.ladder.reaction is Reaction.NONE and (state.supply.lowest_id, state.supply.lowest) == (9, 8.5)


# -- operator ---------------------------------------------------------------------------------------------------------


def test_emergency_stop_is_at_once_and_latched():
    bench = DriverBench().ready()
    bench.driver.emergency_stop("window")
    bench.port.sleep(0.005)
    assert len(limp(bench)) == 19
    bench.run(1.0)
    assert bench.phase is Phase.OFF and "emergency stop (window)" in bench.ladder.text and bench.ladder.needs_rearm
    answer = bench.driver.torque(True)
    assert not answer and "rearm first" in answer.reason
    for servo in bench.chain.servos:
        servo.motor.position -= 0.3  # it sagged
    bench.run(0.2)
    bench.targets = bench.driver.state().position.copy()
    assert bench.driver.rearm()
    where = [servo.motor.position for servo in bench.chain.servos]
    bench.run(0.06)
    assert limp(bench) == [] and all(0 < servo.table["torque_limit"] < 150 for servo in bench.chain.servos)
    bench.run(1.5)
    assert bench.phase is Phase.FOLLOWING and limp(bench) == []
    assert max(abs(s.motor.position - q) for s, q in zip(bench.chain.servos, where)) < 0.02


@pytest.mark.parametrize("reads_trusted", [True, False])
def test_a_stop_order_that_is_lost_is_repeated(reads_trusted):
    bench = DriverBench(reads_trusted=reads_trusted, config={"start": {"allow_write_only": True}})
    bench.run(1.3)
    bench.fault("garbled_instruction", stop=0.005)
    bench.driver.emergency_stop()
    bench.run(0.8)
    assert len(limp(bench)) == 19


def test_torque_off_and_on_by_the_operator():
    bench = DriverBench().ready()
    assert bench.driver.torque(False)
    bench.run(0.3)
    assert bench.phase is Phase.OFF and len(limp(bench)) == 19 and not bench.ladder.needs_rearm
    accepted, reason = bench.driver.rearm()
    assert not accepted and "call torque with true" in reason
    bench.run(0.3)
    assert len(limp(bench)) == 19, "rearming is no torque switch"
    assert bench.driver.torque(True)
    bench.run(1.5)
    assert bench.phase is Phase.FOLLOWING and limp(bench) == []


def test_hold_stays_until_targets_come():
    bench = DriverBench().ready()
    held = bench.driver.hold()
    bench.run(12.0, None)
    assert bench.phase is Phase.WAITING and np.array_equal(bench.driver.state().command, held)


def test_shutdown_leaves_servos_limp_or_holding():
    for torque_off in (True, False):
        bench = DriverBench().ready()
        bench.driver.shutdown(torque_off)
        bench.port.sleep(0.01)
        assert len(limp(bench)) == (19 if torque_off else 0) and bench.phase is Phase.CLOSED


# -- fan --------------------------------------------------------------------------------------------------------------


def test_the_fan_in_wheel_mode_needs_a_lease_and_is_stopped_without():
    bench = DriverBench(start=False)
    bench.servo(0).table["cw_angle_limit"] = bench.servo(0).table["ccw_angle_limit"] = 0
    bench.servo(0).table["moving_speed"], bench.servo(0).table["torque_enable"] = 500, 1  # left spinning by somebody
    report = bench.driver.start()
    bench.port.sleep(0.01)
    assert bench.servo(0).table["moving_speed"] == 0 and "wheel mode" in report.text
    bench.targets = bench.driver.state().command.copy()
    bench.run(1.5)
    assert bench.servo(0).table["moving_speed"] == 0, "goals with a moving speed would make it spin"
    assert bench.driver.drive_fan(0.5)
    bench.run(0.4)
    assert bench.servo(0).table["moving_speed"] > 0
    assert bench.driver.drive_fan(0.5)
    bench.run(0.4)
    assert bench.servo(0).table["moving_speed"] > 0
    sent = bench.driver.bus.statistics.sync_writes
    bench.run(0.2)
    assert bench.servo(0).table["moving_speed"] == 0 and "lease has expired" in bench.words("fan")
    assert bench.driver.bus.statistics.sync_writes - sent >= 20 + 3, "a stop is sent three times"
    bench.driver.drive_fan(-0.5)
    bench.driver.shutdown()
    bench.port.sleep(0.01)
    assert bench.servo(0).table["moving_speed"] == 0


def test_an_overload_of_the_fan_in_wheel_mode_is_said_stops_it_and_ends():
    bench = DriverBench(start=False)
    bench.servo(0).table["cw_angle_limit"] = bench.servo(0).table["ccw_angle_limit"] = 0
    bench.driver.start()
    bench.targets = bench.driver.state().command.copy()
    bench.run(1.5)
    assert bench.driver.drive_fan(0.5)
    bench.fault("overload", servo=0)
    bench.run(0.3)
    text = bench.ladder.rung("overload").text
    assert "servo 0 (lower_1_fan)" in text and "switched itself off" in text, text
    assert not bench.servo(0).table["torque_enable"] and "withheld" in bench.driver.drive_fan(0.5).reason
    bench.run(4.0)
    rung = bench.ladder.rung("overload")
    assert rung.reaction is Reaction.DERATE, "one overload, not one after the other while its torque limit is 0"
    assert bench.driver.drive_fan(0.5)
    bench.run(0.3)
    assert bench.servo(0).table["torque_enable"] and 0 < bench.servo(0).table["torque_limit"] < 1023
    assert bench.driver.rearm()
    bench.run(0.3)
    assert bench.servo(0).table["torque_limit"] == 1023 and not bench.ladder.rungs


def test_the_fan_in_joint_mode_has_nothing_to_lease():
    answer = DriverBench().driver.drive_fan(1.0)
    assert not answer and "joint mode" in answer.reason


# -- sentences --------------------------------------------------------------------------------------------------------


def test_refused_targets_whose_numbers_change_are_said_once():
    bench = DriverBench().ready()
    bench.words()
    k = bench.driver.joint_names.index("lower_2_femur")
    for i in range(30):
        bench.targets[k] = 5.0 + 0.01 * i
        bench.run(0.01)
    assert bench.words("targets").count("targets refused") == 1
    bench.targets[k] = np.nan
    bench.run(0.05)
    assert "not finite" in bench.ladder.rung("targets").text, "another reason is said"


def test_a_dead_servo_on_a_slow_machine_is_not_blamed_on_the_machine():
    bench = DriverBench(config={"servo": {"lost_after": 5.0, "lost_misses": 100}}).ready()
    bench.fault("dead", servo=5)
    bench.run(1.0, until=lambda: bench.ladder.rung("feedback") is not None)
    text = bench.ladder.rung("feedback").text
    assert "servo 5 (lower_2_femur) does not answer: check its cable" in text and "machine" not in text


def test_a_silent_bus_is_still_said_to_be_down_after_its_port_was_opened_anew():
    bench = DriverBench().ready()
    for servo in range(19):
        bench.fault("dead", servo=servo)
    opened = []
    reopen, bench.port.reopen = bench.port.reopen, lambda: opened.append(reopen())
    bench.run(5.0)
    assert opened and "19 of 19 servos do not answer" in bench.ladder.rung("bus_down").text
    bench.fault("port_error", stop=2.0)
    bench.run(1.9)
    assert "do not answer" not in bench.ladder.rung("bus_down").text
    bench.run(5.0)
    assert "the port is back" in bench.words("bus_down"), "said when it was away"
    assert "19 of 19 servos do not answer" in bench.ladder.rung("bus_down").text
