# SPDX-License-Identifier: MIT
"""The motor driver's loop as it runs on the robot: its own process on a pty, and the same code in virtual time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, List, Type

import numpy as np
import psutil

from ax_bus import Bus, Timeouts
from ax_bus.errors import ServoError
from ax_emulator import EmulatedChain, VirtualPort
from robot_evaluation.errors import EvaluationError
from shellbot_common import TICK
from shellbot_motor_driver.driving.driver_state import DriverState, Phase
from shellbot_motor_driver.driving.motor_driver import MotorDriver
from shellbot_motor_driver.emulated_servos import shellbot_servos
from shellbot_motor_driver.map.servo_map import ServoMap
from shellbot_motor_driver.process.bus_process import BusProcess, BusSettings

from .emulator import emulated_chain

HOST_TIME = 40e-6  # s a write and a read of the host: 80 us a READ
LINK_LATENCY = 1e-3  # s allowed for the link, as of a UART; more, and the driver books fewer READs a tick
_UP_LIMIT = 20.0  # s until the torque is up
_WARM_UP = 1.5  # s before anything is measured


@dataclass(frozen=True)
class LoopFigures:
    """What the loop reached; times in us."""

    servos: int  #: How many
    tick_hz: float  #: Ticks per second, each with a SYNC WRITE to all
    feedback_hz: float  #: Valid replies per second of the servo that has fewest
    reads_per_tick: float  #: READs per tick, all servos together
    late_ticks_percent: float  #: Ticks more than half a period late, or left out
    #: lateness_p50, lateness_p99, lateness_p999: Start of a tick after it was due
    lateness_p50: float
    lateness_p99: float
    lateness_p999: float
    tick_p50: float  #: Length of a tick's bus traffic
    tick_p99: float  #: Length of a tick's bus traffic
    #: round_trip_p50, round_trip_p99, overhead_p50, overhead_p99: Of a READ; overhead is what is above the wire's own
    #: time
    round_trip_p50: float
    round_trip_p99: float
    overhead_p50: float
    overhead_p99: float
    cpu_ms_per_tick: float  #: CPU time of the whole bus process, all that the driver does included
    timeouts: int  #: Of the whole run
    retries: int  #: Of the whole run


def in_real_time(variant: str, seconds: float, link_latency: float = LINK_LATENCY) -> LoopFigures:
    """Run the bus process on a pty for ``seconds``, with new targets at 100 Hz.

    Raises
    ------
    EvaluationError
        If it does not start.
    """
    with emulated_chain(variant) as port:
        process = BusProcess(BusSettings(port, variant, link_latency=link_latency, restart=False))
        try:
            process.start()
        except ServoError as error:
            raise EvaluationError(str(error)) from error
        try:
            _wait_for_torque(process)
            base = process.state().position.copy()
            _feed(process, base, _WARM_UP)
            first, cpu, start = process.state(), _cpu_time(process), time.monotonic()
            _feed(process, base, seconds)
            last, used, wall = process.state(), _cpu_time(process) - cpu, time.monotonic() - start
            return _figures(first, last, wall, used)
        finally:
            process.shutdown(torque_off=True)


def in_virtual_time(variant: str, seconds: float, adapter: Type[EmulatedChain] = EmulatedChain) -> LoopFigures:
    """Run the driver in virtual time with 80 us of host time a READ, interrupts of the servos included.

    Parameters
    ----------
    variant : str
        ``walker`` or ``full``.
    seconds : float
        How long.
    adapter : type of EmulatedChain
        `LatencyTimerChain` for one that hands replies over each millisecond only.
    """
    chain = adapter(shellbot_servos(variant))
    port = VirtualPort(chain, HOST_TIME)
    driver = MotorDriver(Bus(port, Timeouts(link_latency=LINK_LATENCY)), ServoMap.load(variant))
    driver.start()
    while driver.ladder().phase is not Phase.WAITING:
        driver.tick(None)
        port.sleep(driver.next_tick - port.now())
    base = driver.state().position.copy()
    first = None
    start = port.now()
    while port.now() < start + _WARM_UP + seconds:
        if first is None and port.now() >= start + _WARM_UP:
            first, began = driver.state(), port.now()
        driver.tick(_targets(base, port.now() - start))
        port.sleep(driver.next_tick - port.now())
    assert first is not None
    # no CPU time: it would be that of driver and emulated servos together
    return _figures(first, driver.state(), port.now() - began, float("nan"))


def _cpu_time(process: BusProcess) -> float:
    """Return what the bus process has used of a core so far, s."""
    if process.pid is None:
        raise EvaluationError("the bus process has ended; see its messages above")
    times = psutil.Process(process.pid).cpu_times()
    return float(times.user + times.system)


def _wait_for_torque(process: BusProcess) -> None:
    end = time.monotonic() + _UP_LIMIT
    while process.state().ladder.phase is not Phase.WAITING:
        process.poll()
        if time.monotonic() > end:
            raise EvaluationError(f"the torque did not come up: {process.state().ladder.text or 'no reason given'}")
        time.sleep(0.02)


def _feed(process: BusProcess, base: np.ndarray, seconds: float) -> None:
    start = time.monotonic()
    due = start
    while due < start + seconds:
        process.tick(_targets(base, time.monotonic() - start))
        due += TICK
        time.sleep(max(0.0, due - time.monotonic()))


def _targets(base: np.ndarray, t: float) -> np.ndarray:
    """Return targets that move all joints gently, so that no packet equals the one before."""
    return base + 0.03 * np.sin(2.0 * t)


def _figures(first: DriverState, last: DriverState, wall: float, cpu: float) -> LoopFigures:
    before, after = first.timing, last.timing
    ticks = last.tick - first.tick
    reads: List[int] = [b.reads - a.reads for a, b in zip(first.servos, last.servos)]

    def p(name: str, percent: float) -> float:
        histogram: Any = getattr(after, name).minus(getattr(before, name))
        return 1e6 * histogram.percentile(percent)

    def count(name: str) -> int:
        return int(after.counters.get(name, 0) - before.counters.get(name, 0))

    return LoopFigures(
        servos=len(last.servos),
        tick_hz=ticks / wall,
        feedback_hz=min(reads) / wall,
        reads_per_tick=sum(reads) / ticks,
        late_ticks_percent=100.0 * (after.late_ticks - before.late_ticks) / ticks,
        lateness_p50=p("lateness", 50.0),
        lateness_p99=p("lateness", 99.0),
        lateness_p999=p("lateness", 99.9),
        tick_p50=p("tick_time", 50.0),
        tick_p99=p("tick_time", 99.0),
        round_trip_p50=p("round_trip", 50.0),
        round_trip_p99=p("round_trip", 99.0),
        overhead_p50=p("overhead", 50.0),
        overhead_p99=p("overhead", 99.0),
        cpu_ms_per_tick=1e3 * cpu / ticks,
        timeouts=count("timeouts"),
        retries=count("retries"),
    )
