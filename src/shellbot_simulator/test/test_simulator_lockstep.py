# SPDX-License-Identifier: MIT
"""Lock-step and pacing, with a clock of the test's own."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from shellbot_simulator.node.lockstep import CommandGate, Phase
from shellbot_simulator.node.pacing import Pacer, RateMeter

TICK = 10_000_000


def command(value: float) -> np.ndarray:
    return np.array([value])


@pytest.fixture
def gate() -> CommandGate:
    return CommandGate(TICK)


def test_command_of_tick_k_is_applied_in_tick_k_plus_1(gate):
    gate.published(0)
    gate.offer(command(1.0), 0)  # early: the step of tick 0 has not begun
    assert gate.take(-TICK) is None
    assert gate.wait(0, 0.0)
    gate.published(TICK)
    assert gate.take(0) == command(1.0)
    assert not gate.wait(TICK, 0.0)


def test_hold_needs_no_command_and_the_first_stamp_engages(gate):
    gate.published(0)
    assert gate.phase is Phase.HOLD and gate.wait(0, 0.0)
    gate.offer(command(1.0), 0)
    assert gate.phase is Phase.LOCKED
    gate.published(TICK)
    assert not gate.wait(TICK, 0.0)


def test_unstamped_command_acts_at_once_without_lockstep(gate):
    gate.published(0)
    gate.offer(command(2.0), None)
    assert gate.take(-TICK) == command(2.0)
    assert gate.phase is Phase.HOLD


def test_fallback_and_re_engagement(gate):
    gate.published(0)
    gate.offer(command(1.0), 0)
    gate.published(TICK)
    gate.take(0)
    gate.give_up()
    assert gate.phase is Phase.FALLBACK and gate.wait(TICK, 0.0)
    gate.published(50 * TICK)
    gate.offer(command(3.0), 10 * TICK)  # an old one from a queue is no sign of life
    assert gate.phase is Phase.FALLBACK
    gate.offer(command(4.0), 49 * TICK)
    assert gate.phase is Phase.LOCKED
    assert gate.take(49 * TICK) == command(4.0)


def test_stale_and_future_commands(gate):
    gate.published(5 * TICK)
    refusals = [gate.offer(command(1.0), 6 * TICK) for _ in range(30)]
    assert refusals[0] is None and "ahead of the clock (0.05 s)" in refusals[-1]
    gate.offer(command(5.0), 5 * TICK)
    assert gate.take(5 * TICK) == command(5.0)
    gate.offer(command(4.0), 4 * TICK)  # overtaken by a newer one
    assert gate.take(5 * TICK) is None


def test_reset_forgets_commands(gate):
    gate.published(5 * TICK)
    gate.offer(command(5.0), 5 * TICK)
    gate.reset()
    gate.published(0)
    assert gate.phase is Phase.HOLD and gate.take(5 * TICK) is None
    gate.offer(command(1.0), 5 * TICK)  # from before the reset
    assert gate.phase is Phase.HOLD and gate.take(5 * TICK) is None


def test_waiting_loop_is_woken_by_command_and_by_interrupt(gate):
    gate.published(0)
    gate.offer(command(0.0), 0)
    gate.published(TICK)
    threading.Timer(0.02, gate.offer, (command(1.0), TICK)).start()
    assert gate.wait(TICK, 5.0)
    gate.published(2 * TICK)
    threading.Timer(0.02, gate.interrupt).start()
    assert not gate.wait(2 * TICK, 5.0)


def test_pacer_keeps_an_absolute_schedule():
    pacer = Pacer(2.0)
    now = 100.0
    pacer.restart(now)
    for _ in range(1000):
        now += pacer.delay(now, False) + 0.0013  # sleeping takes a little longer every time
        pacer.ticked(now, False)
    assert now - 100.0 == pytest.approx(1000 * 0.005, abs=0.008)


def test_pacer_catches_up_only_a_little():
    pacer = Pacer(1.0)
    pacer.restart(0.0)
    pacer.ticked(60.0, False)  # a minute late
    ticks = 0
    while pacer.delay(60.0, False) == 0.0:
        pacer.ticked(60.0, False)
        ticks += 1
    assert ticks <= 20


def test_pacer_unlimited_and_limited_to_real_time():
    pacer = Pacer(0.0)
    pacer.restart(0.0)
    pacer.ticked(0.0, False)
    assert pacer.delay(0.0, False) == 0.0
    pacer.ticked(0.0, True)
    assert pacer.delay(0.0, True) == pytest.approx(0.01)


def test_rate_meter():
    meter = RateMeter()
    for k in range(1000):
        meter.ticked(k * 0.002)
    assert meter.factor(999 * 0.002) == pytest.approx(5.0, rel=0.01)
    meter.ticked(60.0)  # a gap longer than its window is no reason to measure nothing
    assert 0.0 < meter.factor(60.0) < 0.01


def test_rate_meter_measures_nothing_in_less_than_a_second():
    meter = RateMeter()
    assert math.isnan(meter.factor(1.0))
    for k in range(100):
        meter.ticked(k * 0.01)
        assert math.isnan(meter.factor(k * 0.01))
    meter.ticked(1.0)
    assert meter.factor(1.0) == pytest.approx(1.0)
