# SPDX-License-Identifier: MIT
"""Stops, targets and state pass whatever else is under way: a request without an answer, a start, a restart."""

from __future__ import annotations

import dataclasses
import math
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest
from driver_bench import QUICK, DriverBench
from emulated_chain import emulated
from test_driver_process import PatientBusProcess, settings

from shellbot_common.testing import wait_until
from shellbot_motor_driver import BusProcessError, BusSettings, Phase, Reaction, ServoMap, StartError
from shellbot_motor_driver.process.bus_worker import Worker
from shellbot_motor_driver.process.orders import Ending, Orders
from shellbot_motor_driver.process.shared_state import SharedState
from shellbot_motor_driver.process.stop_latch import StopLatch

sys.path.insert(0, str(Path(__file__).parent / "ros"))

from servo_chain import ServoChain

SLOW = ({"kind": "link_latency", "value": 0.02},)  # a start then takes seconds


def limp(bench):
    return sum(not servo.table["torque_enable"] for servo in bench.chain.servos)


@pytest.mark.parametrize("held", [False, True], ids=["limp servos", "servos that hold"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.97])
def test_a_stop_breaks_into_the_start(held, share):
    def a_bench():
        bench = DriverBench(start=False)
        if held:
            bench.driver.start()
            bench.targets = bench.driver.state().command.copy()
            bench.ready().new_driver()
        return bench

    bench = a_bench()
    before = bench.port.now()
    bench.driver.start()
    whole = bench.port.now() - before
    bench = a_bench()
    when, off = bench.port.now() + share * whole, []
    read = bench.port.read

    def look(timeout):
        data = read(timeout)
        if bench.port.now() >= when and limp(bench) == 19:
            off.append(bench.port.now())
        return data

    bench.port.read = look
    report = bench.driver.start(lambda: bench.port.now() >= when)
    assert len(report.answered) == 19 and limp(bench) == 19
    assert off and off[0] - when < 4e-3, "a question and three orders later"
    assert bench.phase is Phase.OFF and "emergency stop (during the start)" in bench.ladder.text
    bench.targets = bench.driver.state().command.copy()
    bench.run(0.5)
    assert limp(bench) == 19 and bench.phase is Phase.OFF
    assert bench.driver.rearm()
    bench.run(1.5)
    assert limp(bench) == 0 and bench.phase is Phase.FOLLOWING and bench.largest_step() <= 1.0


def test_a_start_that_nobody_stops_looks_and_goes_on():
    bench, looks = DriverBench(start=False), []
    bench.driver.start(lambda: bool(looks.append(1)))
    assert len(looks) >= 19 * 7 and limp(bench) == 0 and not bench.ladder.rungs
    asked = len(looks)
    bench.run(0.5, None)
    assert len(looks) == asked, "only during the start"


@pytest.mark.parametrize("torque", [True, False], ids=["sent before the order", "sent after it"])
def test_torque_off_before_the_first_look_keeps_the_start_limp(torque, tmp_path):
    """A process is launched with settings; torque may be switched off before it first looks for orders."""
    config = dataclasses.replace(QUICK, start=dataclasses.replace(QUICK.start, torque=torque))
    bench = DriverBench(start=False, config=config)
    memory = os.memfd_create("orders")
    SharedState(os.dup(memory), bench.map, 0.5).put_orders(Orders(offs=1))
    ours, theirs = multiprocessing.Pipe()
    with closing(ours), closing(theirs):
        ours.send(BusSettings(str(tmp_path / "port"), config=config))
        worker = Worker(theirs, memory)
        start, seen = bench.driver.start, []

        def watched(is_stop_requested):
            report = start(is_stop_requested)
            seen.append(limp(bench))
            return report

        bench.driver.start = watched
        worker._start(bench.driver)
    assert seen == [19] and limp(bench) == 19
    bench.run(0.5)
    assert limp(bench) == 19 and bench.phase is Phase.OFF
    assert bench.driver.torque(True)
    bench.run(1.5)
    assert limp(bench) == 0


def test_a_stop_while_a_start_fails_leaves_the_reason():
    bench = DriverBench(start=False)
    bench.servo(7).is_dead = True
    with pytest.raises(StartError, match="1 of 19 servos do not answer"):
        bench.driver.start(lambda: True)
    assert limp(bench) == 19


def test_what_a_stop_leaves_behind_outlives_answers_that_are_older():
    def memory():
        fd = os.memfd_create("test")
        try:
            return SharedState(fd, ServoMap.load("walker"), 0.1)
        finally:
            os.close(fd)

    latch, first, second = StopLatch(), memory(), memory()
    assert latch.attach(first) == Orders() and not latch.is_limp and math.isnan(latch.requested_at)
    known = latch.orders
    latch.stop(1.0)
    latch.switched_on(known)  # asked for before, answered after
    latch.rearmed(known)
    assert first.orders().stops == 1 and latch.orders.is_stopped and latch.is_limp and latch.requested_at == 1.0
    latch.detach()
    latch.stop(2.0)
    assert first.orders().stops == 1, "it is gone"
    assert latch.attach(second) == second.orders() == Orders(stops=2) and latch.requested_at == 2.0
    latch.rearmed(latch.orders)
    assert not latch.is_limp and math.isnan(latch.requested_at)
    latch.switch_off(3.0)
    assert second.orders().is_switched_off and latch.is_limp, "torque off needs no more than to be requested"
    latch.stop(4.0)
    latch.rearmed(latch.orders)
    assert latch.is_limp, "rearming is no torque switch"
    latch.switched_on(latch.orders)
    assert not latch.is_limp
    known = latch.orders
    latch.attach(memory())
    latch.stop(5.0)
    latch.switched_on(known)  # asked for when the process before this one was there
    assert latch.orders.is_stopped
    latch.end(Ending.OFF, 6.0)
    latch.end(Ending.HOLD, 7.0)
    assert latch.orders.ending == Ending.OFF and latch.requested_at == 7.0
    latch.rearmed(latch.orders)
    latch.begin()
    assert not latch.is_limp


@pytest.mark.parametrize("is_seen", [True, False], ids=["seen before", "not yet seen"])
def test_a_stop_is_not_undone_by_a_rearm_that_was_asked_for_before_it(is_seen):
    with emulated() as port, PatientBusProcess(settings(port)) as bus:
        wait_until(lambda: bus.state().tick > 5)
        ask = bus._ask

        def late(name, *arguments):
            bus.emergency_stop("test")
            if is_seen:
                wait_until(lambda: bus.state().ladder.rung("emergency_stop") is not None)
            return ask(name, *arguments)

        bus._ask = late
        answer = bus.rearm()
        bus._ask = ask
        assert not answer and "another emergency stop" in answer.reason
        tick = bus.state().tick
        wait_until(lambda: bus.state().tick > tick + 20)
        assert bus.state().ladder.reaction is Reaction.OFF and bus.state().ladder.needs_rearm
        wait_until(bus.rearm)
        wait_until(lambda: bus.state().ladder.reaction is Reaction.NONE)


@pytest.mark.parametrize(
    "what",
    [
        "bus_child.subprocess.Popen",
        "bus_child.socket.socketpair",
        "bus_child.os.memfd_create",
        "shared_state.mmap.mmap",
    ],
)
def test_a_machine_without_room_for_a_process_is_told_and_tried_again(what, monkeypatch):
    with emulated() as port, PatientBusProcess(settings(port)) as bus:
        wait_until(lambda: bus.state().tick > 5)
        os.kill(bus.pid, signal.SIGKILL)
        wait_until(lambda: bus.pid is None)
        with monkeypatch.context() as patched:

            def refuse(*_, **__):
                raise OSError(11, "Resource temporarily unavailable")

            patched.setattr(f"shellbot_motor_driver.process.{what}", refuse)
            assert not bus.poll()
            files, tries = len(os.listdir("/proc/self/fd")), bus.restarts
            for _ in range(10):
                assert not bus.poll()
            assert bus.restarts == tries, "not at every look"
            bus._keeper._retry_at = 0.0
            assert not bus.poll()
            assert bus.restarts == tries + 1 and len(os.listdir("/proc/self/fd")) == files
            assert "no bus process can be launched" in " ".join(notice.text for notice in bus.events())
            with pytest.raises(BusProcessError, match="Resource temporarily unavailable"):
                PatientBusProcess(settings(port)).start()
        wait_until(bus.poll)


def test_targets_state_and_stop_do_not_wait_for_a_request_without_an_answer():
    with emulated() as port, PatientBusProcess(settings(port)) as bus:
        wait_until(lambda: bus.state().tick > 5)
        q, first = bus.state().command.copy(), bus.pid
        os.kill(first, signal.SIGSTOP)  # it answers nothing, but is not dead
        answers = []
        request = threading.Thread(target=lambda: answers.append(bus.rearm()))
        request.start()
        wait_until(lambda: not _is_free(bus._keeper.lock))
        took = []
        for call in (lambda: bus.set_targets(q), bus.state, lambda: bus.tick(q), lambda: bus.emergency_stop("test")):
            begin = time.monotonic()
            call()
            took.append(time.monotonic() - begin)
        is_waiting = request.is_alive()
        request.join(60.0)
        assert is_waiting or max(took) < 0.5, took  # on a busy machine they may be slow, but not wait for the request
        assert not answers[0] and any(word in answers[0].reason for word in ("died", "did not answer"))
        wait_until(lambda: bus.poll() and bus.pid != first)
        wait_until(lambda: bus.state().ladder.rung("emergency_stop") is not None)


def _is_free(lock):
    if lock.acquire(blocking=False):
        lock.release()
        return True
    return False


def test_torque_that_comes_on_during_the_start_goes_off_with_a_stop(tmp_path):
    config = {"start": {"wiring_rounds": 1}}
    with closing(ServoChain(tmp_path / "port", faults=SLOW)) as chain:
        bus = PatientBusProcess(settings(str(tmp_path / "port"), config=config))
        start = threading.Thread(target=bus.start)
        start.start()
        try:
            wait_until(lambda: any(chain.registers("torque_enable").values()))
            bus.emergency_stop("test")
            wait_until(lambda: not any(chain.registers("torque_enable").values()))
            assert start.is_alive(), "the stop waited for the end of the start"
            start.join(60.0)
            wait_until(lambda: bus.state().tick > 3)
            assert bus.state().ladder.reaction is Reaction.OFF
            assert not any(chain.registers("torque_enable").values())
            assert "emergency stop (during the start)" in " ".join(notice.text for notice in bus.events())
            wait_until(bus.rearm)
            wait_until(lambda: all(chain.registers("torque_enable").values()))
        finally:
            start.join(30.0)
            bus.shutdown()


def test_the_parent_dies_while_torque_comes_on_and_the_orphan_sits_and_switches_it_off(tmp_path):
    values = {"start": {"wiring_rounds": 1}, "setpoint": {"sit_after": 0.3, "off_after": 1.0, "sit_speed": 5.0}}
    config = f"DriverConfig.from_mapping({values!r})"
    source = (
        "import sys\nfrom shellbot_motor_driver import BusProcess, BusSettings, DriverConfig, StartError\n"
        "while True:\n try:\n"
        f"  BusProcess(BusSettings(sys.argv[1], link_latency=0.02, margin=0.1, config={config})).start(120.0)\n"
        "  break\n except StartError: pass\n"  # on a busy machine replies come too late
    )
    port = str(tmp_path / "port")
    with closing(ServoChain(tmp_path / "port", faults=SLOW)) as chain:
        parent = subprocess.Popen([sys.executable, "-c", source, port])
        try:
            wait_until(lambda: any(chain.registers("torque_enable").values()), seconds=240)
        finally:
            parent.kill()
            parent.wait(10)
        assert not all(chain.registers("torque_enable").values()), "it was still starting"
        wait_until(lambda: all(chain.registers("torque_enable").values()))
        wait_until(lambda: not any(chain.registers("torque_enable").values()))


def _has_open(pid, path):
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed since it was listed
            if os.readlink(file) == str(path):
                return True
    return False


def test_servos_that_hold_during_a_restart_go_limp_with_a_stop(tmp_path):
    config = {"start": {"wiring_rounds": 1}}
    with closing(ServoChain(tmp_path / "port")) as chain, PatientBusProcess(
        settings(str(tmp_path / "port"), config=config)
    ) as bus:
        wait_until(lambda: bus.state().tick > 5)
        chain.fault("link_latency", value=0.02)
        os.kill(bus.pid, signal.SIGKILL)
        wait_until(lambda: bus.pid is None)
        bus.poll()
        wait_until(lambda: bus.pid is not None)
        wait_until(lambda: _has_open(bus.pid, (tmp_path / "port").resolve()))  # then it asks for 2 s
        assert all(chain.registers("torque_enable").values())
        bus.emergency_stop("test")
        wait_until(lambda: not any(chain.registers("torque_enable").values()))
        assert not bus.poll(), "the stop waited for the end of the restart"
        wait_until(bus.poll)
        wait_until(lambda: bus.state().ladder.rung("emergency_stop") is not None)
        assert not any(chain.registers("torque_enable").values()) and np.isfinite(bus.state().command).all()


def test_a_stop_is_confirmed_by_every_servo_within_three_tenths():
    bench = DriverBench().ready()
    assert not bench.driver.state().torque_off.is_requested
    bench.driver.emergency_stop()
    assert bench.driver.state().torque_off.is_requested
    assert set(bench.driver.state().torque_off.unconfirmed) == set(bench.map.servo_ids)
    began = bench.port.now()
    done = bench.run(0.3, targets=None, until=lambda: bench.driver.state().torque_off.is_confirmed)
    assert done is not None and done - began < 0.1, bench.driver.state().torque_off
    assert bench.driver.rearm()
    assert not bench.driver.state().torque_off.is_confirmed


def test_a_servo_that_does_not_answer_leaves_a_stop_unconfirmed():
    bench = DriverBench().ready()
    bench.fault("dead", servo=3)
    bench.driver.emergency_stop()
    bench.run(1.0, targets=None)
    assert bench.driver.state().torque_off.unconfirmed == (3,)
