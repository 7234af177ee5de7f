# SPDX-License-Identifier: MIT
"""The emulated robot's process and the parameters of its node: a real pty, real time."""

from __future__ import annotations

import contextlib
import os
import time

import pytest

from ax_bus import Bus, Timeouts, direction
from ax_bus.errors import NoReplyError
from ax_bus.serial_port import SerialPort
from ax_emulator import Fault
from robot_evaluation.errors import DefinitionError
from shellbot_chain.emulated_robot import EmulatedRobotConfig
from shellbot_chain.emulated_robot_params import EmulatedRobotParams, faults_of
from shellbot_chain.emulated_robot_server import RobotReport, RobotServer, ServerSettings
from shellbot_chain.errors import ChainError

PATIENT = Timeouts(link_latency=0.08)  # tests share the machine with others
WAIT = 60.0  # s


def newest(server):
    """Return a report from now on, not one of those that waited meanwhile."""
    while server.report(0.0) is not None:
        pass
    return server.report(WAIT)


def until(condition):
    """Wait for a condition that a busy machine only delays; a lost exchange counts as not met."""
    end = time.monotonic() + WAIT
    while True:
        with contextlib.suppress(NoReplyError):
            if condition():
                return
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def test_servos_answer_physics_runs_and_faults_come_and_go(tmp_path):
    link = tmp_path / "servos"
    server = RobotServer(ServerSettings(EmulatedRobotConfig(seed=1), str(link)))
    try:
        assert server.port == str(link) and link.is_symlink()
        with SerialPort(server.port, 1_000_000, direction("auto")) as port:
            bus = Bus(port, PATIENT)
            for i in range(19):
                until(lambda i=i: bus.read(i, 3, 1, retries=3).data[0] == i)
            first, asked = newest(server), time.time()
            assert isinstance(first, RobotReport)
            until(lambda: newest(server).state.time > first.state.time + 0.2)
            second = newest(server)
            assert asked < second.stamp < time.time() + 0.1
            assert second.voltage == pytest.approx(12.0, abs=0.1) and second.current >= 0.95
            until(lambda: bus.write(2, 24, b"\x01", retries=3) is not False)
            server.inject([Fault("dead", servo=7, stop=3.0)])
            server.set_charge(0.2)
            until(lambda: newest(server).faults.get("dead") or bus.read(7, 36, 2, retries=0) is None)
            assert newest(server).faults == {"dead": 1}
            assert newest(server).charge == pytest.approx(0.2, abs=0.001)
            until(lambda: newest(server).voltage < 11.3)
            until(lambda: bus.read(7, 36, 2, retries=3))
        pid = server.pid
    finally:
        server.close()
    assert not link.exists() and not link.is_symlink()
    with pytest.raises(OSError):
        os.kill(pid, 0)


def test_a_parent_that_does_not_read_does_not_stop_the_servos():
    server = RobotServer(ServerSettings(EmulatedRobotConfig(seed=None)))
    try:
        with SerialPort(server.port, 1_000_000, direction("auto")) as port:
            bus = Bus(port, PATIENT)
            for _ in range(400):  # longer than a pipe holds reports
                until(lambda: bus.read(3, 36, 8, retries=3))
        assert server.report(WAIT) is not None
    finally:
        server.close()


def test_servos_answer_where_physics_is_slower_than_real_time():
    server = RobotServer(ServerSettings(EmulatedRobotConfig("full", seed=None, timestep=2e-4)))
    try:
        with SerialPort(server.port, 1_000_000, direction("auto")) as port:
            bus = Bus(port, PATIENT)
            for _ in range(100):
                until(lambda: bus.read(3, 36, 8, retries=3))
    finally:
        server.close()


def test_what_cannot_start_says_why(tmp_path):
    taken = tmp_path / "servos"
    taken.write_text("mine")
    with pytest.raises(ChainError, match="choose another name"):
        RobotServer(ServerSettings(EmulatedRobotConfig(seed=None), str(taken)))
    assert taken.read_text() == "mine"


def test_the_end_of_the_process_is_noticed():
    server = RobotServer(ServerSettings(EmulatedRobotConfig(seed=None)))
    try:
        os.kill(server.pid, 9)
        with pytest.raises(ChainError, match="has ended"):
            for _ in range(500):
                server.report(0.1)
    finally:
        server.close()


def test_parameters_become_settings(tmp_path):
    schedule = tmp_path / "faults.yaml"
    schedule.write_text("- {kind: lost_reply, probability: 0.1}\n")
    given = {"port": "/tmp/x", "variant": "full", "seed": -1, "friction": 0, "viewer": True, "faults": str(schedule)}
    parameters = EmulatedRobotParams.from_mapping({**given, "fault": {"kind": "dead"}})
    settings = parameters.settings()
    assert parameters.viewer == "true"
    assert settings.robot.physical_variant == "simulation" and settings.robot.seed is None
    assert settings.robot.friction == 0.8  # the simulator's own
    assert settings.faults == (Fault("lost_reply", probability=0.1),)
    assert EmulatedRobotParams().settings().faults == ()


@pytest.mark.parametrize(
    "values, words",
    [
        ({"prot": "x"}, "~prot does not exist; is port meant"),
        ({"viewer": "maybe"}, "choose from auto"),
        ({"charge": 1.5}, "~charge is 1.5; give a number from 0 to 1"),
        ({"charge": "full"}, "~charge is 'full'; give a number from 0 to 1"),
        ({"seed": 1.5}, "whole number"),
        ({"precise": 1}, "true or false"),
    ],
)
def test_wrong_parameters_are_named(values, words):
    with pytest.raises(DefinitionError, match=words):
        EmulatedRobotParams.from_mapping(values)


def test_a_missing_schedule_and_a_wrong_fault_are_named():
    with pytest.raises(DefinitionError, match="cannot be read"):
        EmulatedRobotParams(faults="/nowhere/faults.yaml").settings()
    assert faults_of({"kind": "dead", "servo": 3}) == [Fault("dead", 3)]
    for value in ("dead", {"kind": "dad"}, [{"servo": 3}]):
        with pytest.raises(DefinitionError):
            faults_of(value)
