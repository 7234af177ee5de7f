# SPDX-License-Identifier: MIT
"""What happens in a run, from its seed: faults on the bus, stalls of the host, orders of the operator."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Dict, List, NamedTuple, Sequence, Tuple

from ax_emulator import Fault

from ..schedule import Slot, random_schedule

FAULT_SLOT = 3.0  # s between the starts of two faults
_FIRST_ORDER = 2.5  # s: the start takes 1 to 2 s
LAST_ORDER = 1.5  # s before the end, at the latest
_APART = 0.05  # s between two stalls of the same process


class StallRow(NamedTuple):
    """How a process is stalled: mean time between stalls s, shortest and longest stall s."""

    every: float
    shortest: float
    longest: float


STALLS: Dict[str, StallRow] = {
    "bus": StallRow(4.0, 0.005, 2.0),  # SIGSTOP of the bus process
    "parent": StallRow(6.0, 0.005, 2.0),  # SIGSTOP of the program that has the BusProcess
    "emulator": StallRow(6.0, 0.005, 0.5),  # SIGSTOP of the emulated servos: the line is silent, then all at once
    "hog": StallRow(10.0, 1.0, 5.0),  # busy processes
}
HOGS = (1, 4)  # busy processes at a time


class Stall(NamedTuple):
    """One stall: whom, when and for how long, s of the run; how many processes of a hog."""

    target: str
    start: float
    duration: float
    hogs: int = 0


class Order(NamedTuple):
    """``emergency_stop`` or ``torque_off``, when, s of the run, and after how many s the operator takes it back."""

    kind: str
    start: float
    hold: float


@dataclass(frozen=True)
class Plan:
    """One run."""

    seed: int  #: Of everything
    seconds: float  #: From the first call of `BusProcess.start` to the call of `BusProcess.shutdown`
    faults: Tuple[Slot, ...]  #: Faults of the bus, s of the run, and when a technician puts right what they leave
    stalls: Tuple[Stall, ...]  #: By start; those of one target do not overlap
    orders: Tuple[Order, ...]  #: By start
    goal_enables_torque: bool  #: Whether these servos switch their torque on when they get a goal, as some firmwares do


def make_plan(seed: int, seconds: float, servo_ids: Sequence[int]) -> Plan:
    """Return the plan of a seed.

    Raises
    ------
    DefinitionError
        If there is no time for a fault.
    """
    faults = random_schedule(seconds, servo_ids, seed, slot=FAULT_SLOT)
    chance = random.Random(f"stalls/{seed}")
    goal_enables_torque = chance.random() < 0.5
    faults += _brown_outs(seconds, servo_ids, chance)
    orders = _orders(seconds, chance)
    stalls = _stalls(seconds, orders, chance)
    return Plan(seed, seconds, tuple(sorted(faults, key=_start)), stalls, orders, goal_enables_torque)


def _start(slot: Slot) -> float:
    return slot.fault.start


def _brown_outs(seconds: float, servo_ids: Sequence[int], chance: random.Random) -> List[Slot]:
    """Return what the general schedule lacks: a servo that starts, or comes back, at an implausible voltage."""
    found = []
    if chance.random() < 0.4:
        victim, stop = chance.choice(list(servo_ids)), chance.uniform(3.0, 6.0)
        found.append(Fault("voltage", victim, 0.0, stop, value=5.5))
    time = chance.expovariate(1.0 / 20.0)
    while time < seconds - 3.0:
        victim, stop = chance.choice(list(servo_ids)), time + chance.uniform(0.3, 2.0)
        found.append(Fault("voltage", victim, time, stop, value=chance.uniform(4.8, 5.9)))
        found.append(Fault("reboot", victim, time, time))
        time += chance.expovariate(1.0 / 20.0)
    return [Slot(fault, fault.stop) for fault in found]


def _orders(seconds: float, chance: random.Random) -> Tuple[Order, ...]:
    orders: List[Order] = []
    time = _FIRST_ORDER + chance.uniform(0.0, 1.0)
    while True:
        order = Order(chance.choice(("emergency_stop", "torque_off")), time, chance.uniform(1.2, 2.5))
        if order.start > seconds - LAST_ORDER:
            return tuple(orders)
        orders.append(order)
        time += order.hold + chance.uniform(1.5, 5.0)


def _stalls(seconds: float, orders: Sequence[Order], chance: random.Random) -> Tuple[Stall, ...]:
    found: List[Stall] = []
    for target, row in STALLS.items():
        time = chance.expovariate(1.0 / row.every)
        while time < seconds:
            duration = _spread(chance, row.shortest, row.longest)
            found.append(Stall(target, time, duration, chance.randint(*HOGS) if target == "hog" else 0))
            time += duration + chance.expovariate(1.0 / row.every)
    # what a stop must survive above all: every second one is given to a bus process that hangs, the shutdown likewise
    hard = [order.start for order in orders if chance.random() < 0.5]
    hard += [seconds] if chance.random() < 0.5 else []
    found += [Stall("bus", max(0.0, time - chance.uniform(0.0, 0.3)), chance.uniform(0.3, 2.0)) for time in hard]
    return _one_at_a_time(found)


def _spread(chance: random.Random, low: float, high: float) -> float:
    """Return a number between two, each decade as likely as another."""
    return math.exp(chance.uniform(math.log(low), math.log(high)))


def _one_at_a_time(stalls: Sequence[Stall]) -> Tuple[Stall, ...]:
    """Return the stalls by start; one that begins during another of the same target is left out."""
    chosen: List[Stall] = []
    free: Dict[str, float] = {}
    for stall in sorted(stalls, key=lambda stall: (stall.start, stall.target)):
        if stall.start >= free.get(stall.target, 0.0):
            chosen.append(stall)
            free[stall.target] = stall.start + stall.duration + _APART
    return tuple(chosen)
