# SPDX-License-Identifier: MIT
"""The bus loop in its own process: targets and state through shared memory, requests through a pipe."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, List, Mapping, Optional, Tuple

import numpy as np

from shellbot_control import JointLimits, Level, Notice, clamp_targets
from shellbot_motor_driver.compliance import Compliance
from shellbot_motor_driver.driver_config import DriverConfig
from shellbot_motor_driver.driver_state import Answer, DriverState, Phase, Reaction, Rung, StartReport
from shellbot_motor_driver.errors import BusProcessError, MotorDriverError
from shellbot_motor_driver.motor_driver import joint_limits
from shellbot_motor_driver.servo_map import ServoMap
from shellbot_motor_driver.shared_state import SharedState

Array = np.ndarray
_CALL_TIMEOUT = 1.0  # s; an answer takes a tick
_RETRY = 1.0  # s between two tries to start a bus process again


@dataclass(frozen=True)
class BusSettings:
    """What the bus process needs to know.

    Parameters
    ----------
    port : str
        Device, best a stable name.
    variant : str
        ``walker`` or ``full``.
    baud : int
        Rate of the line.
    direction : str
        Who turns the line (`DIRECTIONS`).
    direction_options : mapping
        Its parameters.
    link_latency : float
        Latency of adapter and kernel that 99 of 100 replies keep, s.
    margin : float
        s that a reply may be late on top (the process's own wake-up).
    servo_map : str
        Another file than the package's ``config/servos.yaml``.
    config : DriverConfig
        Parameters of the driver.
    priority : int
        SCHED_FIFO priority, 0 for none; a refusal is said and survived.
    cpu : int
        Core to stay on, -1 for any.
    restart : bool
        Whether a bus process that dies is started again, into hold.
    """

    port: str
    variant: str = "walker"
    baud: int = 1_000_000
    direction: str = "auto"
    direction_options: Mapping[str, Any] = field(default_factory=dict)
    link_latency: float = 1e-3
    margin: float = 0.5e-3
    servo_map: str = ""
    config: DriverConfig = DriverConfig()
    priority: int = 0
    cpu: int = -1
    restart: bool = True


class BusProcess:
    """The methods of `MotorDriver` for another process.

    Not thread-safe but for `set_targets`, `state` and `emergency_stop`; only the last never waits for a request.
    Call `poll` regularly (the node does, at its own rate): it notices a dead bus process and restarts it.

    Parameters
    ----------
    settings : BusSettings
        What to run.
    """

    def __init__(self, settings: BusSettings) -> None:
        self.settings = settings
        self._map = ServoMap.load(settings.variant, Path(settings.servo_map) if settings.servo_map else None)
        self._limits = joint_limits(self._map)
        self._process: Optional[subprocess.Popen] = None
        self._connection: Optional[Connection] = None
        self._shared: Optional[SharedState] = None
        self._lock = threading.RLock()
        self._stop_lock = threading.Lock()  # held for microseconds only, by whoever holds the other or not
        self._stops = 0
        self._is_stopped = False  # by emergency_stop, until rearm: also the next process must be
        self._is_limp = False  # torque off by request, or stopped: the next process must not begin with torque
        self._restarts = 0
        self._is_starting = False
        self._is_wanted = False
        self._retry_at = 0.0
        self._deadline = 0.0
        self._last: Optional[DriverState] = None
        self._waiting = 0
        self._said: List[Notice] = []

    @property
    def joint_names(self) -> Tuple[str, ...]:
        """Order of targets and joint arrays."""
        return self._map.joint_names

    @property
    def limits(self) -> JointLimits:
        """Limits that every command keeps."""
        return self._limits

    @property
    def pid(self) -> Optional[int]:
        """The bus process's number, None while there is none."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    @property
    def restarts(self) -> int:
        """How often it had to be started again."""
        return self._restarts

    def start(self, timeout: float = 20.0) -> StartReport:
        """Start the process, open the port, run `MotorDriver.start`.

        Raises
        ------
        PortError
            Port missing, in use, not permitted.
        StartError
            As `MotorDriver.start`.
        BusProcessError
            If the process ends or does not answer in ``timeout`` s.
        """
        with self._lock:
            if self.pid is not None:
                raise BusProcessError("the bus process runs already; shut it down first")
            self._launch(timeout)
            assert self._connection is not None
            try:
                if not self._connection.poll(timeout):
                    raise BusProcessError(f"the bus process did not start in {timeout:g} s; is the machine overloaded?")
                report = self._started()
            except BaseException:
                self._drop()
                raise
            self._is_wanted = True
            return report

    def poll(self) -> bool:
        """Notice death, restart if allowed; return whether the bus process lives. Never blocks for long."""
        with self._lock:
            if not self._is_wanted:
                return False
            if self._is_starting:
                self._continue_start()
            elif self.pid is None and self._connection is not None:
                code = self._process.returncode if self._process is not None else 0
                self._say(Level.ERROR, f"the bus process died ({_end(code)}); the servos hold their last goals")
                self._drop()
                self._retry_at = time.monotonic()
            if self._connection is None and self.settings.restart and time.monotonic() >= self._retry_at:
                self._restarts += 1
                self._say(Level.WARN, "starting the bus process again, into hold; re-arm to go on")
                self._launch(20.0)
            return self.pid is not None and not self._is_starting

    def set_targets(self, targets: Array) -> None:
        """Give new targets, (n_joints,) rad; the bus process takes the latest at its next tick.

        Raises
        ------
        shellbot_control.TargetsError
            If the shape is wrong or a value is not finite; the driver then holds as if none had come.
        """
        clamp_targets(targets, self._limits)  # refuses nonsense; the driver judges the rest
        with self._lock:
            if self._shared is not None:
                self._shared.put_targets(time.monotonic(), np.asarray(targets, dtype=np.float64))

    def tick(self, targets: Optional[Array] = None) -> None:
        """Do `set_targets` and `poll`: programs of `MotorDriver` run unchanged."""
        if targets is not None:
            self.set_targets(targets)
        self.poll()

    def state(self) -> DriverState:
        """Return the latest state; its ``stamp`` shows its age against ``time.monotonic()``.

        Raises
        ------
        BusProcessError
            Before `start`.
        """
        with self._lock:
            found = self._shared.state() if self._shared is not None and not self._is_starting else None
            if found is not None:
                self._last, self._waiting = found
            if self._last is not None and self.pid is not None and not self._is_starting:
                return self._last
            if self._last is None:
                raise BusProcessError("there is no state yet; start the bus process first")
            text = "the bus process is not running; the servos hold their last goals"
            rung = Rung("bus_process", Reaction.HOLD, self._last.stamp, True, text)
            ladder = replace(
                self._last.ladder, phase=Phase.BUS_DOWN, reaction=max(Reaction.HOLD, self._last.ladder.reaction),
                rungs=(rung, *self._last.ladder.rungs), needs_rearm=True, text=text,
            )  # fmt: skip
            return replace(self._last, ladder=ladder, is_measured=np.zeros_like(self._last.is_measured))

    def events(self) -> Tuple[Notice, ...]:
        """Return what happened since the last call."""
        with self._lock:
            said, self._said = self._said, []
            if self._waiting and not self._is_starting and self.pid is not None:
                with contextlib.suppress(BusProcessError):
                    said.extend(self._call("events"))
                    self._waiting = 0
            return tuple(said)

    def hold(self) -> Array:
        """As `MotorDriver.hold`."""
        with self._lock:
            if self._shared is not None:
                self._shared.put_targets(time.monotonic(), None)
            return np.asarray(self._call("hold"))

    def torque(self, on: bool) -> Answer:
        """As `MotorDriver.torque`."""
        answer = self._ask("torque", on)
        if answer or not on:
            self._is_limp = not on
        return answer

    def emergency_stop(self, cause: str = "emergency stop") -> None:
        """As `MotorDriver.emergency_stop`; from any thread.

        A number of its own in the shared memory, which the bus loop looks at in each tick: no request delays it.
        """
        with self._stop_lock:
            self._stops += 1
            self._is_stopped = self._is_limp = True
            if self._shared is not None:
                self._shared.put_stops(self._stops)
        self._say(Level.WARN, f"emergency stop asked for ({cause})")

    def rearm(self) -> Answer:
        """As `MotorDriver.rearm`; a process that was started without torque, because of a stop, gets it now."""
        stops, was_stopped = self._stops, self._is_stopped
        answer = self._ask("rearm")
        if answer and was_stopped and self._is_limp:
            answer = self._ask("torque", True)
        with self._stop_lock:
            if answer and stops == self._stops:  # nobody has stopped it meanwhile
                self._is_stopped = False
                self._is_limp = self._is_limp and not was_stopped
        return answer

    def set_compliance(self, table: Mapping[str, Compliance]) -> Answer:
        """As `MotorDriver.set_compliance`."""
        return self._ask("set_compliance", dict(table))

    def drive_fan(self, velocity: float) -> Answer:
        """As `MotorDriver.drive_fan`."""
        return self._ask("drive_fan", velocity)

    def shutdown(self, torque_off: bool = True, timeout: float = 5.0) -> None:
        """End the process: stop burst, torque off (or holding on), port closed."""
        with self._lock:
            self._is_wanted = False
            if self._process is None:
                return
            with contextlib.suppress(MotorDriverError):
                if not self._is_starting:
                    self._call("shutdown", torque_off)
            try:
                self._process.wait(timeout if not self._is_starting else 0.0)
            except subprocess.TimeoutExpired:
                self._process.terminate()
            self._drop()

    def __enter__(self) -> BusProcess:
        """Start it."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Shut it down."""
        self.shutdown()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _launch(self, timeout: float) -> None:
        """Start a process; `_started` takes its first words."""
        ours, theirs = socket.socketpair()
        memory = os.memfd_create("shellbot-bus")
        shared = SharedState(memory, self._map, self.settings.config.servo.stale_after)
        shared.put_targets(time.monotonic(), None)
        with self._stop_lock:  # a process that takes the place of a stopped one is stopped at its first tick
            self._stops, self._shared = int(self._is_stopped), shared
            shared.put_stops(self._stops)
            is_limp = self._is_limp
        environment = dict(
            os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", PYTHONPATH=os.pathsep.join(sys.path)
        )
        command = [sys.executable, "-m", "shellbot_motor_driver.bus_worker", str(theirs.fileno()), str(memory)]
        try:
            self._process = subprocess.Popen(
                command,
                pass_fds=(theirs.fileno(), memory),
                env=environment,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
            )
        finally:
            theirs.close()
            os.close(memory)
        self._connection = Connection(ours.detach())
        self._is_starting = True
        self._deadline = time.monotonic() + timeout
        with contextlib.suppress(OSError):
            config = self.settings.config
            start = replace(config.start, torque=config.start.torque and not is_limp)
            self._connection.send(replace(self.settings, config=replace(config, start=start)))

    def _started(self) -> StartReport:
        assert self._connection is not None and self._process is not None
        try:
            kind, content = self._connection.recv()
        except (EOFError, OSError) as error:
            code = self._process.wait()
            raise BusProcessError(f"the bus process ended at once ({_end(code)}); its last words are above") from error
        if kind != "started":
            raise content
        self._is_starting = False
        return content  # type: ignore[no-any-return]

    def _continue_start(self) -> None:
        assert self._connection is not None
        try:
            if self._connection.poll(0.0):
                report = self._started()
                self._say(Level.WARN, f"the bus process runs again. {report.text}")
                return
            if self.pid is not None and time.monotonic() < self._deadline:
                return
            raise BusProcessError("the bus process does not come up")
        except MotorDriverError as error:
            self._say(Level.ERROR, f"{error}; trying again in {_RETRY:g} s")
            self._drop()
            self._retry_at = time.monotonic() + _RETRY

    def _ask(self, name: str, *arguments: Any) -> Answer:
        try:
            answer = self._call(name, *arguments)
        except BusProcessError as error:
            return Answer(False, str(error))
        return answer  # type: ignore[no-any-return]

    def _call(self, name: str, *arguments: Any) -> Any:
        with self._lock:
            if self._connection is None or self._is_starting or self.pid is None:
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

    def _drop(self) -> None:
        """Forget the process; it ends by itself, or is ended if it hangs."""
        self._is_starting = False
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None and self._process.poll() is None and not self._is_wanted:
            try:
                self._process.wait(2.0)
            except subprocess.TimeoutExpired:
                self._process.kill()
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
        if self._process is not None:
            self._process.wait()
        self._process = None
        with self._stop_lock:
            if self._shared is not None:
                self._shared.close()
                self._shared = None

    def _say(self, level: Level, text: str) -> None:
        self._said.append(Notice("bus_process", level, text))
        del self._said[:-100]


def _end(code: Optional[int]) -> str:
    return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
