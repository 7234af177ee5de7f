# SPDX-License-Identifier: MIT
"""The same exchanges by our bus, by dynamixel-sdk and by bare system calls: SYNC WRITE to all, a READ of each."""

from __future__ import annotations

import contextlib
import gc
import os
import select
import time
from dataclasses import dataclass
from typing import Callable, Iterator, List, Sequence, Tuple

import numpy as np

from ax_bus import Bus, SyncWriter, Timeouts, direction, protocol
from ax_bus.errors import ServoError
from ax_bus.registers import FEEDBACK_ADDRESS, FEEDBACK_COUNT
from ax_bus.serial_port import SerialPort
from ax_bus.wire_time import read_time, sync_write_time
from robot_evaluation.errors import EvaluationError
from robot_evaluation.stats import percentile
from shellbot_common import TICK

from .emulator import emulated_chain

_LINK_LATENCY = 5e-3  # s
_BAUD = 1_000_000


@dataclass(frozen=True)
class ExchangeFigures:
    """Medians and percentiles over ticks of equal work, us unless the name says otherwise."""

    library: str
    servos: int
    ticks: int
    lost: int
    round_trip_p50: float
    round_trip_p99: float
    overhead_p50: float
    overhead_p99: float
    tick_ms_p50: float
    tick_ms_p99: float
    cpu_ms_per_tick: float


def exchanges(variant: str, servo_ids: Sequence[int], ticks: int) -> List[ExchangeFigures]:
    """Measure ours, the SDK and the system calls, in turns of a tenth of the ticks: the machine's load hits all alike.

    Raises
    ------
    EvaluationError
        If dynamixel-sdk is not installed, or no servo answers.
    """
    rounds, batch = 10, max(1, ticks // 10)
    libraries = {"ax_bus": _ours, "dynamixel-sdk": _sdk, "system calls alone": _floor}
    tallies = {name: _Tally(name) for name in libraries}
    gc.collect()
    gc.disable()
    try:
        with emulated_chain(variant) as port:
            for _ in range(rounds):
                for name, library in libraries.items():
                    with library(port, servo_ids) as (write, read):
                        _run(tallies[name], write, read, servo_ids, batch)
    finally:
        gc.enable()
    return [tally.figures(len(servo_ids)) for tally in tallies.values()]


class _Tally:
    def __init__(self, library: str) -> None:
        self.library = library
        self.trips: List[float] = []
        self.ticks: List[float] = []
        self.cpu: List[float] = []
        self.lost = 0

    def figures(self, servos: int) -> ExchangeFigures:
        if not self.trips:
            raise EvaluationError(f"{self.library} got no reply at all; is the machine overloaded?")
        wire = read_time(FEEDBACK_COUNT, _BAUD)
        p50, p99 = (1e6 * percentile(self.trips, percent) for percent in (50.0, 99.0))
        return ExchangeFigures(
            self.library,
            servos,
            len(self.ticks),
            self.lost,
            p50,
            p99,
            p50 - 1e6 * wire,
            p99 - 1e6 * wire,
            1e3 * percentile(self.ticks, 50.0),
            1e3 * percentile(self.ticks, 99.0),
            1e3 * percentile(self.cpu, 50.0),
        )


Write = Callable[[np.ndarray], None]
Read = Callable[[int], bool]


def _run(tally: _Tally, write: Write, read: Read, servo_ids: Sequence[int], ticks: int) -> None:
    values = np.column_stack([np.full(len(servo_ids), 512), np.full(len(servo_ids), 100)])
    pause = sync_write_time(len(servo_ids), 4, _BAUD)
    for k in range(ticks):
        values[:, 0] = 512 + k % 3
        start, cpu = time.monotonic(), time.process_time()
        write(values)
        # a READ must not queue behind the SYNC WRITE: its wire time is not the library's round trip
        used, sent = time.process_time() - cpu, time.monotonic()
        time.sleep(max(0.0, pause - (sent - start)))
        cpu = time.process_time()
        for servo_id in servo_ids:
            sent_at = time.monotonic()
            if read(servo_id):
                tally.trips.append(time.monotonic() - sent_at)
            else:
                tally.lost += 1
        tally.cpu.append(used + time.process_time() - cpu)
        tally.ticks.append(time.monotonic() - start)
        time.sleep(max(0.0, TICK - tally.ticks[-1]))


@contextlib.contextmanager
def _ours(port: str, servo_ids: Sequence[int]) -> Iterator[Tuple[Write, Read]]:
    with SerialPort(port, _BAUD, direction("auto")) as line:
        bus = Bus(line, Timeouts(link_latency=_LINK_LATENCY))

        def read(servo_id: int) -> bool:
            try:
                bus.read(servo_id, FEEDBACK_ADDRESS, FEEDBACK_COUNT, retries=0)
            except ServoError:
                return False
            return True

        yield SyncWriter(bus, 30, servo_ids, words=2), read


@contextlib.contextmanager
def _floor(port: str, servo_ids: Sequence[int]) -> Iterator[Tuple[Write, Read]]:
    """Do what no library can save: look, write, sleep until something comes, read.

    Packets are made before, replies only counted. A machine on which a sleep and a wake-up cost 50 us shows it here.
    """
    fd = os.open(port, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY)  # set up by those who had it before
    time.sleep(0.1)  # the emulated line looks for a new owner now and then; the others take as long to open
    reads = {i: protocol.read(i, FEEDBACK_ADDRESS, FEEDBACK_COUNT) for i in servo_ids}
    goals = protocol.sync_write(30, {i: bytes((0, 2, 100, 0)) for i in servo_ids})
    size, poll = protocol.OVERHEAD + FEEDBACK_COUNT, select.poll()
    poll.register(fd, select.POLLIN)

    def write(_: np.ndarray) -> None:
        os.write(fd, goals)

    def read(servo_id: int) -> bool:
        if poll.poll(0):
            os.read(fd, 512)  # what came too late
        os.write(fd, reads[servo_id])
        received = 0
        while received < size and poll.poll(1e3 * _LINK_LATENCY):
            received += len(os.read(fd, 512))
        return received == size

    try:
        yield write, read
    finally:
        os.close(fd)


@contextlib.contextmanager
def _sdk(port: str, servo_ids: Sequence[int]) -> Iterator[Tuple[Write, Read]]:
    """Use the SDK as its own examples do: GroupSyncWrite and readTxRx, split as the servos' buffer needs."""
    try:
        import dynamixel_sdk as sdk
    except ImportError as error:
        raise EvaluationError(
            "dynamixel-sdk is not installed; scripts/setup --dev installs it (requirements-dev.txt)"
        ) from error
    handler, line = sdk.PacketHandler(1.0), sdk.PortHandler(port)
    if not line.openPort() or not line.setBaudRate(_BAUD):
        raise EvaluationError(f"dynamixel-sdk cannot open {port}")
    groups = [
        (range(i, min(i + 26, len(servo_ids))), sdk.GroupSyncWrite(line, handler, 30, 4))
        for i in range(0, len(servo_ids), 26)
    ]

    def write(values: np.ndarray) -> None:
        for indices, group in groups:
            group.clearParam()
            for i in indices:
                goal, speed = int(values[i, 0]), int(values[i, 1])
                group.addParam(servo_ids[i], [goal & 255, goal >> 8, speed & 255, speed >> 8])
            group.txPacket()

    def read(servo_id: int) -> bool:
        _, result, _ = handler.readTxRx(line, servo_id, FEEDBACK_ADDRESS, FEEDBACK_COUNT)
        return bool(result == 0)

    try:
        yield write, read
    finally:
        line.closePort()
