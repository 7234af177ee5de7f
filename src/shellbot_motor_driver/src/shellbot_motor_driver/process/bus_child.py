# SPDX-License-Identifier: MIT
"""One bus process from its launch to its end, seen by its parent: shared memory, requests, its life."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any, Optional, Tuple

import numpy as np

from shellbot_motor_driver.driving.start_report import StartReport
from shellbot_motor_driver.errors import BusProcessError
from shellbot_motor_driver.map.servo_map import ServoMap
from shellbot_motor_driver.process.bus_settings import BusSettings
from shellbot_motor_driver.process.orders import Orders, Pulse
from shellbot_motor_driver.process.patience import Patience
from shellbot_motor_driver.process.shared_state import SharedState

CALL_S = 1.0  # s for the answer to a request, which takes a tick
SILENT_S = 0.5  # s without a sign of life after which a process counts as hung
OBEY_S = 0.15  # s within which it obeys a stop: 15 ticks
_DEATH_S = 0.2  # s for the death of a killed process; one that waits in the kernel takes longer
_DIED = "the bus process has just died; it is started again, into hold"


class BusChild:
    """A process that runs ``bus_worker``. Requests and `judge`: one thread at a time each; the rest: any.

    Its memory is never closed, but forgotten with this object: whoever still writes or reads does no harm.

    Parameters
    ----------
    settings : BusSettings
        What to run.
    servo_map : ServoMap
        Says how large the memory is.

    Attributes
    ----------
    shared : SharedState
        Targets and orders to it, state and pulse from it; there before the process is.
    is_started : bool
        Whether the driver's start was accepted.
    pulse : Pulse
        Its last sign of life.
    has_refused : bool
        Whether it ended its start by itself, in words; nothing has moved then.
    why_killed : str
        Why it had to be killed; empty if it did not.
    """

    def __init__(self, settings: BusSettings, servo_map: ServoMap) -> None:
        self._settings = settings
        self._memory = os.memfd_create("shellbot-bus")
        try:
            self.shared = SharedState(self._memory, servo_map, settings.config.servo.stale_after)
        except OSError:
            os.close(self._memory)
            raise
        self.shared.put_targets(time.monotonic(), None)
        self.is_started = False
        self.pulse = Pulse(0.0, 0, 0, False, np.zeros(len(servo_map.entries)))
        self.why_killed = ""
        self.has_refused = False
        waiting = 2.0 * (settings.link_latency + settings.margin)  # for a servo, in between
        self._silence, self._deafness = Patience(SILENT_S + waiting), Patience(OBEY_S + waiting)
        self._process: Optional[subprocess.Popen] = None
        self._connection: Optional[Connection] = None
        self._timeout = self._deadline = 0.0

    def launch(self, orders: Orders, timeout: float) -> None:
        """Start the process.

        Parameters
        ----------
        orders : Orders
            What is in force already, and in its memory.
        timeout : float
            s that the driver's start may take.
        """
        try:
            ours, theirs = socket.socketpair()
        except OSError:
            os.close(self._memory)
            raise
        environment = dict(
            os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", PYTHONPATH=os.pathsep.join(sys.path)
        )
        handles = (theirs.fileno(), self._memory)
        command = [sys.executable, "-m", "shellbot_motor_driver.process.bus_worker", *map(str, handles)]
        try:
            self._process = subprocess.Popen(
                command, pass_fds=handles, env=environment, start_new_session=True, stdin=subprocess.DEVNULL
            )
        finally:
            theirs.close()
            os.close(self._memory)
            self._connection = Connection(ours.detach())
        self._timeout, self._deadline = timeout, time.monotonic() + timeout
        config = self._settings.config
        start = replace(config.start, torque=config.start.torque and not orders.is_switched_off)
        try:
            self._connection.send(replace(self._settings, config=replace(config, start=start)))
        except OSError:  # it has ended already: `started` says so
            return

    @property
    def pid(self) -> Optional[int]:
        """The process's number; None if it does not run."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    @property
    def is_up(self) -> bool:
        """Whether it runs and has started."""
        return self.is_started and self.pid is not None

    @property
    def how_it_ended(self) -> str:
        """Exit code or signal, in words, or why it was killed."""
        if self.why_killed:
            return self.why_killed
        code = self._process.returncode if self._process is not None else None
        return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"

    def started(self, wait: float = 0.0) -> Optional[StartReport]:
        """Return what the driver's start found; None if it is still at it after ``wait`` s.

        Raises
        ------
        BusProcessError
            If the process has ended, or takes longer than it may.
        ServoError
            Whatever the driver's start raised.
        """
        assert self._connection is not None and self._process is not None
        try:
            if not self._connection.poll(wait):
                if self.pid is not None and time.monotonic() < self._deadline:
                    return None
                raise BusProcessError(
                    f"the bus process did not start in {self._timeout:g} s; is the machine overloaded?"
                )
            kind, content = self._connection.recv()
        except (EOFError, OSError) as error:
            self._process.wait()
            raise BusProcessError(
                f"the bus process ended during its start ({self.how_it_ended}); its last output is above"
            ) from error
        if kind != "started":
            self.has_refused = True
            raise content
        self.is_started = True
        return content

    @property
    def may_have_left_torque(self) -> bool:
        """Whether it came so far that servos may hold because of it."""
        return self.is_started or (self.pulse.has_port and not self.has_refused)

    def take_pulse(self) -> Pulse:
        """Return its last sign of life, also after its end. Does not block."""
        self.pulse = self.shared.pulse() or self.pulse
        return self.pulse

    def judge(self, now: float, orders: Orders, must_obey: bool) -> str:
        """Return why it must be killed according to its pulse, or nothing.

        Parameters
        ----------
        now : float
            CLOCK_MONOTONIC, s.
        orders : Orders
            Those in force.
        must_obey : bool
            Whether it is killed, too, if it does not obey them, alive or not.
        """
        pulse = self.pulse
        is_silent = self._silence.is_over(now, pulse.beat) and pulse.beat > 0.0
        is_waited_for = must_obey and orders.requires_off and not pulse.has_obeyed(orders)
        is_deaf = self._deafness.is_over(now, (pulse.stops, pulse.offs) if is_waited_for else now)
        if is_silent:
            return f"no sign of life for {self._silence.limit:.2g} s"
        return f"torque off not obeyed within {self._deafness.limit:.2g} s" if is_deaf else ""

    def kill(self, why: str) -> None:
        """Kill it. A process that is stuck in the kernel dies later: `pid` shows when."""
        self.why_killed = self.why_killed or why
        if self._process is not None and self.pid is not None:
            self._process.kill()

    def wait(self, patience: float) -> bool:
        """Wait at most ``patience`` s for its end; return whether it has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            if self._process is not None:
                self._process.wait(patience)
        return self.pid is None

    def ask(self, name: str, *arguments: Any) -> None:
        """Let it do something; `answer` must be fetched before the next request.

        Raises
        ------
        BusProcessError
            If it does not run.
        """
        if self._connection is None or not self.is_up or self.why_killed:  # a late answer may lie in its pipe
            raise BusProcessError("the bus process is not running; it restarts by itself, then try again")
        try:
            self._connection.send((name, arguments))
        except OSError as error:
            raise BusProcessError(_DIED) from error

    def answer(self, wait: float) -> Optional[Tuple[Any]]:
        """Return its answer to `ask`, wrapped; None if there is none after ``wait`` s.

        Raises
        ------
        BusProcessError
            If it dies instead.
        ServoError
            Whatever the driver raised.
        """
        assert self._connection is not None
        try:
            if not self._connection.poll(wait):
                return None
            kind, content = self._connection.recv()
        except (EOFError, OSError) as error:
            raise BusProcessError(_DIED) from error
        if kind == "failed":
            raise content
        return (content,)

    def end(self, patience: float) -> None:
        """Let it end by itself for ``patience`` s, then make it, and forget it."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if not self.wait(patience):
            self.kill("it did not end")
            self.wait(_DEATH_S)
