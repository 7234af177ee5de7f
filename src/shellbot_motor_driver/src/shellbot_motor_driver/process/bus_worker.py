# SPDX-License-Identifier: MIT
"""The bus process: owns port and driver, ticks by its own clock, and nothing else. Started by `BusProcess`."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import signal
import socket
import sys
import time
from multiprocessing.connection import Connection
from typing import Any, List, Optional

from ax_bus.bus import Bus
from ax_bus.direction import direction
from ax_bus.errors import PortError, ServoError
from ax_bus.serial_port import SerialPort
from ax_bus.wire_time import Timeouts
from shellbot_control import Level, Notice
from shellbot_motor_driver.driving.motor_driver import MotorDriver
from shellbot_motor_driver.driving.start_report import Answer
from shellbot_motor_driver.errors import MotorDriverError
from shellbot_motor_driver.map.servo_map import ServoMap
from shellbot_motor_driver.process.bus_settings import BusSettings
from shellbot_motor_driver.process.shared_state import SharedState
from shellbot_motor_driver.safety.ladder import Phase

_HAND_OVER = b"hand over"
_WAIT_FOR_HAND_OVER = 3.0  # s
_HISTOGRAM_TICKS = 10
CALLS = ("hold", "torque", "rearm", "set_compliance", "drive_fan", "emergency_stop")


class Worker:
    """The loop.

    Parameters
    ----------
    connection : multiprocessing.connection.Connection
        To the parent; its end is the parent's end.
    memory : int
        File descriptor of the shared memory.
    stops, over : int
        Emergency stops before it was launched, and how many of them are over; the settings take account of them.
    """

    def __init__(self, connection: Connection, memory: int, stops: int = 0, over: int = 0) -> None:
        self._connection, self._born_with = connection, stops
        self._settings: BusSettings = connection.recv()
        settings = self._settings
        self._map = ServoMap.load(settings.variant, settings.servo_map or None)  # type: ignore[arg-type]
        self._shared = SharedState(memory, self._map, settings.config.servo.stale_after)
        self._notices: List[Notice] = []
        self._door = _door(settings.port)
        self._is_orphan = self._is_asked_to_leave = False
        self._seen, self._stops = 0, over
        self._port: Optional[SerialPort] = None

    def run(self) -> None:
        """Start the driver, tell the parent, tick until the end."""
        try:
            self._port = port = self._open()
            timeouts = Timeouts(link_latency=self._settings.link_latency, margin=self._settings.margin)
            driver = MotorDriver(Bus(port, timeouts), self._map, self._settings.config, time.process_time)
            report = driver.start(lambda: self._shared.stops() > self._born_with)
        except ServoError as error:
            self._tell("failed", error)
            return
        self._take_place()
        self._shared.publish(driver, 0, True)
        self._tell("started", report)
        signal.signal(signal.SIGTERM, self._on_terminate)
        gc.collect()
        gc.freeze()
        gc.disable()  # a collection of 800,000 objects was seen to take 90 ms
        try:
            self._loop(driver)
        finally:
            driver.shutdown(torque_off=False)  # whatever happened: the fan stops, joints hold
            port.close()

    def _open(self) -> SerialPort:
        """Open the port; a bus process whose parent died gives it up when it is asked to."""
        settings = self._settings
        deadline = time.monotonic() + _WAIT_FOR_HAND_OVER
        while True:
            try:
                control = direction(settings.direction, **dict(settings.direction_options))
                return SerialPort(settings.port, settings.baud, control)
            except PortError as error:
                asked = "in use" in str(error) and _ask(settings.port)
                if not asked or time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def _take_place(self) -> None:
        """Take the priority and the core that were asked for, or say why not."""
        settings = self._settings
        if settings.priority:
            try:
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(settings.priority))
            except (OSError, ValueError) as error:
                self._say(
                    f"real-time priority {settings.priority} is not permitted ({error}), the loop has the normal one: "
                    "add '@dialout - rtprio 50' to /etc/security/limits.conf, or LimitRTPRIO=50 to the systemd unit"
                )
        if settings.cpu >= 0:
            try:
                os.sched_setaffinity(0, {settings.cpu})
            except (OSError, ValueError) as error:
                self._say(f"core {settings.cpu} cannot be taken ({error}); the loop runs on any of {os.cpu_count()}")

    def _say(self, text: str) -> None:
        self._notices.append(Notice("bus_process", Level.WARN, text))

    def _on_terminate(self, *_: object) -> None:
        self._is_asked_to_leave = True

    def _loop(self, driver: MotorDriver) -> None:
        count = 0
        while True:
            due = driver.next_tick
            wait = due - time.monotonic()
            if wait > 0.0:
                time.sleep(wait)
            self._obey_stops(driver)
            given = self._shared.targets()
            if given is not None and given[0] != self._seen and not self._is_orphan:
                self._seen = given[0]
                driver.tick(given[2] if given[1] > 0.0 else None, given[1], due)
            else:
                driver.tick(None, None, due)
            self._notices.extend(driver.events())
            del self._notices[:-200]
            count += 1
            self._shared.publish(driver, len(self._notices), count % _HISTOGRAM_TICKS == 0)
            if not self._is_orphan and self._connection.poll() and self._serve(driver):
                return
            if count % _HISTOGRAM_TICKS == 0 and self._is_asked():
                driver.shutdown(torque_off=False)
                return
            if self._is_asked_to_leave or (self._is_orphan and driver.phase is Phase.OFF):
                driver.shutdown(torque_off=self._is_orphan)
                return

    def _obey_stops(self, driver: MotorDriver) -> None:
        stops = self._shared.stops()
        if stops > self._stops:
            self._stops = stops
            driver.emergency_stop("operator")

    def _serve(self, driver: MotorDriver) -> bool:
        """Answer one request of the parent; return whether it was the last."""
        try:
            name, arguments = self._connection.recv()
        except (EOFError, OSError):
            # The parent is dead: the ladder's time-outs hold, sit and switch off.
            self._is_orphan = True
            driver.expect_targets()
            return False
        answer: Any
        try:
            if name == "events":
                answer, self._notices = tuple(self._notices), []
            elif name == "shutdown":
                driver.shutdown(*arguments)
                answer = None
            elif name == "rearm":
                answer = self._rearm(driver, *arguments)
            elif name in CALLS:
                answer = getattr(driver, name)(*arguments)
            else:
                raise MotorDriverError(f"the bus process knows no {name!r}; choose from {', '.join(CALLS)}")
            self._tell("done", answer)
        except Exception as error:  # the parent must hear of anything that goes wrong
            self._tell("failed", error)
        return bool(name == "shutdown")

    def _tell(self, kind: str, content: Any) -> None:
        """Tell the parent; that it has died meanwhile is noticed at the next look for a request."""
        with contextlib.suppress(OSError):
            self._connection.send((kind, content))

    def _rearm(self, driver: MotorDriver, stops: int) -> Answer:
        """Re-arm, unless there were more stops than the ``stops`` that whoever asks for it knew of."""
        self._obey_stops(driver)
        if self._stops > stops:
            return Answer(
                False, "there was another emergency stop meanwhile; make sure that the robot is free, then re-arm"
            )
        return driver.rearm()

    def _is_asked(self) -> bool:
        """Return whether another bus process wants the port and this one has no parent any more."""
        if self._door is None:
            self._door = _door(self._settings.port)
            return False
        try:
            return self._door.recv(64) == _HAND_OVER and self._is_orphan
        except OSError:
            return False


def _address(port: str) -> str:
    return "\0shellbot-bus-" + hashlib.sha256(os.path.realpath(port).encode()).hexdigest()[:24]


def _door(port: str) -> Optional[socket.socket]:
    """Return the socket at which a successor asks for the port; None while a predecessor has it."""
    door = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    door.setblocking(False)
    try:
        door.bind(_address(port))
    except OSError:
        door.close()
        return None
    return door


def _ask(port: str) -> bool:
    """Ask a bus process without parent for the port; return whether there is one to ask."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asker:
        asker.setblocking(False)
        try:
            asker.sendto(_HAND_OVER, _address(port))
        except OSError:
            return False
    return True


def main() -> None:
    """Run with the descriptors of connection and shared memory and the numbers of stops, all and over, as arguments."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when it ends
    connection, *numbers = map(int, sys.argv[1:])
    Worker(Connection(connection), *numbers).run()


if __name__ == "__main__":
    main()
