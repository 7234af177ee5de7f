# SPDX-License-Identifier: MIT
"""Keep one bus process alive: replace one that died or hangs, and switch torque off here where none obeys."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from typing import Callable, Deque, Optional

from ax_bus.errors import ServoError
from shellbot_common import Level, Notice
from shellbot_motor_driver.driving.start_report import StartReport
from shellbot_motor_driver.errors import BusProcessError
from shellbot_motor_driver.map.servo_map import ServoMap
from shellbot_motor_driver.process.bus_child import BusChild
from shellbot_motor_driver.process.bus_settings import BusSettings
from shellbot_motor_driver.process.orders import Ending
from shellbot_motor_driver.process.rescue import rescue
from shellbot_motor_driver.process.stop_latch import StopLatch
from shellbot_motor_driver.process.torque_off import TorqueOffStatus, TorqueOffWatch

START_S = 20.0  # that a start may take
_RETRY_S = 1.0  # between two tries to start a bus process again
_PAUSES_S = (0.2, 2.0)  # between two tries to switch torque off in this process: the first, the longest
_DEATH_S = 0.05  # s for the death of a killed process; one that waits in the kernel takes longer
_LOOK_S = 0.02  # between two looks while waiting


class Keeper:
    """A bus process and its successors. Only `look` may be called without holding `lock`.

    Parameters
    ----------
    settings : BusSettings
        What to run.
    servo_map : ServoMap
        Who is on the bus.

    Attributes
    ----------
    lock : threading.RLock
        Held while the process is called, started, replaced, ended.
    latch : StopLatch
        The orders in force.
    child : BusChild or None
        The process of the moment. While there is one, this process does not touch the port.
    restarts : int
        How often it had to be started again.
    notices : deque of Notice
        What happened.
    """

    def __init__(self, settings: BusSettings, servo_map: ServoMap) -> None:
        self._settings, self._map = settings, servo_map
        self.lock = threading.RLock()
        self.latch = StopLatch()
        self.child: Optional[BusChild] = None
        self.restarts = 0
        self.notices: Deque[Notice] = deque(maxlen=100)
        self.is_requested = False
        self._may_hold = False  # servos, because of a process of ours
        self._undead: Optional[BusChild] = None
        self._looking = threading.Lock()  # held for microseconds
        self._off = TorqueOffWatch(servo_map)
        self._retry_at = 0.0
        self._rescued_for = -math.inf  # the request for which torque was switched off here last
        self._rescue_at, self._pause = 0.0, _PAUSES_S[0]

    # -- from any thread ---------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Take the process's pulse; kill it if it hangs, or does not obey. Does not block."""
        with self._looking:
            now, child, requested_at = time.monotonic(), self.child, self.latch.requested_at
            if child is not None:
                self._off.learn(child.take_pulse().read_back)
                if child.pid is not None and not child.why_killed:
                    # A successor that still starts is let live: torque is off, or was switched off from here as well.
                    is_done = self._rescued_for >= requested_at or self._off.is_confirmed(requested_at)
                    why = child.judge(now, self.latch.orders, not is_done)
                    if why:
                        child.kill(why)
            notice = self._off.report(requested_at, now)
        if notice is not None:
            self.notices.append(notice)

    def status(self, now: float) -> TorqueOffStatus:
        """Return whether torque that was requested to be off is off."""
        return self._off.status(self.latch.requested_at, now)

    def say(self, level: Level, text: str) -> None:
        """Note what happened."""
        self.notices.append(Notice("bus_process", level, text))

    # -- with the lock held ------------------------------------------------------------------------------------------

    def start(self, timeout: float, give_up: Callable[[], bool]) -> StartReport:
        """Launch a process and wait for its driver's start. See `BusProcess.start`."""
        self.latch.begin()
        deadline = time.monotonic() + timeout
        while True:
            child = self.launch(max(deadline - time.monotonic(), 0.0))
            try:
                report = self._wait_for_start(child, give_up)
            except BaseException:
                is_new_try = bool(child.why_killed) and self.latch.is_limp and time.monotonic() < deadline
                self.drop()
                self.rescue()
                if not is_new_try:
                    raise
                continue
            self.is_requested = True
            if report is None:
                raise BusProcessError("the start was given up; shut the bus process down")
            return report

    def _wait_for_start(self, child: BusChild, give_up: Callable[[], bool]) -> Optional[StartReport]:
        while not give_up():
            report = child.started(_LOOK_S)
            if report is not None:
                return report
            self.look()
        return None

    def launch(self, timeout: float) -> BusChild:
        """Launch a process; it takes the orders in force along.

        Raises
        ------
        BusProcessError
            If the machine has no room for one.
        """
        try:
            self.child = child = BusChild(self._settings, self._map)
            child.launch(self.latch.attach(child.shared), timeout)
        except OSError as error:  # no more processes, files or memory
            self.drop()
            raise BusProcessError(f"no bus process can be launched ({error}); end other programs") from error
        return child

    def keep(self) -> bool:
        """Replace a process that died or was killed; return whether one is up. Never blocks for long."""
        self.look()
        child = self.child
        if child is not None and not self._is_gone(child) and not child.is_started and not child.why_killed:
            self._continue_start(child)
        if self.child is None:
            self.rescue()
            if self.is_requested and self._settings.restart and time.monotonic() >= self._retry_at:
                self._launch_again()
        return self.child is not None and self.child.is_up and not self.child.why_killed

    def _is_gone(self, child: BusChild) -> bool:
        """Return whether the process has ended, and forget it then."""
        if child.why_killed and not child.wait(_DEATH_S):
            if self._undead is not child:
                self._undead = child
                text = f"the bus process was killed ({child.why_killed}), but is stuck in the kernel with the port"
                self.say(Level.ERROR, f"{text}; re-plug the adapter, or switch the servos' power off")
            return False
        if child.pid is not None or not (child.is_started or child.why_killed):
            return False  # what went wrong in a start is for `_continue_start` to hear
        left = "torque goes off" if self.latch.is_limp else "the servos hold their last goals"
        self.say(Level.ERROR, f"the bus process died ({child.how_it_ended}); {left}")
        self.drop()
        self._retry_at = time.monotonic()
        return True

    def _launch_again(self) -> None:
        self.restarts += 1
        how = "limp" if self.latch.is_limp else "into hold; rearm to resume"
        self.say(Level.WARN, f"starting the bus process again, {how}")
        try:
            self.launch(START_S)
        except BusProcessError as error:
            self.say(Level.ERROR, f"{error}; trying again in {_RETRY_S:g} s")
            self._retry_at = time.monotonic() + _RETRY_S

    def _continue_start(self, child: BusChild) -> None:
        try:
            report = child.started()
            if report is not None:
                self.say(Level.WARN, f"the bus process runs again. {report.text}")
        except ServoError as error:
            self.say(Level.ERROR, f"{error}; trying again in {_RETRY_S:g} s")
            self.drop()
            self._retry_at = time.monotonic() + _RETRY_S

    def drop(self, patience: float = 0.0) -> None:
        """Forget the process; it ends by itself within ``patience`` s, or is made to."""
        child = self.child
        self.latch.detach()
        if child is not None:
            child.end(patience)
            with self._looking:
                self.child = None
                self._off.learn(child.take_pulse().read_back)
                self._may_hold = self._may_hold or child.may_have_left_torque

    def rescue(self) -> None:
        """Switch torque off in this process, if that is requested, not confirmed, and no bus process is there."""
        requested_at, now = self.latch.requested_at, time.monotonic()
        if self.child is not None or requested_at != requested_at or self._off.is_confirmed(requested_at):
            return
        if self._rescued_for != requested_at:
            self._rescue_at, self._pause = now, _PAUSES_S[0]
        if now < self._rescue_at:
            return
        found = rescue(self._settings, self._map.servo_ids)
        with self._looking:
            self._rescued_for = requested_at
            self._off.trouble = found.trouble
            self._off.learn(found.stamps)
        self._rescue_at = time.monotonic() + self._pause
        self._pause = min(2.0 * self._pause, _PAUSES_S[1])

    def end(self, torque_off: bool, patience: float, sit: float, is_urgent: Callable[[], bool]) -> TorqueOffStatus:
        """End the process for good. See `BusProcess.shutdown`."""
        self.is_requested = False
        child, latch, began = self.child, self.latch, time.monotonic()
        if child is not None and sit > 0.0 and torque_off:
            latch.end(Ending.SIT, began)
            while time.monotonic() < began + sit and not is_urgent() and self._is_alive(child):
                child.wait(_LOOK_S)
        now = time.monotonic()
        # who has sat down and ended has read torque back already
        latch.end(Ending.OFF if torque_off else Ending.HOLD, began if self._off.is_confirmed(began) else now)
        deadline = now + patience
        while child is not None and time.monotonic() < deadline and self._is_alive(child):
            child.wait(_LOOK_S)
        if child is not None and child.why_killed:
            self.say(Level.ERROR, f"the bus process had to be killed at the end ({child.why_killed})")
        self.drop()
        if not torque_off or not (self._may_hold or latch.orders.is_stopped or latch.orders.is_switched_off):
            return TorqueOffStatus()
        while not self._off.is_confirmed(latch.requested_at) and time.monotonic() < deadline + patience:
            self.rescue()
            time.sleep(_LOOK_S)
        status = self._off.status(latch.requested_at, math.inf)  # what is not confirmed now never will be
        self._may_hold = not status.confirmed
        self.notices.append(Notice("torque_off", Level.INFO if status.confirmed else Level.ERROR, status.text))
        return status

    def _is_alive(self, child: BusChild) -> bool:
        self.look()
        return child.pid is not None and not child.why_killed
