# SPDX-License-Identifier: MIT
"""A bus process that hangs is noticed and replaced, and torque that was requested to be off goes off without it.

What the servos do is read in the emulator, not asked of the driver.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from emulated_chain import emulated
from test_driver_process import PatientBusProcess, settings
from test_driver_torque_off import ONLY_3

from shellbot_common.testing import wait_until
from shellbot_description import named_pose_array
from shellbot_motor_driver import BusProcessError, Phase, ServoMap
from shellbot_motor_driver.process.rescue import rescue

sys.path.insert(0, str(Path(__file__).parent / "ros"))

from servo_chain import ServoChain

SLOW = ({"kind": "link_latency", "value": 0.02},)  # a start then takes seconds
QUICK = {"start": {"wiring_rounds": 1}}
SPIN = "while True: pass"
NINETEEN = "0 lower_1_fan, 1 lower_1_coxa, 2 lower_1_femur, 3 lower_1_tibia and 15 more"
ALL = f"TORQUE MAY BE ON at servos {NINETEEN}:"


@contextlib.contextmanager
def robot(folder, **options):
    """A bus process that follows targets, and its servos."""
    with closing(ServoChain(folder / "port")) as chain:
        bus = PatientBusProcess(settings(str(folder / "port"), config=QUICK, **options))
        bus.start()
        try:
            q = bus.state().command.copy()
            wait_until(lambda: bus.state().ladder.phase is Phase.FOLLOWING, meanwhile=lambda: bus.tick(q))
            yield bus, chain, q
        finally:
            bus.shutdown()


def on(chain):
    """How many servos have torque."""
    return sum(map(bool, chain.registers("torque_enable").values()))


def words(bus):
    return " | ".join(notice.text for notice in bus.events())


def test_a_hung_process_is_killed_and_its_successor_holds(tmp_path):
    with robot(tmp_path) as (bus, chain, q):
        first, goals = bus.pid, chain.registers("goal_position")
        os.kill(first, signal.SIGSTOP)
        wait_until(lambda: bus.state().ladder.rung("bus_process") is not None, meanwhile=lambda: bus.tick(q))
        old = bus.state()
        assert old.ladder.phase is Phase.BUS_DOWN and old.ladder.needs_rearm and not old.is_measured.any()
        assert "servos hold" in old.ladder.text and all(servo.is_stale for servo in old.servos)
        wait_until(lambda: bus.poll() and bus.pid != first)
        assert "no sign of life" in words(bus) and bus.restarts >= 1
        wait_until(lambda: bus.state().ladder.rung("restarted") is not None and bus.state().tick > 5)
        assert on(chain) == 19 and chain.registers("goal_position") == goals
        assert not bus.torque_off_status(time.monotonic()).is_requested
        wait_until(bus.rearm)
        wait_until(lambda: bus.state().ladder.phase is Phase.FOLLOWING, meanwhile=lambda: bus.tick(q))


@pytest.fixture
def rescues(monkeypatch):
    """How often this process opened the port itself."""
    opened = []

    def seen(*arguments):
        opened.append(1)
        return rescue(*arguments)

    monkeypatch.setattr("shellbot_motor_driver.process.keeper.rescue", seen)
    return opened


@pytest.mark.parametrize("what", ["stop", "torque off"])
def test_torque_goes_off_although_the_process_hangs(tmp_path, rescues, what):
    with robot(tmp_path) as (bus, chain, _):
        first = bus.pid
        os.kill(first, signal.SIGSTOP)
        if what == "stop":
            bus.emergency_stop("test")
            status = bus.confirm_off(60.0)
            assert status.confirmed, status.text
        else:
            answer = bus.torque(False)
            status = bus.confirm_off(60.0)
            assert answer or "not confirmed" in answer.reason or "yet" in answer.reason
        assert on(chain) == 0 and status.confirmed and rescues
        wait_until(lambda: bus.poll() and bus.pid != first)
        wait_until(lambda: bus.state().tick > 20, meanwhile=bus.poll)
        assert on(chain) == 0 and bus.state().ladder.phase is Phase.OFF
        assert (bus.state().ladder.rung("emergency_stop") is not None) == (what == "stop")
        assert "not obeyed" in words(bus)
        wait_until(lambda: bus.rearm() if what == "stop" else bus.torque(True), meanwhile=bus.poll)
        wait_until(lambda: on(chain) == 19, meanwhile=bus.poll)


def test_torque_that_was_switched_off_without_a_process_stays_off_in_the_next(tmp_path):
    """The port is away, so nobody can switch it off at once; the servos hold, which is no reason to hold on."""
    with robot(tmp_path) as (bus, chain, _):
        chain.fault("port_error", seconds=6.0)
        os.kill(bus.pid, signal.SIGKILL)
        wait_until(lambda: bus.pid is None)
        assert not bus.torque(False) and on(chain) == 19
        said = []
        wait_until(lambda: said.append(words(bus)) or "TORQUE MAY BE ON" in str(said), meanwhile=bus.poll)
        wait_until(lambda: on(chain) == 0, meanwhile=bus.poll)
        wait_until(lambda: bus.poll() and bus.state().tick > 20)
        assert on(chain) == 0 and bus.state().ladder.rung("torque_off") is not None
        assert bus.state().ladder.rung("restarted") is None and bus.confirm_off(60.0).confirmed


def test_a_stop_while_the_port_is_away_is_unconfirmed_and_obeyed_when_it_is_back(tmp_path):
    with robot(tmp_path) as (bus, chain, _):
        first = bus.pid
        chain.fault("port_error", seconds=6.0)
        wait_until(lambda: bus.state().ladder.phase is Phase.BUS_DOWN, meanwhile=bus.poll)
        bus.emergency_stop("test")
        status = bus.confirm_off(0.6)
        assert not status.confirmed and on(chain) == 19
        assert ALL in status.text and ALL in bus.state().ladder.text
        assert bus.confirm_off(60.0).confirmed and on(chain) == 0
        assert bus.pid == first, "it is alive and knows: nobody takes the port from it"


def test_shutdown_of_a_hung_process_switches_torque_off(tmp_path):
    with robot(tmp_path) as (bus, chain, _):
        os.kill(bus.pid, signal.SIGSTOP)
        status = bus.shutdown(sit=30.0, timeout=20.0)
        assert status.confirmed and on(chain) == 0 and bus.pid is None


def test_shutdown_without_a_port_says_who_may_hold(tmp_path):
    with robot(tmp_path) as (bus, chain, _):
        chain.fault("port_error", seconds=600.0)
        wait_until(lambda: bus.state().ladder.phase is Phase.BUS_DOWN, meanwhile=bus.poll)
        status = bus.shutdown()
        assert status.is_overdue and on(chain) == 19
        assert ALL in status.text and "switch the power off" in status.text
        assert "TORQUE MAY BE ON" in words(bus)


def test_it_sits_by_itself_then_lets_go(tmp_path, rescues):
    config = {"start": {"wiring_rounds": 1}, "setpoint": {"sit_speed": 5.0}}
    with closing(ServoChain(tmp_path / "port")) as chain:
        bus = PatientBusProcess(settings(str(tmp_path / "port"), config=config))
        bus.start()
        wait_until(lambda: bus.state().tick > 5)
        status = bus.shutdown(sit=60.0, timeout=20.0)
        assert status.confirmed and not rescues and on(chain) == 0
        goals, servos = chain.registers("goal_position"), ServoMap.load("walker")
        sits = servos.goals(servos.reduce(named_pose_array("sit", "walker")))
        np.testing.assert_allclose([goals[i] for i in servos.servo_ids], sits, atol=2)
        bus.start()
        assert bus.shutdown(sit=60.0, timeout=20.0, is_urgent=lambda: True).confirmed


def test_a_driver_that_never_ran_leaves_nothing_to_confirm(tmp_path):
    bus = PatientBusProcess(settings(str(tmp_path / "nothing")))
    with pytest.raises(OSError, match="does not exist"):
        bus.start()
    assert not bus.shutdown().is_requested


def test_a_start_that_hangs_ends_in_words_and_a_slow_one_does_not(tmp_path):
    with closing(ServoChain(tmp_path / "port", faults=SLOW)) as chain:
        bus = PatientBusProcess(settings(str(tmp_path / "port"), config=QUICK))
        bus.start(120.0)  # seconds, with a sign of life before each question
        assert bus.restarts == 0
        bus.shutdown(timeout=20.0)
        hung = threading.Thread(target=_stop_at_first_torque, args=(bus, chain))
        hung.start()
        with pytest.raises(BusProcessError, match="no sign of life"):
            bus.start(120.0)
        hung.join(60.0)
        assert on(chain) > 0, "nobody wanted it off"
        bus.emergency_stop("test")
        assert bus.confirm_off(60.0).confirmed and on(chain) == 0


def _stop_at_first_torque(bus, chain):
    wait_until(lambda: on(chain) > 0)
    os.kill(bus.pid, signal.SIGSTOP)


def test_a_start_that_is_given_up_leaves_no_torque(tmp_path):
    with closing(ServoChain(tmp_path / "port", faults=SLOW)) as chain:
        bus = PatientBusProcess(settings(str(tmp_path / "port"), config=QUICK))
        with pytest.raises(BusProcessError, match="given up"):
            bus.start(120.0, give_up=lambda: on(chain) > 0)
        assert bus.shutdown(timeout=20.0).confirmed and on(chain) == 0


STOPPED_PARENT = """
import sys, time
from shellbot_common.testing import wait_until
from shellbot_description import named_pose_array
from shellbot_motor_driver import BusProcess, BusSettings
bus = BusProcess(BusSettings(sys.argv[1], link_latency=0.02, margin=0.1))
bus.start(120.0)
print("up", flush=True)
while bus.restarts == 0:
    bus.poll()
    time.sleep(0.01)
    print(bus.pid, flush=True)
"""


def test_a_parent_that_stood_still_kills_nobody(tmp_path):
    """As after a suspend, in which both stood still: nobody looked, so nobody was silent."""
    with closing(ServoChain(tmp_path / "port")):
        command = [sys.executable, "-c", STOPPED_PARENT, str(tmp_path / "port")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
            assert parent.stdout.readline() == "up\n"
            child = int(parent.stdout.readline())
            for both in (False, True):
                stopped = (parent.pid, child) if both else (parent.pid,)
                for pid in stopped:
                    os.kill(pid, signal.SIGSTOP)
                time.sleep(2.0)  # longer than the silence for which it kills
                for pid in stopped:
                    os.kill(pid, signal.SIGCONT)
                for _ in range(100):
                    seen = int(parent.stdout.readline())
                assert seen == child
            parent.kill()


def test_a_busy_machine_is_no_reason_to_kill(tmp_path):
    """2 s with eight busy processes: the loop is late, but never silent for half a second of looks."""
    with robot(tmp_path) as (bus, _, q), contextlib.ExitStack() as stack:
        first = bus.pid
        for _ in range(8):
            process = subprocess.Popen([sys.executable, "-c", SPIN])
            stack.callback(process.wait)
            stack.callback(process.kill)
        end = time.monotonic() + 2.0
        wait_until(lambda: time.monotonic() > end, meanwhile=lambda: bus.tick(q))
        assert bus.pid == first and bus.restarts == 0
        assert np.isfinite(bus.state().position).all()


def test_nobody_opens_the_port_of_a_living_process(tmp_path, rescues):
    with robot(tmp_path) as (bus, chain, _):
        bus.emergency_stop("test")
        assert bus.confirm_off(60.0).confirmed and on(chain) == 0
        chain.fault("dead", servo=3)
        bus.emergency_stop("again")

        def is_only_3_unconfirmed():
            status = bus.confirm_off(0.1)
            if status.confirmed:  # servo 3 had answered before the fault was there
                bus.emergency_stop("once more")
            return ONLY_3 in status.text

        wait_until(is_only_3_unconfirmed)
        assert not rescues and bus.pid is not None, words(bus)
        wait_until(lambda: ONLY_3 in bus.shutdown().text)  # again where the others answered too late
        assert rescues


def test_a_late_answer_of_a_killed_process_is_not_taken_for_the_next_one(monkeypatch):
    """It was killed because it did not answer in time, and did so a moment before it died."""
    with emulated() as port, PatientBusProcess(settings(port)) as bus:
        child = bus._keeper.child
        child.ask("events")
        wait_until(lambda: child._connection.poll(0.1))
        child.kill("no answer")
        monkeypatch.setattr(type(child), "is_up", True)  # as until the system has taken it away
        answer = bus.rearm()
        assert not answer and "is not running" in answer.reason
        monkeypatch.undo()
