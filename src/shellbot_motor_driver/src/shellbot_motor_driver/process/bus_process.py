# SPDX-License-Identifier: MIT
"""The bus loop in its own process, which is started again when it dies: the methods of `MotorDriver` from outside."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Any, Callable, List, Mapping, Optional, Tuple

import numpy as np

from shellbot_common import Level, Notice
from shellbot_control import JointLimits, clamp_targets
from shellbot_motor_driver.driving.driver_state import DriverState
from shellbot_motor_driver.driving.start_report import Answer, StartReport
from shellbot_motor_driver.errors import BusProcessError
from shellbot_motor_driver.map.compliance import Compliance
from shellbot_motor_driver.process.bus_child import CALL_S
from shellbot_motor_driver.process.bus_settings import BusSettings
from shellbot_motor_driver.process.keeper import START_S, Keeper
from shellbot_motor_driver.process.state_age import checked_state
from shellbot_motor_driver.process.torque_off import CONFIRM_S, TorqueOffStatus

Array = np.ndarray
_LOOK_S = 0.01  # s between two looks while waiting


class BusProcess:
    """The methods of `MotorDriver` for another process.

    `set_targets`, `state`, `tick`, `poll`, `emergency_stop` and `torque_off_status` never wait for a request or a start
    that another thread has under way; requests wait for each other. Call `poll` regularly, at least every 0.1 s (the
    node does): it notices a bus process that died or hangs and replaces it, and sees to it that torque goes off.

    Parameters
    ----------
    settings : BusSettings
        What to run.
    """

    def __init__(self, settings: BusSettings) -> None:
        self.settings = settings
        self._map = settings.load_map()
        self._limits = self._map.robot.limits
        self._keeper = Keeper(settings, self._map)
        self._targets_lock = threading.Lock()  # these two for a moment only
        self._state_lock = threading.Lock()
        self._last: Optional[DriverState] = None
        self._waiting = 0

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
        child = self._keeper.child
        return child.pid if child is not None else None

    @property
    def restarts(self) -> int:
        """How often it had to be started again."""
        return self._keeper.restarts

    def start(self, timeout: float = START_S, give_up: Callable[[], bool] = lambda: False) -> StartReport:
        """Start the process, open the port, run `MotorDriver.start`.

        An `emergency_stop` or ``torque(False)`` before or meanwhile stays in force: torque is off before anything else.

        Parameters
        ----------
        timeout : float
            s that it may take.
        give_up : callable, optional
            Looked at all the time; once it is true the start is left alone, for `shutdown` to end it.

        Raises
        ------
        PortError
            Port missing, in use, not permitted.
        StartError
            As `MotorDriver.start`.
        BusProcessError
            If the process ends, hangs, or does not answer in ``timeout`` s, or the start was given up.
        """
        with self._keeper.lock:
            if self.pid is not None:
                raise BusProcessError("the bus process runs already; shut it down first")
            return self._keeper.start(timeout, give_up)

    def poll(self) -> bool:
        """Notice death, hanging and disobeyed orders, restart if allowed; return whether the bus process lives.

        Never blocks for long: where torque has to be switched off from here, for about half a second.
        """
        keeper = self._keeper
        keeper.look()
        if not keeper.lock.acquire(blocking=False):
            child = keeper.child  # another thread has to do with it, and notices its death
            return keeper.is_requested and child is not None and child.is_up
        try:
            return keeper.keep() and keeper.is_requested
        finally:
            keeper.lock.release()

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
            child = self._keeper.child
            if child is not None:
                child.shared.put_targets(time.monotonic(), targets)

    def tick(self, targets: Optional[Array] = None) -> None:
        """Do `set_targets` and `poll`: programs of `MotorDriver` run unchanged."""
        if targets is not None:
            self.set_targets(targets)
        self.poll()

    def state(self) -> DriverState:
        """Return the latest state; its ``stamp`` shows its age against ``time.monotonic()``. From any thread.

        An old state, and one of a robot whose torque may be on against an order, says so; see `checked_state`.

        Raises
        ------
        BusProcessError
            Before `start`.
        """
        with self._state_lock:
            child = self._keeper.child
            found = child.shared.state() if child is not None and child.is_started else None
            if found is not None:
                self._last, self._waiting = found
            last = self._last
        if last is None:
            raise BusProcessError("there is no state yet; start the bus process first")
        now = time.monotonic()
        is_up = child is not None and child.is_up and not child.why_killed
        return checked_state(last, now, is_up, self._keeper.status(now))

    def torque_off_status(self, now: float) -> TorqueOffStatus:
        """Return whether torque that was requested to be off is off, read back from every servo. From any thread.

        Parameters
        ----------
        now : float
            CLOCK_MONOTONIC, s.
        """
        return self._keeper.status(now)

    def confirm_off(self, timeout: float = CONFIRM_S) -> TorqueOffStatus:
        """Wait until torque off is confirmed, at most ``timeout`` s; see to it meanwhile as `poll` does."""
        deadline = time.monotonic() + timeout
        while True:
            self.poll()
            now = time.monotonic()
            status = self._keeper.status(now)
            if status.confirmed or not status.is_requested or now >= deadline:
                return status
            time.sleep(_LOOK_S)

    def events(self) -> Tuple[Notice, ...]:
        """Return what happened since the last call."""
        gathered: List[Notice] = []
        with contextlib.suppress(IndexError):
            while True:
                gathered.append(self._keeper.notices.popleft())
        if self._waiting:
            with contextlib.suppress(BusProcessError):
                gathered.extend(self._call("events"))
                self._waiting = 0
        return tuple(gathered)

    def hold(self) -> Array:
        """As `MotorDriver.hold`."""
        self._put_targets(None)
        return np.asarray(self._call("hold"))

    def torque(self, on: bool) -> Answer:
        """As `MotorDriver.torque`. Off: remembered whatever becomes of the bus process, until torque is switched on.

        Torque off passes through the shared memory as `emergency_stop` does; it is accepted once every servo has
        confirmed it, which takes about 0.05 s, or refused in words after 0.5 s, and remains in force.
        """
        latch = self._keeper.latch
        if not on:
            latch.switch_off(time.monotonic())
            status = self.confirm_off()
            return Answer(status.confirmed, status.text)
        known = latch.orders
        answer = self._ask("torque_on", known)
        if answer:
            latch.switched_on(known)
        return answer

    def emergency_stop(self, cause: str = "emergency stop") -> None:
        """As `MotorDriver.emergency_stop`; from any thread.

        A number of its own in the shared memory, which the bus loop looks at in each tick, and the driver's start
        before each question to a servo: no request delays it. `confirm_off` waits for what became of it.
        """
        self._keeper.latch.stop(time.monotonic())
        self._keeper.say(Level.WARN, f"emergency stop requested ({cause})")

    def rearm(self) -> Answer:
        """As `MotorDriver.rearm`. A stop that comes while this is under way stays in force."""
        keeper = self._keeper
        known = keeper.latch.orders
        if keeper.is_requested:
            answer = self._ask("rearm", known)
        else:
            answer = Answer(True, "no bus process is running; the next start begins without a stop")
        if answer:
            keeper.latch.rearmed(known)
        return answer

    def set_compliance(self, table: Mapping[str, Compliance]) -> Answer:
        """As `MotorDriver.set_compliance`."""
        return self._ask("set_compliance", dict(table))

    def drive_fan(self, velocity: float) -> Answer:
        """As `MotorDriver.drive_fan`."""
        return self._ask("drive_fan", velocity)

    def shutdown(
        self,
        torque_off: bool = True,
        timeout: float = 1.0,
        sit: float = 0.0,
        is_urgent: Callable[[], bool] = lambda: False,
    ) -> TorqueOffStatus:
        """End the process: stop burst, torque off (or holding on), port closed. Ends within ``sit`` + 2 ``timeout`` s.

        The orders pass through the shared memory, and the bus process carries them out by itself. If it hangs it is
        killed and torque goes off from here.

        Parameters
        ----------
        torque_off : bool
            False leaves the servos holding.
        timeout : float
            s for the bus process to end, once it has sat down; then as much for switching torque off from here.
        sit : float
            s for sitting down before the torque goes off; 0: off at once.
        is_urgent : callable, optional
            Looked at while it sits down; once it is true torque goes off at once.

        Returns
        -------
        TorqueOffStatus
            Whether every servo has confirmed that its torque is off; nothing is requested if no driver ever ran.
        """
        keeper = self._keeper
        with keeper.lock:
            return keeper.end(torque_off, timeout, sit, is_urgent)

    def __enter__(self) -> BusProcess:
        """Start it."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Shut it down."""
        self.shutdown()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _ask(self, name: str, *arguments: Any) -> Answer:
        try:
            answer = self._call(name, *arguments)
        except BusProcessError as error:
            return Answer(False, str(error))
        return answer

    def _call(self, name: str, *arguments: Any) -> Any:
        keeper = self._keeper
        with keeper.lock:
            child = keeper.child
            if child is None:
                raise BusProcessError("the bus process is not running; it restarts by itself, then try again")
            child.ask(name, *arguments)
            deadline = time.monotonic() + CALL_S
            while True:
                answer = child.answer(_LOOK_S)
                if answer is not None:
                    return answer[0]
                keeper.look()
                if time.monotonic() >= deadline:
                    child.kill(f"no answer in {CALL_S:g} s")  # its late answer could not be distinguished from the next
                    raise BusProcessError(f"the bus process did not answer in {CALL_S:g} s; it is started again")


__all__ = ["BusProcess", "BusSettings", "TorqueOffStatus"]
