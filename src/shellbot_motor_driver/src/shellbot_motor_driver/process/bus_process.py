# SPDX-License-Identifier: MIT
"""The bus loop in its own process, which is started again when it dies: the methods of `MotorDriver` from outside."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import Any, Deque, List, Mapping, Optional, Tuple

import numpy as np

from ax_bus.errors import ServoError
from shellbot_control import JointLimits, Level, Notice, clamp_targets
from shellbot_motor_driver.driving.driver_state import DriverState
from shellbot_motor_driver.driving.start_report import Answer, StartReport
from shellbot_motor_driver.errors import BusProcessError
from shellbot_motor_driver.map.compliance import Compliance
from shellbot_motor_driver.map.joint_limits import joint_limits
from shellbot_motor_driver.map.servo_map import ServoMap
from shellbot_motor_driver.process.bus_child import BusChild
from shellbot_motor_driver.process.bus_settings import BusSettings
from shellbot_motor_driver.process.stop_latch import StopLatch
from shellbot_motor_driver.safety.ladder import Phase, Reaction, Rung

Array = np.ndarray
_RETRY = 1.0  # s between two tries to start a bus process again
_START = 20.0  # s that a start may take


class BusProcess:
    """The methods of `MotorDriver` for another process.

    `set_targets`, `state`, `tick`, `poll` and `emergency_stop` never wait for a request or a start that another thread
    has under way; requests wait for each other. Call `poll` regularly (the node does, at its own rate): it notices a
    dead bus process and restarts it.

    Parameters
    ----------
    settings : BusSettings
        What to run.
    """

    def __init__(self, settings: BusSettings) -> None:
        self.settings = settings
        self._map = ServoMap.load(settings.variant, Path(settings.servo_map) if settings.servo_map else None)
        self._limits = joint_limits(self._map)
        self._child: Optional[BusChild] = None
        self._requests = threading.RLock()  # held while the process is asked, started, ended
        self._targets_lock = threading.Lock()  # these two for a moment only
        self._state_lock = threading.Lock()
        self._stop = StopLatch()
        self._restarts = 0
        self._is_wanted = False
        self._retry_at = 0.0
        self._last: Optional[DriverState] = None
        self._waiting = 0
        self._said: Deque[Notice] = deque(maxlen=100)

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
        child = self._child
        return child.pid if child is not None else None

    @property
    def restarts(self) -> int:
        """How often it had to be started again."""
        return self._restarts

    def start(self, timeout: float = _START) -> StartReport:
        """Start the process, open the port, run `MotorDriver.start`.

        An `emergency_stop` meanwhile breaks into it: torque is off at once, and stays off after the start.

        Raises
        ------
        PortError
            Port missing, in use, not permitted.
        StartError
            As `MotorDriver.start`.
        BusProcessError
            If the process ends or does not answer in ``timeout`` s.
        """
        with self._requests:
            if self.pid is not None:
                raise BusProcessError("the bus process runs already; shut it down first")
            try:
                report = self._launch(timeout).wait()
            except BaseException:
                self._drop()
                raise
            self._is_wanted = True
            return report

    def poll(self) -> bool:
        """Notice death, restart if allowed; return whether the bus process lives. Never blocks for long."""
        if not self._requests.acquire(blocking=False):
            child = self._child  # another thread has to do with it, and notices its death
            return self._is_wanted and child is not None and child.is_up
        try:
            return self._is_wanted and self._keep_alive()
        finally:
            self._requests.release()

    def _keep_alive(self) -> bool:
        child = self._child
        if child is not None and not child.is_started:
            self._continue_start(child)
        elif child is not None and child.pid is None:
            self._say(Level.ERROR, f"the bus process died ({child.how_it_ended}); the servos hold their last goals")
            self._drop()
            self._retry_at = time.monotonic()
        if self._child is None and self.settings.restart and time.monotonic() >= self._retry_at:
            self._restarts += 1
            self._say(Level.WARN, "starting the bus process again, into hold; re-arm to go on")
            try:
                self._launch(_START)
            except BusProcessError as error:
                self._say(Level.ERROR, f"{error}; trying again in {_RETRY:g} s")
                self._retry_at = time.monotonic() + _RETRY
        return self._child is not None and self._child.is_up

    def set_targets(self, targets: Array) -> None:
        """Give new targets, (n_joints,) rad; the bus process takes the latest at its next tick. From any thread.

        Raises
        ------
        shellbot_control.TargetsError
            If the shape is wrong or a value is not finite; the driver then holds as if none had come.
        """
        clamp_targets(targets, self._limits)  # refuses nonsense; the driver judges the rest
        self._put_targets(np.asarray(targets, dtype=np.float64))

    def _put_targets(self, targets: Optional[Array]) -> None:
        with self._targets_lock:
            if self._child is not None:
                self._child.shared.put_targets(time.monotonic(), targets)

    def tick(self, targets: Optional[Array] = None) -> None:
        """Do `set_targets` and `poll`: programs of `MotorDriver` run unchanged."""
        if targets is not None:
            self.set_targets(targets)
        self.poll()

    def state(self) -> DriverState:
        """Return the latest state; its ``stamp`` shows its age against ``time.monotonic()``. From any thread.

        Raises
        ------
        BusProcessError
            Before `start`.
        """
        with self._state_lock:
            child = self._child
            found = child.shared.state() if child is not None and child.is_started else None
            if found is not None:
                self._last, self._waiting = found
            last = self._last
        if last is None:
            raise BusProcessError("there is no state yet; start the bus process first")
        if child is not None and child.is_up:
            return last
        text = "the bus process is not running; the servos hold their last goals"
        rung = Rung("bus_process", Reaction.HOLD, last.stamp, True, text)
        ladder = replace(
            last.ladder, phase=Phase.BUS_DOWN, reaction=max(Reaction.HOLD, last.ladder.reaction),
            rungs=(rung, *last.ladder.rungs), needs_rearm=True, text=text,
        )  # fmt: skip
        return replace(last, ladder=ladder, is_measured=np.zeros_like(last.is_measured))

    def events(self) -> Tuple[Notice, ...]:
        """Return what happened since the last call."""
        said: List[Notice] = []
        with contextlib.suppress(IndexError):
            while True:
                said.append(self._said.popleft())
        if self._waiting:
            with contextlib.suppress(BusProcessError):
                said.extend(self._call("events"))
                self._waiting = 0
        return tuple(said)

    def hold(self) -> Array:
        """As `MotorDriver.hold`."""
        self._put_targets(None)
        return np.asarray(self._call("hold"))

    def torque(self, on: bool) -> Answer:
        """As `MotorDriver.torque`."""
        count = self._stop.count
        answer = self._ask("torque", on)
        if answer or not on:
            self._stop.torque_switched(on, count)
        return answer

    def emergency_stop(self, cause: str = "emergency stop") -> None:
        """As `MotorDriver.emergency_stop`; from any thread.

        A number of its own in the shared memory, which the bus loop looks at in each tick, and the driver's start
        before each question to a servo: no request delays it.
        """
        self._stop.stop()
        self._say(Level.WARN, f"emergency stop asked for ({cause})")

    def rearm(self) -> Answer:
        """As `MotorDriver.rearm`; a process that was started without torque, because of a stop, gets it now.

        A stop that comes while this is under way stays in force.
        """
        count, was_stopped = self._stop.count, self._stop.is_stopped
        answer = self._ask("rearm", count)
        if answer and was_stopped and self._stop.is_limp:
            answer = self._ask("torque", True)
        if answer:
            self._stop.rearmed(count, was_stopped)
        return answer

    def set_compliance(self, table: Mapping[str, Compliance]) -> Answer:
        """As `MotorDriver.set_compliance`."""
        return self._ask("set_compliance", dict(table))

    def drive_fan(self, velocity: float) -> Answer:
        """As `MotorDriver.drive_fan`."""
        return self._ask("drive_fan", velocity)

    def shutdown(self, torque_off: bool = True, timeout: float = 5.0) -> None:
        """End the process: stop burst, torque off (or holding on), port closed."""
        with self._requests:
            self._is_wanted = False
            child = self._child
            if child is None:
                return
            with contextlib.suppress(ServoError):
                if child.is_started:
                    child.call("shutdown", torque_off)
            child.terminate_after(timeout if child.is_started else 0.0)
            self._drop()

    def __enter__(self) -> BusProcess:
        """Start it."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Shut it down."""
        self.shutdown()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _launch(self, timeout: float) -> BusChild:
        try:
            self._child = child = BusChild(self.settings, self._map)
            stops, over, is_limp = self._stop.attach(child.shared)  # who takes a stopped one's place is stopped, too
            child.launch(stops, over, is_limp, timeout)
        except OSError as error:  # no more processes, files or memory
            self._drop()
            raise BusProcessError(f"no bus process can be launched ({error}); end other programs") from error
        return child

    def _continue_start(self, child: BusChild) -> None:
        try:
            report = child.started()
            if report is not None:
                self._say(Level.WARN, f"the bus process runs again. {report.text}")
        except ServoError as error:
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
        with self._requests:
            if self._child is None:
                raise BusProcessError("the bus process is not running; it is started again by itself, then try again")
            return self._child.call(name, *arguments)

    def _drop(self) -> None:
        """Forget the process; it ends by itself, or is ended if it hangs."""
        child, self._child = self._child, None
        self._stop.detach()
        if child is not None:
            child.end(0.0 if self._is_wanted else 2.0)

    def _say(self, level: Level, text: str) -> None:
        self._said.append(Notice("bus_process", level, text))


__all__ = ["BusProcess", "BusSettings"]
