# SPDX-License-Identifier: MIT
"""The bus process: owns port and driver, ticks by its own clock, and nothing else. Started by `BusProcess`."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import time
from multiprocessing.connection import Connection
from typing import Any, Callable, List, Optional

import numpy as np

from ax_bus.bus import Bus
from ax_bus.errors import PortError, ServoError
from ax_bus.serial_port import SerialPort
from shellbot_common import Level, Notice
from shellbot_motor_driver.driving.motor_driver import MotorDriver
from shellbot_motor_driver.driving.servo_table import Row
from shellbot_motor_driver.driving.start_report import Answer, StartReport
from shellbot_motor_driver.errors import MotorDriverError
from shellbot_motor_driver.process.bus_settings import BusSettings
from shellbot_motor_driver.process.hand_over import Door, request_port
from shellbot_motor_driver.process.orders import Ending, Orders, Pulse, newest
from shellbot_motor_driver.process.rescue import open_port, order_off, switch_off, timeouts
from shellbot_motor_driver.process.shared_state import SharedState
from shellbot_motor_driver.safety.ladder import Phase

Array = np.ndarray
_WAIT_FOR_HAND_OVER = 3.0  # s
_HISTOGRAM_TICKS = 10
_READ_BACK_AGAIN = 0.5  # s between two tries to have torque off confirmed
_BEAT_S = 0.02  # s between two signs of life within a tick or a start
_LONGEST_SIT = 10.0  # s of the way to the pose "sit", should the parent not end it before
CALLS = ("hold", "set_compliance", "drive_fan")


class _Ended(Exception):  # noqa: N818, no error
    """The process was requested to end while the driver started."""


class _BeatingPort(SerialPort):
    """A port that shows with everything it sends that its owner is alive, in a long start and in a long tick, too."""

    beat: Callable[[], None]

    def write(self, data: bytes) -> None:
        """Send all of ``data``."""
        self.beat()
        super().write(data)


class Worker:
    """The loop.

    Parameters
    ----------
    connection : multiprocessing.connection.Connection
        To the parent; its end is the parent's end.
    memory : int
        File descriptor of the shared memory; the orders in it are in force from the beginning.
    """

    def __init__(self, connection: Connection, memory: int) -> None:
        self._connection = connection
        self._settings: BusSettings = connection.recv()
        settings = self._settings
        self._map = settings.load_map()
        self._shared = SharedState(memory, self._map, settings.config.servo.stale_after)
        self._notices: List[Notice] = []
        self._door = Door(settings.port)
        self._is_orphan = self._is_exit_requested = self._is_switching_off = False
        self._orders = self._shared.orders() or Orders()
        self._stops, self._offs = self._orders.stops_over, self._orders.offs_over  # what the driver has obeyed
        self._pulse = Pulse(0.0, self._stops, self._offs, False, np.zeros(len(self._map.entries)))
        self._has_port = False
        self._sit_until = np.inf
        self._limp_since, self._read_back_at = time.monotonic(), 0.0
        self._seen = 0
        self._port: Optional[_BeatingPort] = None
        self._beat()

    def run(self) -> None:
        """Start the driver, report to the parent, tick until the end."""
        try:
            self._port = port = self._open()
            driver = MotorDriver(
                Bus(port, timeouts(self._settings)), self._map, self._settings.config, time.process_time
            )
            report = self._start(driver)
        except _Ended:
            return
        except ServoError as error:
            self._send("failed", error)
            return
        self._take_place()
        gc.collect()
        gc.freeze()
        gc.disable()  # a collection of 800,000 objects was seen to take 90 ms
        self._shared.publish(driver, 0, True)
        self._send("started", report)
        signal.signal(signal.SIGTERM, self._on_terminate)
        try:
            self._loop(driver)
        finally:
            # Whatever happened: the fan stops; joints hold, unless torque was to be off.
            driver.shutdown(torque_off=self._orders.requires_off)
            port.close()

    def _start(self, driver: MotorDriver) -> StartReport:
        """Start the driver; where torque is to be off it goes off first, whatever the driver finds."""
        bus = driver.bus
        if self._orders.requires_off:
            self._switch_off(bus)
        # Settings that were sent before the order still want torque: then it breaks into the start.
        if self._orders.is_switched_off and not self._settings.config.start.torque:
            self._offs = self._orders.offs
        report = driver.start(lambda: self._is_broken_off(bus))
        if self._look().is_switched_off:
            driver.torque(False)
            if not self._orders.is_stopped:
                driver.rearm()  # what broke into the start was no emergency stop
        return report

    def _is_broken_off(self, bus: Bus) -> bool:
        """Obey the orders before each instruction of the driver's start; return whether it must restart, limp."""
        if self._is_switching_off:
            return False
        orders = self._look()
        if orders.ending:
            if orders.ending != Ending.HOLD:
                self._switch_off(bus)
            raise _Ended
        if orders.stops <= self._stops and orders.offs <= self._offs:
            return False
        if not self._pulse.has_obeyed(orders):
            self._switch_off(bus)
        self._stops, self._offs = orders.stops, orders.offs
        return True

    def _switch_off(self, bus: Bus) -> None:
        """Switch everything off without the driver, and read it back."""
        orders, self._is_switching_off = self._orders, True

        with contextlib.suppress(PortError):
            order_off(bus, self._map.servo_ids)
        self._show(orders.stops, orders.offs, self._pulse.read_back)  # obeyed; reading back takes longer
        found = switch_off(bus, self._map.servo_ids)
        self._is_switching_off = False
        self._show(orders.stops, orders.offs, found.stamps)

    def _look(self) -> Orders:
        """Return the orders of now."""
        self._orders = self._shared.orders() or self._orders
        return self._orders

    def _beat(self) -> None:
        """Show that the process is alive, now and then."""
        if time.monotonic() - self._pulse.beat > _BEAT_S:
            self._show(self._pulse.stops, self._pulse.offs, self._pulse.read_back)

    def _show(self, stops: int, offs: int, read_back: Array) -> None:
        """Show a pulse: which orders are obeyed, and the torque as last read back."""
        self._pulse = Pulse(time.monotonic(), stops, offs, self._has_port, newest(self._pulse.read_back, read_back))
        self._shared.put_pulse(self._pulse)

    def _open(self) -> _BeatingPort:
        """Open the port; a bus process whose parent died releases it on request."""
        deadline = time.monotonic() + _WAIT_FOR_HAND_OVER
        while True:
            self._beat()
            try:
                port = open_port(self._settings, _BeatingPort)
            except PortError as error:
                is_requested = "in use" in str(error) and request_port(self._settings.port)
                if not is_requested or time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
            else:
                port.beat, self._has_port = self._beat, True
                return port

    def _take_place(self) -> None:
        """Take the requested priority and core, or report why not."""
        settings = self._settings
        if settings.priority:
            try:
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(settings.priority))
            except (OSError, ValueError) as error:
                self._send_notice(
                    f"real-time priority {settings.priority} is not permitted ({error}), the loop has normal priority: "
                    "add '@dialout - rtprio 50' to /etc/security/limits.conf, or LimitRTPRIO=50 to the systemd unit"
                )
        if settings.cpu >= 0:
            try:
                os.sched_setaffinity(0, {settings.cpu})
            except (OSError, ValueError) as error:
                self._send_notice(
                    f"core {settings.cpu} cannot be taken ({error}); the loop runs on any of {os.cpu_count()}"
                )

    def _send_notice(self, text: str) -> None:
        self._notices.append(Notice("bus_process", Level.WARN, text))

    def _on_terminate(self, *_: object) -> None:
        self._is_exit_requested = True

    def _loop(self, driver: MotorDriver) -> None:
        count = 0
        while True:
            due = driver.next_tick
            wait = due - time.monotonic()
            if wait > 0.0:
                time.sleep(wait)
            self._obey(driver)
            given = self._shared.targets()
            if given is not None and given[0] != self._seen and not self._is_orphan:
                self._seen = given[0]
                driver.tick(given[2] if given[1] > 0.0 else None, given[1], due)
            else:
                driver.tick(None, None, due)
            self._notices.extend(driver.events())
            del self._notices[:-200]
            count += 1
            table = self._shared.publish(driver, len(self._notices), count % _HISTOGRAM_TICKS == 0).table
            enabled, stamps = table[Row.TORQUE_ENABLED], table[Row.SETTINGS_STAMP]
            reported = np.where(np.isfinite(stamps), np.where(enabled == 0.0, stamps, -stamps), 0.0)
            self._show(self._stops, self._offs, reported)
            if not self._is_orphan and self._connection.poll():
                self._serve(driver)
            if self._is_over(driver):
                return
            if count % _HISTOGRAM_TICKS == 0 and self._door.is_requested() and self._is_orphan:
                return

    def _obey(self, driver: MotorDriver) -> None:
        """Do what takes torque away, before anything else, and read it back until every servo has confirmed it."""
        orders, now = self._look(), time.monotonic()
        is_new = orders.stops > self._stops or orders.offs > self._offs
        if orders.stops > self._stops:
            driver.emergency_stop("operator")
        if orders.offs > self._offs:
            driver.torque(False)
        if is_new:
            self._limp_since, self._read_back_at = now, now
        is_due = now >= self._read_back_at and driver.phase is Phase.OFF and orders.requires_off
        if is_due and not (self._pulse.read_back > self._limp_since).all():
            self._switch_off(driver.bus)
            self._read_back_at = time.monotonic() + _READ_BACK_AGAIN
        if orders.ending == Ending.SIT and self._sit_until == np.inf:
            self._sit_until = time.monotonic() + _LONGEST_SIT
            driver.sit_and_off("the driver is ending: it sits down, then torque goes off")
        self._stops, self._offs = orders.stops, orders.offs

    def _is_over(self, driver: MotorDriver) -> bool:
        """Return whether the process ends now; torque is off then, if it is to be."""
        ending, phase = self._orders.ending, driver.phase
        has_sat = phase in (Phase.OFF, Phase.BUS_DOWN) or time.monotonic() > self._sit_until
        if (
            ending == Ending.OFF
            or (ending == Ending.SIT and has_sat)
            # The parent is dead: the ladder has let the robot sit, then switched it off.
            or (self._is_orphan and (phase is Phase.OFF or self._is_exit_requested))
        ):
            self._switch_off(driver.bus)
            driver.shutdown(torque_off=True)
            return True
        return self._is_exit_requested or ending == Ending.HOLD

    def _serve(self, driver: MotorDriver) -> None:
        """Answer one request of the parent."""
        try:
            name, arguments = self._connection.recv()
        except (EOFError, OSError):
            # The parent is dead: the ladder's time-outs hold, sit and switch off.
            self._is_orphan = True
            driver.expect_targets()
            return
        answer: Any
        try:
            if name == "events":
                answer, self._notices = tuple(self._notices), []
            elif self._look().ending:
                answer = Answer(False, "the bus process is about to end")
            elif name in ("rearm", "torque_on"):
                answer = self._give_torque(driver, name, *arguments)
            elif name in CALLS:
                answer = getattr(driver, name)(*arguments)
            else:
                raise MotorDriverError(f"the bus process has no call {name!r}; choose from {', '.join(CALLS)}")
            self._send("done", answer)
        except Exception as error:  # the parent must hear of anything that goes wrong
            self._send("failed", error)

    def _give_torque(self, driver: MotorDriver, name: str, known: Orders) -> Answer:
        """Rearm or switch torque on, unless there were more orders than whoever requests it knew of."""
        self._obey(driver)
        if self._orders.stops > known.stops:
            return Answer(
                False, "there was another emergency stop meanwhile; make sure that the robot is free, then rearm"
            )
        if name == "rearm":
            return driver.rearm()
        if self._orders.offs > known.offs:
            return Answer(False, "torque was switched off meanwhile; switch it on again")
        return driver.torque(True)

    def _send(self, kind: str, content: Any) -> None:
        """Tell the parent; that it has died meanwhile is noticed at the next look for a request."""
        with contextlib.suppress(OSError):
            self._connection.send((kind, content))


def main() -> None:
    """Run with the descriptors of connection and shared memory as arguments."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when it ends
    connection, memory = map(int, sys.argv[1:])
    Worker(Connection(connection), memory).run()


if __name__ == "__main__":
    main()
