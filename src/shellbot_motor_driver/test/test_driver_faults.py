# SPDX-License-Identifier: MIT
"""Every kind of fault of the emulated chain, and how the driver reacts: what passes, what holds, what is said."""

from __future__ import annotations

import numpy as np
import pytest
from driver_bench import DriverBench

from ax_bus import ErrorFlags
from ax_emulator import KINDS, LatencyTimerChain
from shellbot_motor_driver import Condition, Phase, Reaction

ANY_RATE = {"servo": {"least_rate": 0.0}}  # for what is about slow links themselves
TESTED = set()


def kind(*names):
    """Mark a test as that of kinds of faults."""
    TESTED.update(names)
    return pytest.mark.parametrize("kind", names)


def sway(bench, amplitude=0.3, hz=0.5):
    """Let all legs sway; the fans stand still."""
    start, base = bench.port.now(), bench.targets.copy()
    moves = np.array([not name.endswith("fan") for name in bench.map.joint_names])

    def targets(now):
        return base + moves * amplitude * np.sin(2.0 * np.pi * hz * (now - start))

    return targets


def watch(bench):
    """Compare each fresh reading with the truth; collect phases and conditions."""
    seen = {"phases": set(), "conditions": set(), "alarms": 0, "error": 0.0}

    def look():
        state = bench.driver.state()
        seen["phases"].add(state.ladder.phase)
        for reading, servo in zip(state.servos, bench.chain.servos):
            seen["conditions"].add(reading.condition)
            seen["alarms"] |= int(reading.alarms)
            if not reading.is_stale:
                drift = abs(reading.steps - servo.motor.steps) - abs(servo.motor.velocity) * reading.age / 0.0051
                seen["error"] = max(seen["error"], drift)

    return seen, look


@kind("lost_reply", "late_reply", "head_cut", "tail_cut", "noise", "wrong_id", "partial_echo", "echo")
@pytest.mark.parametrize("probability", [0.05])
def test_spoilt_replies_pass_without_notice(kind, probability):
    bench = DriverBench(seed=1).ready()
    bench.fault(kind, probability=probability, **({"value": 0.003} if kind == "late_reply" else {}))
    seen, look = watch(bench)
    bench.run(2.0, sway(bench), until=look)
    assert bench.faults.struck[kind] > 50
    assert seen["phases"] == {Phase.FOLLOWING} and not seen["alarms"]
    assert seen["conditions"] <= {Condition.GOOD, Condition.SUSPECT}, "who missed gets no goals until it is read"
    assert seen["error"] < 12.0, "a wrong value was accepted"
    assert bench.largest_step() <= 1.05 and not bench.ladder.rungs


@kind("bit_flip")
@pytest.mark.parametrize("bits", [1, 2, 30])
def test_flipped_bits_are_not_believed(kind, bits):
    bench = DriverBench(seed=bits).ready()
    bench.fault(kind, probability=0.05, value=bits)
    seen, look = watch(bench)
    bench.run(2.0, sway(bench), until=look)
    assert bench.faults.struck[kind] > 50
    assert seen["phases"] == {Phase.FOLLOWING} and not seen["alarms"] and seen["error"] < 12.0


@kind("garbled_instruction")
def test_garbled_instructions_cost_a_tick_and_no_more(kind):
    bench = DriverBench(seed=2).ready()
    bench.fault(kind, probability=0.03)
    seen, look = watch(bench)
    bench.run(2.0, sway(bench), until=look)
    assert bench.faults.struck[kind] > 25 and seen["phases"] == {Phase.FOLLOWING} and not seen["alarms"]


@kind("error_bit")
@pytest.mark.parametrize("mask", [1, 4, 32, 37])
@pytest.mark.parametrize("probability", [0.2, 1.0])
def test_spurious_error_bits_that_no_register_confirms_are_no_alarms(kind, mask, probability):
    bench = DriverBench(seed=3).ready()
    bench.fault(kind, probability=probability, value=mask)
    seen, look = watch(bench)
    bench.run(0.8, sway(bench), until=look)
    assert bench.faults.struck[kind] > 100
    assert not seen["alarms"] and seen["phases"] == {Phase.FOLLOWING} and not bench.ladder.rungs


@kind("stuck_line")
def test_a_stuck_line_is_bus_down_and_comes_back(kind):
    bench = DriverBench().ready()
    bench.fault(kind, stop=2.0)
    bench.run(1.5, sway(bench))
    assert bench.phase is Phase.BUS_DOWN and "bus down: 19 of 19 servos" in bench.ladder.rung("bus_down").text
    bench.run(8.0)
    assert all(servo.condition is Condition.GOOD for servo in bench.driver.state().servos)
    assert bench.phase is Phase.HOLDING and bench.driver.rearm()


@kind("dead")
def test_a_dead_servo_is_lost_and_the_others_hold(kind):
    bench = DriverBench().ready()
    bench.fault(kind, servo=3)
    lost = bench.run(1.0, sway(bench), until=lambda: bench.phase is Phase.HOLDING)
    assert lost is not None and bench.reading(3).condition is Condition.LOST
    held = bench.driver.state().command
    bench.run(1.0, sway(bench))
    assert np.abs(bench.driver.state().command - held).max() < 0.15 and bench.largest_step() <= 1.0


@kind("reboot")
def test_a_reboot_is_brought_back(kind):
    bench = DriverBench().ready()
    bench.fault(kind, servo=3)
    bench.run(3.0)
    assert bench.servo(3).table["torque_enable"] and bench.reading(3).condition is Condition.GOOD
    assert bench.ladder.rung("servo_lost").latched and bench.driver.rearm()


@kind("overload")
def test_an_overload_holds_and_recovers(kind):
    bench = DriverBench().ready()
    bench.fault(kind, servo=3)
    bench.run(4.0)
    assert bench.servo(3).table["torque_limit"] > 400 and bench.ladder.rung("overload").reaction is Reaction.DERATE


@kind("overheat")
def test_heat_sits(kind):
    bench = DriverBench().ready()
    bench.fault(kind, servo=3, value=71.0)
    bench.run(1.0)
    assert bench.phase is Phase.SITTING and bench.ladder.rung("heat").reaction is Reaction.SIT


@kind("voltage")
def test_a_sag_below_all_limits_cuts_the_torque(kind):
    bench = DriverBench().ready()
    bench.fault(kind, value=8.5)
    bench.run(3.0)
    assert bench.phase is Phase.OFF and bench.ladder.rung("voltage").reaction is Reaction.OFF


@kind("change_id")
def test_a_doubled_id_loses_servos_and_holds(kind):
    bench = DriverBench().ready()
    bench.servo(9).motor.position = 2.0
    bench.fault(kind, servo=9, value=4)
    bench.run(2.0)
    assert bench.reading(9).condition is Condition.LOST and bench.phase is Phase.HOLDING
    assert "servo 9" in bench.ladder.rung("servo_lost").text


@kind("change_baud")
def test_a_servo_at_another_rate_is_lost(kind):
    bench = DriverBench().ready()
    bench.fault(kind, servo=9)
    bench.run(2.0)
    assert bench.reading(9).condition is Condition.LOST and bench.phase is Phase.HOLDING


@kind("status_level")
def test_a_servo_that_answers_ping_only_is_lost_with_the_reason(kind):
    bench = DriverBench().ready()
    bench.fault(kind, servo=9, value=0)
    bench.run(6.0)
    assert bench.reading(9).condition is Condition.LOST
    assert "servo 9 (lower_3_tibia) answers PING but no READ: its status return level is 0" in bench.words("rejoin")


@kind("torque_jump")
def test_a_goal_far_away_in_a_register_is_overwritten_before_it_is_reached(kind):
    bench = DriverBench().ready()
    before = bench.servo(9).motor.position
    bench.fault(kind, servo=9)
    reached = []
    bench.run(0.5, until=lambda: reached.append(abs(bench.servo(9).motor.position - before)))
    assert max(reached) < 0.12, "one tick at the joint's top speed"
    assert bench.phase is Phase.FOLLOWING


@kind("link_latency")
def test_latency_that_nobody_told_of_is_bus_down_and_told_of_is_slow(kind):
    """An FTDI left at 16 ms: the default time-outs hear nothing in time; with --latency-ms 16 it works, slowly."""
    bench = DriverBench().ready()
    bench.fault(kind, value=0.016)
    bench.run(2.0)
    assert bench.phase is Phase.BUS_DOWN
    bench = DriverBench(start=False, latency=0.017, config=ANY_RATE)
    bench.fault(kind, value=0.016)
    bench.driver.start()
    bench.targets = bench.driver.state().command.copy()
    before = [servo.reads for servo in bench.driver.state().servos]
    seen, look = watch(bench)
    bench.run(5.0, until=look)
    assert bench.phase is Phase.FOLLOWING and Condition.LOST not in seen["conditions"]
    assert min(servo.reads - reads for servo, reads in zip(bench.driver.state().servos, before)) >= 3
    assert bench.driver.state().tick > 240, "goals go as often as READs: each keeps the line for 16 ms"


@kind("host_stall")
def test_stalls_of_the_host_are_counted_and_nobody_is_lost(kind):
    bench = DriverBench(seed=5).ready()
    bench.fault(kind, probability=0.002, value=0.04)
    seen, look = watch(bench)
    bench.run(5.0, sway(bench), until=look)
    assert bench.faults.struck[kind] > 5 and seen["conditions"] == {Condition.GOOD}
    assert seen["phases"] == {Phase.FOLLOWING} and bench.driver.state().timing.late_ticks > 5
    assert bench.largest_step() <= 5.0, "a late tick's step covers the time that passed, at most 50 ms"


@kind("port_error")
def test_a_port_that_flickers_never_jumps(kind):
    bench = DriverBench().ready()
    for i in range(3):
        bench.fault(kind, after=0.5 + i, stop=0.7 + i)
    moving = sway(bench)
    bench.run(4.0, moving)
    assert bench.phase is Phase.HOLDING and bench.ladder.rung("bus_down").latched
    assert bench.largest_step() <= 1.0 and all(servo.table["torque_enable"] for servo in bench.chain.servos)
    assert bench.driver.rearm()
    bench.run(1.0, moving)
    assert bench.phase is Phase.FOLLOWING and bench.largest_step() <= 1.0


def test_every_kind_of_fault_has_its_reaction_tested():
    assert set(KINDS) == TESTED and len(TESTED) >= 20


@pytest.mark.parametrize(("lost", "corrupt", "seconds"), [(0.01, 0.001, 20.0), (0.05, 0.0, 5.0)])
def test_usual_loss_stops_nothing(lost, corrupt, seconds):
    """A part of the campaign of a million READs, with the same counts: no stop, no false fault, nobody old."""
    bench = DriverBench(seed=11).ready()
    bench.fault("lost_reply", probability=lost)
    bench.fault("bit_flip", probability=corrupt, value=12)
    seen = set()
    ticks = []

    def look():
        ticks.append(1)
        if len(ticks) % 5 == 0:
            seen.update(servo.condition.name for servo in bench.driver.state().servos)
            seen.add(bench.phase.name)

    bench.run(seconds, sway(bench), until=look)
    state = bench.driver.state()
    assert sum(servo.reads for servo in state.servos) > 1000 * seconds
    assert seen <= {"GOOD", "SUSPECT", "FOLLOWING"} and not state.ladder.rungs
    assert "missed 3 replies" not in bench.words()
    assert not any(servo.alarms for servo in state.servos) and bench.largest_step() <= 1.0
    assert state.timing.counters["retries"] > 0.8 * lost * 1000 * seconds


def test_a_slow_host_still_keeps_its_ticks():
    """A Jetson's 300 us a READ instead of 80: fewer READs, no late tick."""
    bench = DriverBench("full", host_time=150e-6).ready()
    reads = [servo.reads for servo in bench.driver.state().servos]
    bench.run(2.0, sway(bench))
    timing = bench.driver.state().timing
    rates = [(servo.reads - before) / 2.0 for servo, before in zip(bench.driver.state().servos, reads)]
    assert timing.booked_fraction <= 0.7 and timing.late_ticks == 0 and min(rates) > 15.0


@pytest.mark.parametrize(("variant", "least"), [("walker", 40.0), ("full", 25.0)])
def test_rates_at_80_us_of_host_time_a_read(variant, least):
    bench = DriverBench(variant).ready()
    before = bench.driver.state()
    start, booked = bench.port.now(), []
    bench.run(2.0, sway(bench), until=lambda: booked.append(bench.driver.state().timing.booked_fraction))
    after, time = bench.driver.state(), bench.port.now() - start
    assert (after.tick - before.tick) / time == pytest.approx(100.0, abs=0.6)
    rates = [(a.reads - b.reads) / time for a, b in zip(after.servos, before.servos)]
    assert min(rates) >= least and max(booked) <= 0.7
    assert after.timing.late_ticks == 0 and after.timing.tick_time.percentile(99) < 0.009
    assert after.timing.figures()["feedback_hz"] == pytest.approx(np.mean(rates), rel=0.1)


def test_ftdi_at_one_millisecond():
    """An adapter that adds 0.8 ms to each READ: 1.12 ms each, five in a tick."""
    bench = DriverBench(start=False, latency=1e-3)
    bench.fault("link_latency", value=0.8e-3)
    bench.driver.start()
    bench.targets = bench.driver.state().command.copy()
    bench.run(1.5)
    reads = [servo.reads for servo in bench.driver.state().servos]
    bench.run(2.0)
    state = bench.driver.state()
    assert min((servo.reads - before) / 2.0 for servo, before in zip(state.servos, reads)) >= 24.0
    assert state.timing.booked_fraction <= 0.7 and bench.phase is Phase.FOLLOWING


def rates(bench, seconds=3.0):
    """Return each servo's rate, Hz, and how many ticks came late meanwhile."""
    before, start = bench.driver.state(), bench.port.now()
    bench.run(seconds, sway(bench))
    after, time = bench.driver.state(), bench.port.now() - start
    late = after.timing.late_ticks - before.timing.late_ticks
    return [(a.reads - b.reads) / time for a, b in zip(after.servos, before.servos)], late


@pytest.mark.parametrize(("variant", "least"), [("walker", 30.0), ("full", 16.5)])
def test_a_latency_timer_of_one_millisecond(variant, least):
    """A READ then takes 1 ms; 70 % of a tick less goals alone has room for 6.3 (19 servos) or 6.0 (31) of them."""
    bench = DriverBench(variant, latency=1e-3, chain=LatencyTimerChain).ready()
    found, late = rates(bench, 4.0)
    assert min(found) >= least and late == 0
    assert bench.driver.state().timing.booked_fraction <= 0.7


@pytest.mark.parametrize("latency", [1e-3, 4e-3, 20e-3])
@pytest.mark.parametrize(("variant", "least"), [("walker", 75.0), ("full", 40.0)])
def test_the_latency_that_is_allowed_costs_no_feedback_on_a_fast_link(variant, least, latency):
    bench = DriverBench(variant, latency=latency).ready()
    found, late = rates(bench, 1.5)
    assert min(found) >= least and late == 0


def test_a_lost_reply_never_delays_the_next_goals():
    """The time-out of 4 ms of latency (9.6 ms) would not fit the tick; waiting ends with it."""
    bench = DriverBench(latency=4e-3, seed=3).ready()
    bench.fault("lost_reply", probability=0.01)
    seen, watched = watch(bench)
    found, late = rates(bench)
    bench.run(1.0, sway(bench), until=watched)
    timing = bench.driver.state().timing
    assert min(found) >= 40.0 and late == 0 and timing.counters["timeouts"] > 20
    assert timing.lateness.percentile(99.9) < 1e-4 and timing.tick_time.percentile(99) <= 0.01
    assert seen["phases"] == {Phase.FOLLOWING} and Condition.LOST not in seen["conditions"]


def test_a_dead_servo_costs_little_whatever_latency_is_allowed():
    bench = DriverBench(latency=4e-3).ready()
    bench.fault("dead", servo=7)
    bench.run(1.0, sway(bench))
    assert bench.reading(7).condition is Condition.LOST
    before = bench.driver.state().timing.counters["timeouts"]
    found, late = rates(bench)
    assert bench.driver.state().timing.counters["timeouts"] - before <= 7, "one in 0.5 s"
    assert sorted(found)[1] >= 40.0 and late == 0


def test_a_link_that_becomes_slow_is_waited_for():
    """From 0.1 to 16 ms in one moment (the latency timer was set back), which the time-outs allow."""
    bench = DriverBench(latency=0.017, config=ANY_RATE).ready()
    bench.fault("link_latency", value=0.016)
    bench.run(3.0, sway(bench))
    assert bench.phase is Phase.FOLLOWING and bench.driver.state().timing.booked_overhead > 0.016
    before = [servo.reads for servo in bench.driver.state().servos]
    bench.run(3.0, sway(bench))
    state = bench.driver.state()
    assert all(
        servo.reads > count and servo.condition is not Condition.LOST for servo, count in zip(state.servos, before)
    )
    assert bench.phase is Phase.FOLLOWING and not state.ladder.rungs


def test_a_robot_whose_servos_are_read_too_seldom_holds_until_they_are_read_more_often():
    """At 12 ms a READ 19 servos are read at 4 Hz: no reading is half a second old, but nobody could walk on them."""
    bench = DriverBench(latency=0.017).ready()
    bench.fault("link_latency", value=0.012, stop=4.0)
    stopped = bench.run(4.0, sway(bench), until=lambda: bench.phase is Phase.HOLDING)
    assert stopped is not None
    text = bench.ladder.rung("feedback").text
    assert "Hz, 5 are needed (servo.least_rate)" in text and "latency timer" in text
    bench.run(6.0, sway(bench))
    assert bench.phase is Phase.FOLLOWING, "goes on by itself when it is over"


def test_a_robot_on_a_slow_link_can_be_rearmed():
    """A round of READs takes longer than readings are fresh: torque must come up all the same."""
    bench = DriverBench(latency=0.017, config=ANY_RATE).ready()
    bench.fault("link_latency", value=0.016)
    bench.run(3.0)
    bench.driver.emergency_stop()
    bench.run(1.0)
    assert bench.driver.rearm()
    bench.run(4.0)
    assert all(servo.table["torque_enable"] for servo in bench.chain.servos) and bench.phase is Phase.FOLLOWING


def test_alarms_need_two_of_three_and_a_register():
    bench = DriverBench().ready()
    bench.servo(5).voltage = 5.5  # below what the servo itself stands: its bit is up, and the register says so
    bench.run(0.5)
    assert bench.reading(5).alarms == ErrorFlags.INPUT_VOLTAGE
    bench.servo(5).voltage = 12.0
    bench.run(0.5)
    assert not bench.reading(5).alarms
