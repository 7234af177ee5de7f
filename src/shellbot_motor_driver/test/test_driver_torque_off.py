# SPDX-License-Identifier: MIT
"""Torque off without a driver, who counts as hung, and what is said while torque off is not confirmed. Virtual time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from servo_bench import Bench
from test_motor_node import state

from ax_bus.errors import PortLostError
from shellbot_common import Level
from shellbot_motor_driver import BusSettings, Phase, Reaction, ServoMap
from shellbot_motor_driver.process.keeper import Keeper
from shellbot_motor_driver.process.orders import Orders, Pulse, newest
from shellbot_motor_driver.process.patience import Patience
from shellbot_motor_driver.process.rescue import switch_off
from shellbot_motor_driver.process.state_age import STATE_OLD_S, checked_state, process_line
from shellbot_motor_driver.process.torque_off import CONFIRM_S, TorqueOffStatus, TorqueOffWatch
from shellbot_motor_driver.safety.health import Health, is_stopped

MAP = ServoMap.load("walker")
IDS = MAP.servo_ids
NOBODY = math.nan
ONLY_3 = "TORQUE MAY BE ON at servos 3 lower_1_tibia:"

# ------------------------------------------------------------------------------------------------------ switching off


def powered(ids, **options):
    bench = Bench(ids, **options)
    for servo in bench.chain.servos:
        servo.table["torque_enable"] = 1
    return bench


def test_torque_goes_off_everywhere_and_is_read_back_from_those_who_are_known():
    bench = powered((1, 2, 3, 77))  # 77 is a stranger
    began = bench.port.now()
    found = switch_off(bench.bus, (1, 2, 3))
    assert not any(servo.table["torque_enable"] for servo in bench.chain.servos), "strangers, too"
    assert (found.stamps > began).all() and not found.trouble
    assert bench.port.now() - began < 0.02


def test_orders_and_replies_that_get_lost_are_repeated():
    bench = powered((1, 2, 3), faults=[], seed=3)
    bench.fault("garbled_instruction", probability=0.5)
    bench.fault("lost_reply", probability=0.5)
    found = switch_off(bench.bus, (1, 2, 3))
    assert (found.stamps > 0.0).all() and not any(servo.table["torque_enable"] for servo in bench.chain.servos)


def test_a_servo_that_does_not_answer_is_not_confirmed_and_does_not_delay_the_others():
    bench = powered((1, 2, 3))
    bench.fault("dead", servo=2)
    began = bench.port.now()
    found = switch_off(bench.bus, (1, 2, 3))
    assert list(found.stamps > 0.0) == [True, False, True] and "servo 2 gave no valid answer" in found.trouble
    assert found.stamps[2] - began < 0.05 and bench.port.now() - began < 1.0


def test_replies_that_are_late_because_the_host_is_busy_are_waited_for():
    bench = powered((1, 2, 3))
    bench.fault("link_latency", value=0.008)  # the bus expects 0.1 ms
    usual = bench.bus.timeouts
    assert (switch_off(bench.bus, (1, 2, 3)).stamps > 0.0).all() and bench.bus.timeouts == usual


def test_a_port_that_goes_away_is_told_not_raised():
    bench = powered((1, 2, 3))

    def gone(_data):
        raise PortLostError("the port is gone")

    bench.port.write = gone
    assert switch_off(bench.bus, (1, 2, 3)) == (pytest.approx(np.zeros(3)), "the port is gone")


# ------------------------------------------------------------------------------------------------------ who is hung


@pytest.mark.parametrize("step", [0.001, 0.01, 0.05])
def test_who_stands_still_while_somebody_looks_is_hung(step):
    patience, now, mark = Patience(0.5), 100.0, 7
    while not patience.is_over(now, mark):
        now += step
        assert now < 101.0
    assert 0.5 <= now - 100.0 < 0.5 + 2.0 * step
    assert not patience.is_over(now, 8), "it moves again"


def test_a_looker_who_was_away_does_not_blame_the_other():
    patience = Patience(0.5)
    patience.is_over(100.0, 7)
    assert not patience.is_over(400.0, 7), "both may have stood still"
    assert not patience.is_over(400.3, 7)
    assert [patience.is_over(400.4 + 0.1 * k, 7) for k in range(4)][-1], "but now it has had its time"


# ------------------------------------------------------------------------------------------------------ confirmation


def read_back(**times):
    """All servos read as off at 10.0 s, but for ``_<id>=time``."""
    stamps = np.full(len(IDS), 10.0)
    for name, time in times.items():
        stamps[IDS.index(int(name[1:]))] = time
    return stamps


def test_confirmed_is_what_every_servo_has_said_since_the_request():
    watch = TorqueOffWatch(MAP)
    assert watch.status(NOBODY, 9.0) == TorqueOffStatus() and not watch.status(NOBODY, 9.0).is_requested
    watch.learn(read_back(_3=0.0))
    status = watch.status(9.9, 10.0)
    assert not status.confirmed and "1 of 19 servos have not" in status.text and not status.is_overdue
    watch.learn(read_back(_3=-10.1))
    assert ONLY_3 in watch.status(9.9, 10.2).text, "it said that its torque is on"
    watch.learn(read_back(_3=10.3))
    assert watch.status(9.9, 10.4).confirmed
    assert "18 of 19 servos have not" in watch.status(10.2, 10.3).text, "that was before"
    watch.learn(read_back(_3=5.0))
    assert watch.status(9.9, 10.4).confirmed, "older news change nothing"
    np.testing.assert_array_equal(newest(np.array([3.0, -4.0]), np.array([-2.0, 5.0])), [3.0, 5.0])


def test_what_is_not_confirmed_in_time_is_said_once_with_names_and_so_is_its_end():
    watch, requested = TorqueOffWatch(MAP), 100.0
    watch.learn(read_back() + 90.1)
    watch.learn(read_back(_3=-100.2))
    watch.trouble = "servo 3 gave no valid answer"
    assert watch.report(requested, 100.2) is None
    said = watch.report(requested, 100.01 + CONFIRM_S)
    assert said.level is Level.ERROR and ONLY_3 in said.text
    assert "switch the power off" in said.text and "no valid answer" in said.text
    assert watch.report(requested, 101.0) is None, "once"
    watch.learn(read_back(_3=101.5))
    assert "read back from all 19" in watch.report(requested, 102.0).text
    assert watch.report(requested, 103.0) is None


def test_orders_in_quick_succession_do_not_put_off_the_report():
    watch = TorqueOffWatch(MAP)
    reports = [watch.report(100.0 + 0.1 * k, 100.05 + 0.1 * k) for k in range(10)]
    assert [report for report in reports if report is not None][0].level is Level.ERROR


class Child:
    """A process that runs, and does what the test says."""

    pid, is_started, is_up, why_killed = 1, True, True, ""

    def __init__(self):
        self.asked, self.pulse = [], Pulse(1.0, 0, 0, True, np.zeros(len(IDS)))

    def take_pulse(self):
        return self.pulse

    def judge(self, _now, _orders, must_obey):
        self.asked.append(must_obey)
        return ""


def test_a_process_must_obey_until_torque_is_confirmed_off():
    keeper = Keeper(BusSettings("/dev/nothing"), MAP)
    keeper.child = child = Child()
    keeper.latch.stop(100.0)
    keeper.look()
    child.pulse = child.pulse._replace(read_back=np.full(len(IDS), 100.1))
    keeper.look()
    assert child.asked == [True, False], "its successor, which still starts, must not be killed for it"


def test_orders_and_pulses():
    orders = Orders(stops=2, stops_over=1, offs=1, offs_over=1)
    assert orders.is_stopped and not orders.is_switched_off and orders.requires_off
    pulse = Pulse(1.0, 1, 1, True, np.zeros(3))
    assert not pulse.has_obeyed(orders) and pulse._replace(stops=2).has_obeyed(orders)


# ----------------------------------------------------------------------------------------------- what the state claims


def test_an_old_state_is_no_measurement():
    now, idle = state().stamp, TorqueOffStatus()
    fresh = checked_state(state(), now + 0.9 * STATE_OLD_S, True, idle)
    assert fresh.is_measured.all() and not is_stopped(fresh)
    for age, is_up, words in ((0.4, True, "gives no state for 0.4 s"), (0.0, False, "is not running")):
        old = checked_state(state(), now + age, is_up, idle)
        assert not old.is_measured.any() and old.ladder.phase is Phase.BUS_DOWN and is_stopped(old)
        assert words in old.ladder.text and "the servos hold" in old.ladder.text
        assert all(servo.is_stale and servo.age == now + age - servo.stamp for servo in old.servos)


def test_torque_that_may_be_on_is_the_first_thing_that_is_said():
    watch = TorqueOffWatch(MAP)
    now = state().stamp
    overdue = checked_state(state(), now, True, watch.status(now - 1.0, now))
    assert overdue.ladder.text.startswith("TORQUE MAY BE ON") and overdue.ladder.reaction is Reaction.OFF
    assert is_stopped(overdue)
    dead = checked_state(state(), now, False, watch.status(now - 0.1, now))
    assert "have not confirmed it yet" in dead.ladder.text and "hold" not in dead.ladder.text


def test_the_line_of_diagnostics():
    now = state().stamp
    line = process_line(state(), now + 0.02, 2, TorqueOffStatus())
    assert line.level is Health.OK and dict(line.values) == {
        "state age": "20 ms", "restarts": "2", "torque off": "torque is requested",
    }  # fmt: skip
    assert process_line(state(), now + 1.0, 0, TorqueOffStatus()).level is Health.ERROR
    status = TorqueOffWatch(MAP).status(now - 1.0, now)
    line = process_line(state(), now, 0, status)
    assert line.level is Health.ERROR and line.message == status.text
