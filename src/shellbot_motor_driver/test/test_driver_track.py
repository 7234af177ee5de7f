# SPDX-License-Identifier: MIT
"""Which readings of a servo are accepted; turns and bookings of the scheduler; histograms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ax_bus import ErrorFlags
from shellbot_motor_driver import DriverConfig, Histogram, ServoMap
from shellbot_motor_driver.driving.driver_config import Tick
from shellbot_motor_driver.driving.feedback_scheduler import FeedbackScheduler
from shellbot_motor_driver.driving.servo_table import Row, new_table
from shellbot_motor_driver.driving.servo_track import Feedback, ServoTrack
from shellbot_motor_driver.driving.timing import EDGES, HistogramCounter

GOOD = Feedback(512, 0, 0, 12.0, 30)


def track():
    servo_map = ServoMap.load("walker")
    made = ServoTrack(1, servo_map.entries[1], new_table(19), DriverConfig())
    assert made.accept(GOOD, 0, 1.0)
    return made


@pytest.mark.parametrize(
    "change",
    [
        {"steps": 600},
        {"steps": 1024},
        {"voltage": 5.5},
        {"voltage": 14.5},
        {"temperature": 40},
        {"temperature": 101},
        {"temperature": 20},
    ],
    ids=str,
)
def test_what_cannot_be_is_counted_as_missed(change):
    servo = track()
    assert not servo.accept(GOOD._replace(**change), 0, 1.01)
    assert servo.state.misses == 1 and servo.steps == 512 and servo.temperature == 30.0 and servo.voltage == 12.0
    assert servo.accept(GOOD, 0, 1.02) and servo.state.misses == 0


def test_what_a_servo_can_do_is_believed():
    servo = track()
    assert servo.accept(GOOD._replace(steps=535), 0, 1.01), "10 steps and 10 ms at 6.2 rad/s, 1.2 times"
    assert servo.accept(GOOD._replace(steps=900, temperature=33), 0, 2.0)


def test_the_same_implausible_thing_three_times_is_the_truth():
    servo = track()
    hot = GOOD._replace(temperature=75)
    assert not servo.accept(hot, 0, 1.01) and not servo.accept(hot, 0, 1.02)
    assert servo.accept(hot, 0, 1.03) and servo.temperature == 75.0


def test_different_implausible_things_never_are():
    servo = track()
    for k in range(20):
        assert not servo.accept(GOOD._replace(steps=(50, 300, 800, 1000)[k % 4]), 0, 1.0 + 0.001 * k)
    assert servo.steps == 512


def test_an_alarm_needs_two_of_three_replies():
    servo = track()
    flags = int(ErrorFlags.INPUT_VOLTAGE)
    assert servo.accept(GOOD, flags, 1.01) and not servo.alarms
    assert servo.accept(GOOD, flags, 1.02) and not servo.alarms, "the register says 12 V"
    warm = GOOD._replace(temperature=66)
    for k in range(3):
        servo.accept(warm, 0, 1.03 + 0.01 * k)
    assert servo.temperature == 66.0 and not servo.alarms
    servo.accept(warm, 4, 1.07)
    assert not servo.alarms, "once"
    servo.accept(warm, 0, 1.08)
    servo.accept(warm, 4, 1.09)
    assert servo.alarms == ErrorFlags.OVERHEATING and servo.heat() == 1
    for k in range(3):
        servo.accept(warm, 0, 1.1 + 0.01 * k)
    assert not servo.alarms


def test_after_a_loss_the_first_reading_is_the_truth():
    servo = track()
    servo.forget()
    assert servo.accept(GOOD._replace(steps=100, temperature=60), 0, 1.01)


def test_the_table_has_the_numbers():
    table = new_table(19)
    servo = ServoTrack(3, ServoMap.load("walker").entries[3], table, DriverConfig())
    servo.accept(Feedback(400, 5, 1030, 11.9, 31), 0, 7.0)
    assert table[Row.STAMP : Row.TEMPERATURE + 1, 3].tolist() == [7.0, 400.0, 5.0, 1030.0, 11.9, 31.0]
    assert np.isinf(table[Row.STAMP, 2]) and table[Row.READS, 3] == 1


def test_the_first_read_of_a_tick_is_made_whatever_was_measured():
    scheduler = FeedbackScheduler(Tick(), 0.5e-3)
    for _ in range(64):
        scheduler.record(8e-3)
    scheduler.begin(1e-3)
    assert scheduler.order([3, 1, 2], []) == [3, 1, 2], "the order never depends on costs"
    assert not scheduler.fits(1.5e-3, 0.2e-3, 0.0, 9.5e-3), "a further one does"
    assert scheduler.cut(1e-3, 0.2e-3, 9.5e-3) == 9.5e-3
    for _ in range(64):
        scheduler.record(16e-3)
    assert scheduler.cut(1e-3, 0.2e-3, 9.5e-3) is None, "on a slow link a READ is heard to its end"


def test_suspects_lead_every_other_tick_at_most():
    scheduler = FeedbackScheduler(Tick(), 0.5e-3)
    led = [scheduler.order([7, 8], [1, 2])[0] for _ in range(6)]
    assert led == [1, 7, 1, 7, 1, 7] and scheduler.order([7, 8], [1, 2]) == [1, 7, 8, 2]
    assert [scheduler.order([], [4])[0] for _ in range(3)] == [4, 4, 4], "but if nobody else is there"


def test_the_cost_is_what_half_of_the_last_reads_took():
    scheduler = FeedbackScheduler(Tick(), 0.5e-3)

    def room():
        scheduler.begin(1e-3)
        now, count = 1e-3 + 0.742e-3, 1
        while scheduler.fits(now, 0.242e-3, 0.0, 9.5e-3):
            now, count = now + 0.242e-3 + scheduler.overhead, count + 1
        assert scheduler.booked <= 0.7
        return count

    assert room() == 8
    for k in range(64):
        scheduler.record(8e-3 if k % 4 == 0 else 0.1e-3)
    assert room() == 16, "stalls of a quarter of the READs do not count"
    for _ in range(32):
        scheduler.record(1.2e-3)
    assert room() == 4, "in proportion"


def test_a_histogram_tells_its_percentiles():
    counter = HistogramCounter()
    for k in range(1000):
        counter.add(1e-3 if k < 990 else 0.1)
    first = counter.frozen()
    assert first.total == 1000 and 1e-3 <= first.percentile(50) <= 1.2e-3 and 0.1 <= first.percentile(99.5) <= 0.12
    counter.add(5.0)
    assert counter.frozen().minus(first).total == 1 and counter.frozen().percentile(100) == EDGES[-1]
    assert math.isnan(Histogram().percentile(50))
