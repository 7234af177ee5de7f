# SPDX-License-Identifier: MIT
"""The bus on a good line: exchanges, times, splits, refusals, budgets."""

from __future__ import annotations

import numpy as np
import pytest
from servo_bench import POSITION, QUIET, Bench

from ax_bus import (
    BusError,
    NoReplyError,
    PacketError,
    ReadsNotTrustedError,
    RefusedError,
    RegisterError,
    SyncWriter,
    Timeouts,
    check_wiring,
)
from ax_bus.wire_time import bytes_time, read_time, sync_write_time
from ax_emulator import EmulatedServo, equal_servos


def test_wire_times_are_the_specifications():
    assert read_time(8, 1e6) == pytest.approx(242e-6)
    assert read_time(8, 1e6, 500e-6) == pytest.approx(742e-6)
    assert sync_write_time(19, 4, 1e6) == pytest.approx(1.03e-3)
    assert sync_write_time(31, 4, 1e6) == pytest.approx(1.71e-3)
    assert sync_write_time(19, 2, 1e6) == pytest.approx(0.65e-3)
    assert sync_write_time(31, 2, 1e6) == pytest.approx(1.01e-3)


def test_a_read_takes_its_wire_time():
    bench = Bench(return_delay=10)
    reply = bench.bus.read(2, POSITION, 8)
    assert reply.round_trip == pytest.approx(read_time(8, 1e6, 20e-6))
    assert reply.data == b"\x00\x02\x00\x00\x00\x00\x78\x19" and not reply.flags and reply.attempts == 1
    assert bench.counts.snapshot()["overhead_p50"] == pytest.approx(20e-6)


def test_a_tick_of_19_reads_and_one_sync_write_meets_the_wire_bound():
    """5.63 ms (178 Hz) at return delay 0: the table of the specification."""
    bench = Bench(ids=range(19))
    goal = bench.row("goal_position").to_bytes(512)
    speed = bench.row("moving_speed").to_bytes(100)
    start = bench.port.now()
    bench.bus.sync_write(30, dict.fromkeys(range(19), goal + speed))
    for i in range(19):
        bench.bus.read(i, POSITION, 8)
    assert bench.port.now() - start == pytest.approx(5.63e-3, abs=0.01e-3)


def test_ping_read_write_and_register_helpers():
    bench = Bench()
    assert bench.bus.ping(1).data == b""
    bench.bus.write(1, 25, b"\x01")
    assert bench.bus.read(1, 25, 1).data == b"\x01" and bench.read(2, "led") == 0
    bench.bus.write_register(2, bench.row("led"), 1)
    assert bench.read(2, "led") == 1


def test_reg_write_waits_for_action():
    bench = Bench()
    for servo_id in (1, 2):
        bench.bus.reg_write(servo_id, 25, b"\x01")
    assert bench.read(1, "led") == 0 and bench.read(1, "registered") == 1
    assert bench.bus.action() is None
    bench.port.sleep(1e-3)
    assert [bench.read(i, "led") for i in (1, 2, 3)] == [1, 1, 0] and bench.read(1, "registered") == 0


def test_action_without_a_prepared_write_is_refused():
    with pytest.raises(RefusedError, match="instruction"):
        Bench().bus.action(1)


def test_sync_write_reaches_all_31_in_two_packets_and_one_packet_would_be_lost():
    bench = Bench(ids=range(31))
    data = {i: bytes((i, 1, 100, 0)) for i in range(31)}
    bench.bus.sync_write(30, data)
    bench.port.sleep(5e-3)
    assert bench.counts.sync_writes == 2
    assert [bench.servo(i).table["goal_position"] for i in range(31)] == [256 + i for i in range(31)]


def test_sync_writer_sends_what_sync_write_sends():
    plain, fast = Bench(ids=range(31)), Bench(ids=range(31))
    rng = np.random.default_rng(3)
    writer = SyncWriter(fast.bus, 30, tuple(range(31)), words=2)
    assert writer.packets == 2
    for _ in range(5):
        values = rng.integers(0, 1024, (31, 2))
        writer(values)
        plain.bus.sync_write(30, {i: values[i].astype("<u2").tobytes() for i in range(31)})
        for bench in (plain, fast):
            bench.port.sleep(3e-3)
        tables = [[bench.servo(i).table.as_dict() for i in range(31)] for bench in (plain, fast)]
        assert tables[0] == tables[1]
        assert [t["goal_position"] for t in tables[1]] == list(values[:, 0])


@pytest.mark.parametrize("values", [np.zeros((2, 1), int), np.zeros(3), np.array([0, 0, -1]), np.array([0, 0, 70000])])
def test_sync_writer_refuses_values_that_do_not_fit(values):
    bench = Bench()
    with pytest.raises(PacketError, match="give"):
        SyncWriter(bench.bus, 30, (1, 2, 3))(values)
    with pytest.raises(PacketError, match="once"):
        SyncWriter(bench.bus, 30, (1, 1))


def test_a_missing_servo_costs_its_time_out_and_is_explained():
    bench = Bench(retries=1, timeouts=Timeouts(link_latency=1e-3))
    start = bench.port.now()
    with pytest.raises(NoReplyError, match="servo 9 gave no valid answer in 2 tries.*nothing was received.*scan"):
        bench.bus.read(9, POSITION, 8)
    assert bench.port.now() - start < 2 * 4e-3  # never the 34 ms of others
    assert (bench.counts.timeouts, bench.counts.retries, bench.counts.replies) == (2, 1, 0)
    assert isinstance(NoReplyError(""), BusError) and isinstance(NoReplyError(""), TimeoutError)


def test_retries_keep_to_the_budget():
    bench = Bench(retries=5)
    with pytest.raises(NoReplyError, match="in 1 try"):
        bench.bus.read(9, POSITION, 8, until=bench.port.now() + 1e-3)
    with pytest.raises(NoReplyError, match="in 6 tries"):
        bench.bus.read(9, POSITION, 8)


def test_a_servo_refuses_goals_beyond_its_limits_and_values_beyond_its_range():
    bench = Bench()
    bench.bus.write_register(1, bench.row("ccw_angle_limit"), 800)
    with pytest.raises(RefusedError, match="angle_limit"):
        bench.write(1, "goal_position", 900)
    with pytest.raises(RefusedError, match="range"):
        bench.bus.write(1, 34, b"\xff\xff")
    with pytest.raises(RefusedError, match="range"):
        bench.bus.write(1, 36, b"\x00\x00")
    with pytest.raises(RegisterError, match="is read-only"):
        bench.bus.write_register(1, bench.row("present_position"), 3)
    assert bench.servo(1).table["goal_position"] == 512


def test_eeprom_writes_are_read_back_and_a_lock_is_noticed():
    bench = Bench()
    bench.bus.write_register(1, bench.row("return_delay_time"), 0)
    assert bench.servo(1).table["return_delay_time"] == 0
    bench.bus.write_register(1, bench.row("lock"), 1)
    with pytest.raises(RefusedError, match="range"):
        bench.bus.write_register(1, bench.row("return_delay_time"), 100)


def test_writes_that_are_not_acknowledged_are_repeated_until_they_read_back():
    bench = Bench(ids=(1,))
    bench.servo(1).table["status_return_level"] = 1
    bench.fault("garbled_instruction", times=1)
    with pytest.raises(NoReplyError):
        bench.bus.write_register(1, bench.row("led"), 1, retries=0)
    bench.fault("garbled_instruction", times=1)
    bench.bus.write_register(1, bench.row("return_delay_time"), 7, acknowledged=False)
    assert bench.servo(1).table["return_delay_time"] == 7
    bench.bus.write_register(1, bench.row("lock"), 1, acknowledged=False)
    with pytest.raises(RegisterError, match="reads back as 7; if its lock is 1"):
        bench.bus.write_register(1, bench.row("return_delay_time"), 9, acknowledged=False)


def test_a_lost_acknowledgement_of_eeprom_leaves_the_servo_its_time():
    """It is deaf for 15 ms while it writes two bytes; four tries of 1.5 ms are over before."""
    bench = Bench()
    for fault in ("lost_reply", "garbled_instruction"):
        bench.fault(fault, times=1)
        bench.bus.write_register(1, bench.row("ccw_angle_limit"), 800)
        assert bench.servo(1).table["ccw_angle_limit"] == 800
        bench.servo(1).table["ccw_angle_limit"] = 1023
    bench.servo(1).is_dead = True
    with pytest.raises(NoReplyError, match="servo 1 gave no valid answer in 4 tries"):
        bench.bus.write_register(1, bench.row("ccw_angle_limit"), 800)


def test_a_write_behind_a_long_packet_waits_for_its_turn_on_the_wire():
    """1 ms of SYNC WRITE is still on its way out: the READ's time starts when it begins."""
    bench = Bench(ids=range(26), retries=0, timeouts=Timeouts(return_delay=0.0, link_latency=0.0, margin=0.0))
    bench.bus.sync_write(30, {i: bytes((0, 2, 100, 0)) for i in range(26)})
    assert bench.bus.read(3, POSITION, 8).round_trip == pytest.approx(read_time(8, 1e6))


@pytest.mark.parametrize("register,baud", [(1, 1_000_000), (3, 500_000), (7, 250_000), (16, 115_200), (207, 9_600)])
def test_every_rate_works_and_others_are_not_heard(register, baud):
    bench = Bench()
    bench.servo(2).table["baud_rate"] = register
    bench.port.set_baud(baud)
    assert bench.bus.read(2, POSITION, 8).round_trip == pytest.approx(bytes_time(22, baud) + 22e-6)
    bench.port.set_baud(57_600)
    with pytest.raises(NoReplyError):
        bench.bus.ping(2)


def test_an_echoing_wire_is_read_through_its_echo():
    bench = Bench(echoes=True)
    for servo_id in (1, 2, 3):
        assert bench.position(servo_id) == 512
    bench.bus.sync_write(30, dict.fromkeys((1, 2, 3), b"\x10\x02"))
    bench.bus.ping(1)
    assert bench.servo(3).table["goal_position"] == 528
    assert (bench.counts.collisions, bench.counts.noise_bytes, bench.counts.unexpected_echoes) == (0, 0, 0)


def test_an_echo_that_differs_is_a_collision_and_sent_again():
    bench = Bench(echoes=True)
    bench.fault("garbled_instruction", times=1)
    reply = bench.bus.read(1, POSITION, 8)
    assert reply.attempts == 2 and bench.counts.collisions == 1


def test_a_register_that_does_not_keep_its_number_is_noticed():
    bench = Bench()
    bench.servo(1).table.write = lambda address, data: 0  # a worn EEPROM: acknowledged, not kept
    with pytest.raises(RegisterError, match="return_delay_time was written as 7 and reads back as 0"):
        bench.bus.write_register(1, bench.row("return_delay_time"), 7)


def test_a_wiring_that_cannot_read_is_not_read():
    bench = Bench(reads_trusted=False)
    with pytest.raises(ReadsNotTrustedError, match="direction control"):
        bench.bus.ping(1)
    bench.bus.write(1, 25, b"\x01")  # writing goes on, unacknowledged
    bench.port.sleep(1e-3)
    assert bench.servo(1).table["led"] == 1


@pytest.mark.parametrize(
    "options,faults,trusted,words",
    [
        ({}, [], True, "can be trusted"),
        ({"echoes": True}, [], True, "can be trusted"),
        ({}, [("echo", {})], False, "choose direction control 'echo'"),
        ({"host_hold": 60e-6}, [], False, "switched to receiving too late"),
        ({"host_hold": 5e-3}, [], False, "No servo answers"),
        ({}, [("tail_cut", {"probability": 0.5})], False, "bad contact"),
        ({}, [("dead", {"servo": 2})], False, "some servos or replies are missing"),
        ({}, [("lost_reply", {"probability": 0.01})], True, "can be trusted"),
    ],
)
def test_the_wiring_is_measured_and_explained(options, faults, trusted, words):
    bench = Bench(seed=1, **options)
    for kind, values in faults:
        bench.fault(kind, **values)
    report = check_wiring(bench.bus, (1, 2, 3), rounds=30)
    assert (report.is_trusted, report.sent) == (trusted, 90) and words in report.text, report.text
    assert report.whole + report.garbled + report.silent == 90


def test_interrupts_tear_and_delay_replies_but_lose_none():
    bench = Bench(retries=0, behaviour=type(QUIET)())
    trips = [bench.bus.read(1 + i % 3, POSITION, 8).round_trip for i in range(400)]
    late = [t - read_time(8, 1e6) for t in trips]
    assert min(late) == pytest.approx(0.0, abs=1e-9) and 100e-6 < max(late) < 261e-6
    assert bench.counts.timeouts == 0


def test_servo_ids_are_unique_only_if_wanted():
    servos = equal_servos((4, 5))
    assert all(isinstance(servo, EmulatedServo) for servo in servos)
    assert [servo.servo_id for servo in servos] == [4, 5]
