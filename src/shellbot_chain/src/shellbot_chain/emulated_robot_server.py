# SPDX-License-Identifier: MIT
"""The emulated robot in a process of its own: servos on a pty in real time, true states through a pipe.

A process of its own, because a reply is due some 22 us after the question: nothing else may hold this interpreter.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import gc
import multiprocessing
import os
import select
import signal
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, List, NamedTuple, Optional, Tuple

from ax_bus.errors import ServoError
from ax_emulator import Fault, FaultInjector, PtyServer
from robot_evaluation.errors import EvaluationError
from shellbot_simulator.core.errors import SimulationDivergedError
from shellbot_simulator.core.state import SimState

from .emulated_robot import EmulatedBody, EmulatedRobot, EmulatedRobotConfig
from .errors import ChainError

_START_LIMIT = 60.0  # s
_STOP_LIMIT = 3.0  # s
_NICE = -10  # servos need no turn on this machine's processors: where it is allowed, what stands for them goes first


@dataclass(frozen=True)
class ServerSettings:
    """What the process serves."""

    robot: EmulatedRobotConfig  #: The robot
    link: str = ""  #: Stable name to give the pty; empty for none
    faults: Tuple[Fault, ...] = ()  #: Schedule, counted from the start
    body: Optional[EmulatedBody] = None  #: Which robot; None: the variant of Shellbot in `robot`
    precise: bool = False  #: Whether to spin before each reply: replies to 10 us instead of 0.1 ms, for a core


class RobotReport(NamedTuple):
    """One tick of the emulated robot."""

    stamp: float  #: Wall time of the tick, s since the epoch
    state: SimState  #: True state of the bodies
    #: voltage, current, charge: Battery, V, A and fraction
    voltage: float
    current: float
    charge: float
    lost_time: float  #: s of physics left out so far, because the machine was too slow
    faults: Any  #: Kinds that have struck, and how often


class RobotServer:
    """Starts and ends the process, and talks to it.

    Parameters
    ----------
    settings : ServerSettings
        What to serve.

    Attributes
    ----------
    port : str
        Where the servos are.

    Raises
    ------
    ChainError
        If it does not come up; in the words of what was wrong.
    """

    def __init__(self, settings: ServerSettings) -> None:
        # spawn: a fork would take over this process's threads and sockets in the middle of what they do
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, settings), name="emulated_robot", daemon=True)
        self._process.start()
        theirs.close()
        answer = self._receive(_START_LIMIT)
        if not isinstance(answer, tuple) or answer[0] != "port":
            self.close()
            raise ChainError(str(answer or "the process of the emulated robot ended while it started"))
        self.port: str = answer[1]

    @property
    def pid(self) -> Optional[int]:
        """Number of the process."""
        return self._process.pid

    def report(self, timeout: float = 0.5) -> Optional[RobotReport]:
        """Return the next tick, or None after ``timeout`` s.

        Raises
        ------
        ChainError
            If the process has ended or says that it cannot go on.
        """
        answer = self._receive(timeout)
        if isinstance(answer, str):
            raise ChainError(answer)
        return answer if isinstance(answer, RobotReport) else None

    def is_in_use(self) -> bool:
        """Return whether a driver has the port open: then its lock cannot be had."""
        try:
            port = os.open(self.port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError as error:
            return error.errno == errno.EBUSY
        try:
            fcntl.flock(port, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(port)
        return False

    def inject(self, faults: List[Fault]) -> None:
        """Add faults whose times count from now."""
        self._connection.send(("faults", faults))

    def set_charge(self, charge: float) -> None:
        """Set the battery's charge, 0 to 1."""
        self._connection.send(("charge", charge))

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(OSError):
            self._connection.close()
        self._process.join(_STOP_LIMIT)
        if self._process.is_alive():
            self._process.kill()
            self._process.join(_STOP_LIMIT)

    def _receive(self, timeout: float) -> Any:
        try:
            if not self._connection.poll(timeout):
                return None if self._process.is_alive() else "the process of the emulated robot has ended"
            return self._connection.recv()
        except (EOFError, OSError) as error:
            return f"the process of the emulated robot has ended ({error!r})"


def serve(connection: Connection, settings: ServerSettings) -> None:
    """Run in the child until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then closes the pipe
    try:
        faults = FaultInjector(settings.faults, settings.robot.seed or 0)
        robot = EmulatedRobot(settings.robot, faults, body=settings.body)
        robot.chain.is_paced, robot.chain.most_steps = True, 1
        server = PtyServer(robot.chain, Path(settings.link) if settings.link else None, settings.precise)
    except (EvaluationError, ServoError, OSError) as error:
        connection.send(str(error))
        return
    talk = _Talk(connection, robot)
    robot.on_tick = talk.tick
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, _NICE)
    # a pause of the garbage collector would be a late reply; nothing here makes cycles in the loop
    gc.collect()
    gc.freeze()
    try:
        connection.send(("port", server.name))
        server.run(lambda: talk.is_over)
    except SimulationDivergedError as error:
        with contextlib.suppress(OSError):
            connection.send(f"{error}")
    finally:
        server.close()
        robot.close()


class _Talk:
    """The child's end of the pipe; never waits for the parent."""

    def __init__(self, connection: Connection, robot: EmulatedRobot) -> None:
        self._connection = connection
        self._robot = robot
        self.is_over = False

    def tick(self) -> None:
        try:
            self._listen()
            # a parent that does not read must not hold up the bus: this tick is left out
            if select.select((), (self._connection,), (), 0.0)[1]:
                self._connection.send(self._report())
        except (EOFError, OSError):
            self.is_over = True

    def _report(self) -> RobotReport:
        robot = self._robot
        battery, faults = robot.battery, dict(robot.chain.faults.struck)
        return RobotReport(
            time.time(), robot.state(), battery.voltage, robot.bank.current(), battery.charge, robot.lost_time, faults
        )

    def _listen(self) -> None:
        while self._connection.poll():
            word, *content = self._connection.recv()
            if word == "faults":
                self._robot.add_faults(content[0])
            elif word == "charge":
                self._robot.battery.set_charge(content[0])
        if os.getppid() == 1:  # the parent died without a word
            self.is_over = True
