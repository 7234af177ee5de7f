# SPDX-License-Identifier: MIT
"""Memory that two processes share: blocks that are written by one and read by the other without waiting."""

from __future__ import annotations

import mmap
import os
import pickle
import struct
import time
import zlib
from dataclasses import fields, replace
from typing import Any, Dict, Optional, Tuple

import numpy as np

from ax_bus.statistics import BusStatistics
from shellbot_motor_driver.driving.driver_state import DriverState, Supply
from shellbot_motor_driver.driving.motor_driver import MotorDriver
from shellbot_motor_driver.driving.servo_table import Row, Snapshot, build_state
from shellbot_motor_driver.driving.timing import BINS, BusTiming, Histogram
from shellbot_motor_driver.map.servo_map import ServoMap
from shellbot_motor_driver.process.orders import Orders, Pulse
from shellbot_motor_driver.safety.ladder import Ladder

Array = np.ndarray
_HEAD = struct.Struct("<QII")  # sequence, odd while being written; checksum; length
_SEQUENCE = struct.Struct("<Q")
_CONTENT = struct.Struct("<II")
_ORDERS = struct.Struct("<5Q")
_TRIES = 10  # without waiting
_PATIENCE = 0.02  # s that a reader waits for a writer who was interrupted while writing
_LADDER_ROOM = 16384
_LONGEST_TEXT = 1000  # characters, of a ladder that does not fit otherwise
_COUNTERS = tuple(item.name for item in fields(BusStatistics) if item.type == "int")
_SUPPLY = tuple(item.name for item in fields(Supply))
_SCALARS = ("reads_per_tick", "booked_fraction", "used_fraction", "feedback_hz", "booked_overhead", "cpu_per_tick")
_HISTOGRAMS = ("lateness", "tick_time", "round_trip", "overhead")


class Block:
    """One writer, many readers (a sequence lock). The checksum also covers machines that reorder memory accesses.

    Parameters
    ----------
    memory : mmap.mmap
        The shared memory.
    offset, room : int
        Where the block begins and how many bytes its content may have.
    """

    def __init__(self, memory: mmap.mmap, offset: int, room: int) -> None:
        self._memory, self._offset, self._room = memory, offset, room
        self.end = offset + _HEAD.size + room

    def write(self, data: bytes) -> None:
        """Replace the content.

        Raises
        ------
        ValueError
            If it does not fit.
        """
        if len(data) > self._room:
            raise ValueError(f"{len(data)} bytes do not fit a shared block of {self._room}")
        memory, at = self._memory, self._offset
        sequence = _SEQUENCE.unpack_from(memory, at)[0] | 1
        # Slices, because pack_into clears its place first; and the sequence last, because readers rely on it.
        memory[at : at + _SEQUENCE.size] = _SEQUENCE.pack(sequence)
        start = at + _HEAD.size
        memory[at + _SEQUENCE.size : start] = _CONTENT.pack(zlib.crc32(data), len(data))
        memory[start : start + len(data)] = data
        memory[at : at + _SEQUENCE.size] = _SEQUENCE.pack(sequence + 1)

    def read(self, patience: float = _PATIENCE) -> Optional[bytes]:
        """Return the content; None if nothing was written yet, or the writer does not come to an end of writing.

        Parameters
        ----------
        patience : float
            s to wait for a writer that was interrupted; 0: do not wait.
        """
        memory, at = self._memory, self._offset
        deadline = time.monotonic() + patience
        tries = 0
        while True:
            sequence, checksum, length = _HEAD.unpack_from(memory, at)
            if sequence == 0:
                return None
            if not sequence & 1 and length <= self._room:
                data = bytes(memory[at + _HEAD.size : at + _HEAD.size + length])
                if _HEAD.unpack_from(memory, at)[0] == sequence and zlib.crc32(data) == checksum:
                    return data
            tries += 1
            if tries >= _TRIES:
                if time.monotonic() >= deadline:
                    return None
                time.sleep(1e-4)


class SharedState:
    """Targets and orders one way, state and pulse the other.

    Parameters
    ----------
    fd : int
        An anonymous file (``memfd``); its size is set if it is empty.
    servo_map : ServoMap
        Says how many joints and servos there are.
    stale_after : float
        As the driver's.
    """

    def __init__(self, fd: int, servo_map: ServoMap, stale_after: float) -> None:
        self._map, self._stale_after = servo_map, stale_after
        self._joints, self._servos = len(servo_map.joint_names), len(servo_map.entries)
        self._widths = (6, len(_SUPPLY), len(_SCALARS) + 1, len(_COUNTERS), len(_HISTOGRAMS) * BINS)
        numbers = sum(self._widths) + (len(Row) + 1) * self._servos
        sizes = (8 * (2 + self._joints), 8 * numbers, _LADDER_ROOM, _ORDERS.size, 8 * (4 + self._servos))
        total = sum(sizes) + len(sizes) * _HEAD.size
        if os.fstat(fd).st_size < total:
            os.ftruncate(fd, total)
        memory = mmap.mmap(fd, total)
        self._targets = Block(memory, 0, sizes[0])
        self._numbers = Block(memory, self._targets.end, sizes[1])
        self._ladder = Block(memory, self._numbers.end, sizes[2])
        self._orders = Block(memory, self._ladder.end, sizes[3])
        self._pulse = Block(memory, self._orders.end, sizes[4])
        self._published: Optional[Ladder] = None
        self._last_ladder: Tuple[Optional[bytes], Ladder] = (None, Ladder())
        self._histograms = np.zeros(len(_HISTOGRAMS) * BINS)
        self._count = 0

    # -- parent --------------------------------------------------------------------------------------------------

    def put_targets(self, stamp: float, targets: Optional[Array]) -> None:
        """Give targets (None: none now)."""
        self._count += 1
        body = np.zeros(2 + self._joints)
        body[:2] = (self._count, stamp if targets is not None else -np.inf)
        if targets is not None:
            body[2:] = targets
        self._targets.write(body.tobytes())

    def put_orders(self, orders: Orders) -> None:
        """Give what takes torque away, apart from everything else: nothing may delay it."""
        self._orders.write(_ORDERS.pack(*orders))

    def pulse(self) -> Optional[Pulse]:
        """Return the last sign of life; None before the first, and while it is being written."""
        data = self._pulse.read(0.0)
        if data is None:
            return None
        body = np.frombuffer(data)
        return Pulse(float(body[0]), int(body[1]), int(body[2]), bool(body[3]), body[4:])

    def state(self) -> Optional[Tuple[DriverState, int]]:
        """Return the latest state and how many notices wait; None before the first."""
        data = self._numbers.read()
        if data is None:
            return None
        numbers = np.frombuffer(data)
        cut = np.cumsum(self._widths)
        head, supply, scalars, counters, histograms = (part.tolist() for part in np.split(numbers[: cut[-1]], cut[:-1]))
        remaining = numbers[cut[-1] :]
        table = remaining[: len(Row) * self._servos].reshape(len(Row), self._servos).copy()
        blob = self._ladder.read()
        if blob is not None and blob != self._last_ladder[0]:
            self._last_ladder = (blob, pickle.loads(blob))
        values = dict(zip(_SUPPLY, supply))
        for name in ("lowest_id", "hottest_id"):
            values[name] = int(values[name])
        bins = [Histogram(tuple(int(c) for c in histograms[i * BINS : (i + 1) * BINS])) for i in range(4)]
        figures: Dict[str, Any] = dict(zip(_SCALARS, scalars))
        figures.update(zip(_HISTOGRAMS, bins))
        figures["counters"] = {name: int(value) for name, value in zip(_COUNTERS, counters)}
        timing = BusTiming(ticks=int(head[1]), late_ticks=int(scalars[-1]), **figures)
        snapshot = Snapshot(
            head[0], int(head[2]), table, remaining[len(Row) * self._servos :].copy(), bool(head[3]), head[5]
        )
        state = build_state(self._map, snapshot, self._stale_after, self._last_ladder[1], Supply(**values), timing)
        return state, int(head[4])

    # -- bus process -----------------------------------------------------------------------------------------------

    def orders(self) -> Optional[Orders]:
        """Return the orders; None while they are being written, so look at each tick."""
        data = self._orders.read(0.0)
        return Orders(*_ORDERS.unpack(data)) if data is not None else None

    def put_pulse(self, pulse: Pulse) -> None:
        """Show that the process is alive."""
        self._pulse.write(np.concatenate((pulse[:4], pulse.read_back)).tobytes())

    def targets(self) -> Optional[Tuple[int, float, Array]]:
        """Return count, stamp and targets; None before the first."""
        data = self._targets.read(0.0)
        if data is None:
            return None
        body = np.frombuffer(data)
        return int(body[0]), float(body[1]), body[2:]

    def publish(self, driver: MotorDriver, waiting: int, with_histograms: bool) -> Snapshot:
        """Show the driver's last tick, and return its numbers."""
        snapshot, timer, supply = driver.snapshot(), driver.timer, driver.supply
        if with_histograms:
            self._histograms = np.concatenate([getattr(timer, name).counts for name in _HISTOGRAMS]).astype(float)
        statistics = vars(driver.bus.statistics)
        numbers = (
            [snapshot.stamp, timer.ticks, snapshot.tick, snapshot.is_write_only, waiting, snapshot.off_since]
            + [getattr(supply, name) for name in _SUPPLY]
            + [getattr(timer, name) for name in _SCALARS]
            + [timer.late_ticks]
            + [statistics[name] for name in _COUNTERS]
        )
        self._numbers.write(
            np.concatenate((numbers, self._histograms, snapshot.table.ravel(), snapshot.command)).tobytes()
        )
        ladder = driver.ladder()
        if ladder is not self._published:
            self._published = ladder
            self._ladder.write(_pack(ladder))
        return snapshot


def _pack(ladder: Ladder) -> bytes:
    """Return what fits into the block and can be read: of very many steps the gravest, and no endless sentence."""
    data = pickle.dumps(ladder)
    rungs = ladder.rungs
    while len(data) > _LADDER_ROOM:
        short = tuple(rung._replace(text=rung.text[:_LONGEST_TEXT]) for rung in rungs)
        data = pickle.dumps(replace(ladder, rungs=short, text=ladder.text[:_LONGEST_TEXT]))
        rungs = rungs[: len(rungs) // 2]
    return data
