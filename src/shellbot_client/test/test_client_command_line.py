# SPDX-License-Identifier: MIT
"""The command line over pipes, with a simulated robot: help, completion, answers, and a call that is ended."""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import math
import signal
import subprocess
import sys

import pytest

from shellbot_chain.errors import MissionFailed
from shellbot_client import Shellbot
from shellbot_client.command_line import CommandLine
from shellbot_client.mission import Observation


def started():
    command = [sys.executable, "-m", "shellbot_client.command_line", "--simulated"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def line():
    """A function that sends a request and returns its answers, text joined; with the process as an attribute."""
    process = started()

    def send(**message):
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        return answer()

    def answer():
        text = ""
        while True:
            message = json.loads(process.stdout.readline())
            text += message.get("text", "")
            if "completions" in message:
                return message["completions"]
            if "done" in message:
                return text

    send.process, send.answer = process, answer
    yield send
    process.stdin.close()
    assert process.wait(timeout=60) == 0


def test_calls_are_completed_before_there_is_a_robot_and_after(line):
    assert line(complete="wa") == ["wait(", "walk("]
    (found,) = line(complete='x = 1; perform("wave"); robot.em')  # with ")" where there is a robot already
    assert found.rstrip(")") == 'x = 1; perform("wave"); robot.emergency_stop('
    assert line(complete="") == line(complete="no_such_na") == []
    assert line(run="robot.mode") in ("'hexapod'\n", "'sit'\n")
    assert line(complete="robot.mo") == ["robot.mode"]


def test_help_lists_every_call_of_the_client(line):
    listed = line(run="help()")
    calls = [name for name, _ in inspect.getmembers(Shellbot, inspect.isfunction) if not name.startswith("_")]
    assert len(calls) > 10 and all(f"\n{name}(" in f"\n{listed}" for name in calls)
    assert "simulated time" in line(run="help(wait)")


def test_what_fails_is_a_sentence_and_the_next_line_runs(line):
    assert line(run="walk(x=float('nan'))").count("\n") == 1, "no traceback"
    assert "ZeroDivisionError" in line(run="1 / 0") and "not closed" in line(run="walk(")
    assert line(run="relax = go_to('relax')") and line(run="2 + 2") == "4\n"


def test_a_call_that_is_interrupted_leaves_a_robot_that_can_be_driven(line):
    line(run="walk(x=0.02)")
    begin = float(line(run="robot.place.x"))
    line.process.stdin.write(json.dumps({"run": "print('begins', flush=True); walk(x=50.0)"}) + "\n")
    line.process.stdin.flush()
    while "begins" not in json.loads(line.process.stdout.readline()).get("text", ""):
        pass
    line.process.send_signal(signal.SIGINT)
    assert "interrupted" in line.answer()
    assert float(line(run="robot.place.x")) < begin + 40.0
    assert line(run="gait('ripple')") == ""


def test_a_robot_that_is_not_ready_is_left_before_the_next_line_looks_for_it_again():
    class Link:
        def __init__(self):
            self.is_closed = False
            links.append(self)

        def observe(self):
            return Observation(0.0, math.nan, math.nan, math.nan, "waiting", "waiting")

        def tick(self):
            raise MissionFailed("no joint_states")

        def close(self):
            self.is_closed = True

    links = []
    command_line = CommandLine(lambda: Shellbot(Link()))
    with contextlib.redirect_stderr(io.StringIO()) as out:
        for count in (1, 2):
            command_line.push("robot.mode")
            assert len(links) == count and all(link.is_closed for link in links)
    assert out.getvalue() == 2 * "no joint_states\n"
    command_line.close()


def test_a_window_that_dies_ends_what_runs():
    process = started()
    try:
        process.stdin.write(
            json.dumps({"run": "print('begins', flush=True); [wait(1.0) for _ in iter(int, 1)]"}) + "\n"
        )
        process.stdin.flush()
        while "begins" not in process.stdout.readline():
            pass
        process.stdin.close()
        assert process.wait(timeout=60) == 0
        assert "interrupted" in process.stdout.read()
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("request_line", ["walk", "[1]", '{"run": 1}', '{"stop": "x"}'])
def test_what_is_no_request_is_named_and_the_next_one_runs(request_line):
    process = started()
    try:
        process.stdin.write(f"{request_line}\n" + json.dumps({"run": "print(6 * 7)"}) + "\n")
        process.stdin.flush()
        assert "is no request; send" in process.stdout.readline()
        assert '"42' in process.stdout.readline()
        process.stdin.close()
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.wait()
