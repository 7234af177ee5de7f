# SPDX-License-Identifier: MIT
"""Torque off without a driver: sent to all, then read back from each. In the bus process, and where there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Sequence, Type, TypeVar

import numpy as np

from ax_bus.bus import Bus
from ax_bus.direction import direction
from ax_bus.errors import NoReplyError, PortError, ServoError
from ax_bus.protocol import BROADCAST_ID
from ax_bus.serial_port import SerialPort
from ax_bus.wire_time import Timeouts
from shellbot_motor_driver.process.bus_settings import BusSettings

Array = np.ndarray
_Port = TypeVar("_Port", bound=SerialPort)
_TORQUE_ENABLE = 24
_BURST = 3  # packets in a row, as no servo acknowledges them
_READ_BACK_S = 0.4  # s for reading back, on a line without latency
_PATIENCE_S = (
    0.01  # s that a reply may be late, at least: nothing else waits, and a busy host must not look like a dead servo
)


class ReadBack(NamedTuple):
    """What servos reported after torque was switched off."""

    stamps: Array  #: (n,) As `Pulse.read_back`
    trouble: str = ""  #: Why not all could be read; empty if each answered


def order_off(bus: Bus, servo_ids: Sequence[int]) -> None:
    """Send torque off to all servos, three times: a broadcast reaches unmapped ones, the SYNC WRITE any that missed it.

    Raises
    ------
    PortError
        If the port is gone.
    """
    for _ in range(_BURST):
        bus.write(BROADCAST_ID, _TORQUE_ENABLE, b"\0")
        bus.sync_write(_TORQUE_ENABLE, dict.fromkeys(servo_ids, b"\0"))


def switch_off(bus: Bus, servo_ids: Sequence[int]) -> ReadBack:
    """Switch the torque of everything on the bus off, and read it back from the servos that are known.

    The orders are sent again before each round of READs, until every servo has confirmed that its torque is off or half
    a second is over (more on a line with latency). Never raises for what port, wiring or servos do.

    Parameters
    ----------
    bus : Bus
        Open bus.
    servo_ids : sequence of int
        Who is read back.
    """
    usual = bus.timeouts
    bus.timeouts = replace(usual, link_latency=max(usual.link_latency, _PATIENCE_S))
    try:
        until = bus.port.now() + _READ_BACK_S + len(servo_ids) * usual.link_latency
        return _read_back(bus, servo_ids, until)
    finally:
        bus.timeouts = usual


def _read_back(bus: Bus, servo_ids: Sequence[int], until: float) -> ReadBack:
    stamps = np.zeros(len(servo_ids))
    pending = list(range(len(servo_ids)))
    trouble = ""
    try:
        while pending:
            order_off(bus, servo_ids)
            for index in tuple(pending):
                if bus.port.now() >= until:
                    return ReadBack(stamps, trouble or "there was no time to read all servos back")
                try:
                    reply = bus.read(servo_ids[index], _TORQUE_ENABLE, 1, retries=0)
                except NoReplyError as error:
                    trouble = str(error)
                    continue
                stamps[index] = -reply.stamp if reply.data[0] else reply.stamp
                if not reply.data[0]:
                    pending.remove(index)
    except ServoError as error:  # the port is gone, or the wiring cannot be read
        return ReadBack(stamps, str(error))
    return ReadBack(stamps)


def open_port(settings: BusSettings, kind: Type[_Port]) -> _Port:
    """Open the port of a bus process.

    Raises
    ------
    PortError
        As `SerialPort`.
    """
    return kind(settings.port, settings.baud, direction(settings.direction, **dict(settings.direction_options)))


def timeouts(settings: BusSettings) -> Timeouts:
    """Return how long servos are waited for."""
    return Timeouts(link_latency=settings.link_latency, margin=settings.margin)


def rescue(settings: BusSettings, servo_ids: Sequence[int]) -> ReadBack:
    """Open the port, switch all torque off, read it back, close the port. Only where no bus process lives.

    Parameters
    ----------
    settings : BusSettings
        The port and its line.
    servo_ids : sequence of int
        Who is read back.
    """
    try:
        port = open_port(settings, SerialPort)
    except PortError as error:
        return ReadBack(np.zeros(len(servo_ids)), str(error))
    with port:
        return switch_off(Bus(port, timeouts(settings)), servo_ids)
