# SPDX-License-Identifier: MIT
"""One bus process from its launch to its end, seen by its parent: shared memory, requests, its life."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any, Optional

from shellbot_motor_driver.driving.start_report import StartReport
from shellbot_motor_driver.errors import BusProcessError
from shellbot_motor_driver.map.servo_map import ServoMap
from shellbot_motor_driver.process.bus_settings import BusSettings
from shellbot_motor_driver.process.shared_state import SharedState

_CALL_TIMEOUT = 1.0  # s; an answer takes a tick


class BusChild:
    """A process that runs ``bus_worker``. Requests: one thread at a time; `shared` and the questions: any.

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
        Targets and stops to it, state from it; there before the process is.
    is_started : bool
        Whether the driver's start was accepted.
    """

    def __init__(self, settings: BusSettings, servo_map: ServoMap) -> None:
        self._settings = settings
        self._memory = os.memfd_create("shellbot-bus")
        self.shared = SharedState(self._memory, servo_map, settings.config.servo.stale_after)
        self.shared.put_targets(time.monotonic(), None)
        self.is_started = False
        self._process: Optional[subprocess.Popen] = None
        self._connection: Optional[Connection] = None
        self._timeout = self._deadline = 0.0

    def launch(self, stops: int, over: int, is_limp: bool, timeout: float) -> None:
        """Start the process.

        Parameters
        ----------
        stops, over : int
            Emergency stops so far, and how many of them are over; a further one breaks into the driver's start.
        is_limp : bool
            Whether torque stays off whatever the settings say.
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
        command = [sys.executable, "-m", "shellbot_motor_driver.process.bus_worker", *map(str, (*handles, stops, over))]
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
        start = replace(config.start, torque=config.start.torque and not is_limp)
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
        """Exit code or signal, in words."""
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
                f"the bus process ended at once ({self.how_it_ended}); its last words are above"
            ) from error
        if kind != "started":
            raise content
        self.is_started = True
        return content  # type: ignore[no-any-return]

    def wait(self) -> StartReport:
        """As `started`, but wait for it."""
        while True:
            report = self.started(max(self._deadline - time.monotonic(), 0.0))
            if report is not None:
                return report

    def call(self, name: str, *arguments: Any) -> Any:
        """Let it do something and return its answer.

        Raises
        ------
        BusProcessError
            If it does not answer; it is ended then.
        ServoError
            Whatever the driver raised.
        """
        if self._connection is None or not self.is_up:
            raise BusProcessError("the bus process is not running; it is started again by itself, then try again")
        try:
            self._connection.send((name, arguments))
            if not self._connection.poll(_CALL_TIMEOUT):
                if self._process is not None:
                    self._process.kill()  # its late answer could not be told from the next
                raise BusProcessError(f"the bus process did not answer in {_CALL_TIMEOUT:g} s; it is started again")
            kind, content = self._connection.recv()
        except (EOFError, OSError) as error:
            raise BusProcessError("the bus process has just died; it is started again, into hold") from error
        if kind == "failed":
            raise content
        return content

    def end(self, patience: float) -> None:
        """Let it end by itself for ``patience`` s, then make it."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is None:
            return
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def terminate_after(self, patience: float) -> None:
        """Wait ``patience`` s for an end that it was asked for, then ask in the system's way."""
        if self._process is None:
            return
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.terminate()
