# SPDX-License-Identifier: MIT
"""A process: the program that has the BusProcess, as the node has it. Walks, obeys its operator, logs what it is told.

`stalls.run` starts it, and stops it now and then: what it reads from its clock is after a stop what it would be in a
node that was swapped out.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Tuple

import numpy as np

from ax_bus.errors import ServoError
from shellbot_description import joint_class, named_pose_array
from shellbot_motor_driver import BusProcess, BusSettings, Condition, DriverConfig, ServoMap

from .emulator import PORT, READY, VARIANT
from .plan import LAST_ORDER, Order, Plan, make_plan

Array = np.ndarray
LOG, TABLES = "log.json", "log.npz"  # in the folder of the run
_PERIOD = 0.01  # s between two targets and looks at the state
_WATCH = 0.05  # s between two polls, as the node has it
_RETRY = 1.0  # s between two requests to rearm, and between two starts
_ARRAYS = ("samples", "stamps", "good")
_FREQUENCY = 0.7  # Hz of the gait
# rad around the pose "stand"; at most 1.1 rad/s
_SWING = {"fan": 0.05, "coxa": 0.25, "femur": 0.2, "tibia": 0.2}


class Claim(IntEnum):
    """What the driver says of torque that is to be off."""

    NONE = 0  # torque is requested
    PENDING = 1  # to be off, not yet confirmed
    CONFIRMED = 2  # off
    UNCONFIRMED = 3  # an error: it cannot be confirmed


def torque_claim(bus: BusProcess) -> Claim:
    """Return what the driver says of torque that is to be off."""
    status = bus.torque_off_status(time.monotonic())
    if status.confirmed:
        return Claim.CONFIRMED
    if status.is_overdue:
        return Claim.UNCONFIRMED
    return Claim.PENDING if status.is_requested else Claim.NONE


class Sample(NamedTuple):
    """One look at the state: before and after it by the parent's clock, s, and what it reported."""

    before: float
    after: float
    stamp: float
    phase: int
    claim: int


class Given(NamedTuple):
    """One order: before and after the call by the parent's clock, s, and the answer."""

    before: float
    after: float
    kind: str  # emergency_stop, torque_off, torque_on, rearm, shutdown
    accepted: bool
    reason: str = ""


@dataclass
class Log:
    """What the parent did and what its driver reported; times of CLOCK_MONOTONIC."""

    samples: List[Sample] = field(default_factory=list)  #: Looks at the state
    #: stamps, good: Of each sample: stamp of each servo's reading, and whether it was shown as good
    stamps: List[Any] = field(default_factory=list)
    good: List[Any] = field(default_factory=list)
    orders: List[Given] = field(default_factory=list)  #: All orders
    shutdown_claim: int = Claim.NONE  #: What was claimed after the shutdown
    events: List[Tuple[float, str]] = field(default_factory=list)  #: What the driver reported
    #: Changes of the ladder: phase, and keys of its rungs
    steps: List[Tuple[float, str, str]] = field(default_factory=list)
    restarts: int = 0  #: Of the bus process
    started: float = float("nan")  #: When the first start was through; NaN if it never was

    def save(self, folder: Path) -> None:
        """Write two files: arrays, and everything else as JSON, which comes last."""
        arrays = {name: np.array(getattr(self, name)) for name in _ARRAYS}
        np.savez(folder / TABLES, **arrays)
        content: Dict[str, Any] = asdict(self)
        for name in _ARRAYS:
            del content[name]
        (folder / LOG).write_text(json.dumps(content), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Log:
        """Read what `save` wrote."""
        content = json.loads((folder / LOG).read_text(encoding="utf-8"))
        with np.load(folder / TABLES) as tables:
            for name in ("stamps", "good"):
                content[name] = list(tables[name])
            content["samples"] = [Sample(*row) for row in tables["samples"].tolist()]
        content["orders"] = [Given(*row) for row in content["orders"]]
        for name in ("events", "steps"):
            content[name] = [tuple(row) for row in content[name]]
        return cls(**content)


class Gait:
    """Targets like those of a tripod gait around the pose "stand".

    Parameters
    ----------
    names : tuple of str
        Joints, in the order of the targets.
    """

    def __init__(self, names: Tuple[str, ...]) -> None:
        self._stand = named_pose_array("stand", VARIANT)
        kinds = [joint_class(name) for name in names]
        self._swing = np.array([_SWING[kind] for kind in kinds])
        # coxae a quarter of a cycle ahead; legs 1, 3, 5 against 2, 4, 6; all fans alike, as one servo turns them
        self._cycles = np.array([0.25 if kind == "coxa" else 0.0 for kind in kinds])
        odd = np.array([kind != "fan" and int(name.split("_")[1]) % 2 for kind, name in zip(kinds, names)])
        self._cycles += 0.5 * odd

    def __call__(self, time_s: float) -> Array:
        """Return the targets at a time, (n,) rad."""
        targets: Array = self._stand + self._swing * np.sin(2.0 * np.pi * (_FREQUENCY * time_s + self._cycles))
        return targets


class Walker:
    """The parent's three threads: state and targets, watch, operator.

    Parameters
    ----------
    plan : Plan
        Its orders are obeyed.
    port : str
        Of the servos.
    begin : float
        CLOCK_MONOTONIC at which the run begins, s.
    link_latency : float
        As of `BusSettings`, s.
    """

    def __init__(self, plan: Plan, port: str, begin: float, link_latency: float) -> None:
        self.plan, self.begin = plan, begin
        self.end = begin + plan.seconds
        self.log = Log()
        # A start into which a fault falls is tried again: a driver that reads nothing has nothing to be wrong about.
        config = DriverConfig.from_mapping({"start": {"allow_write_only": False}})
        self.bus = BusProcess(BusSettings(port, VARIANT, link_latency=link_latency, config=config))
        self._gait = Gait(self.bus.joint_names)  # reads files: not between the start and the first look
        self._parent = os.getppid()
        self._needs_rearm = False
        self._is_over = threading.Event()

    def run(self) -> Log:
        """Start, walk until the end, shut down."""
        try:
            if self._start():
                threads = [threading.Thread(target=target, daemon=True) for target in (self._watch, self._operate)]
                for thread in threads:
                    thread.start()
                self._walk()
                self._is_over.set()
                for thread in threads:
                    thread.join(5.0)
        finally:
            before = time.monotonic()
            self.bus.shutdown(torque_off=True)
            self.log.orders.append(Given(before, time.monotonic(), "shutdown", True))
            self.log.shutdown_claim = int(torque_claim(self.bus))
        self.log.restarts = self.bus.restarts
        return self.log

    @property
    def _is_alone(self) -> bool:
        return os.getppid() != self._parent

    def _start(self) -> bool:
        while time.monotonic() < self.end and not self._is_alone:
            try:
                report = self.bus.start()
            except ServoError as error:
                self.log.events.append((time.monotonic(), f"no start: {error}"))
                time.sleep(_RETRY)
            else:
                self.log.started = time.monotonic()
                self.log.events.append((self.log.started, report.text))
                return True
        return False

    def _walk(self) -> None:
        log, bus = self.log, self.bus
        due = time.monotonic()
        steps: Tuple[str, str] = ("", "")
        while due < self.end and not self._is_alone:
            bus.set_targets(self._gait(time.monotonic()))
            before = time.monotonic()
            state = bus.state()
            claim = torque_claim(bus)
            after = time.monotonic()
            log.samples.append(Sample(before, after, state.stamp, int(state.ladder.phase), int(claim)))
            log.stamps.append([servo.stamp for servo in state.servos])
            log.good.append([servo.condition is Condition.GOOD and not servo.is_stale for servo in state.servos])
            self._needs_rearm = state.ladder.needs_rearm
            keys = " ".join(rung.key for rung in state.ladder.rungs)
            if (state.ladder.phase.name, keys) != steps:
                steps = (state.ladder.phase.name, keys)
                log.steps.append((after, *steps))
            due = max(due + _PERIOD, time.monotonic())
            time.sleep(max(due - time.monotonic(), 0.0))

    def _watch(self) -> None:
        """Do what the node's main loop does."""
        while not self._is_over.wait(_WATCH):
            self.bus.poll()
            for notice in self.bus.events():
                self.log.events.append((time.monotonic(), f"{notice.level.name} {notice.key}: {notice.text}"))

    def _operate(self) -> None:
        """Give the plan's orders, take them back, rearm when the driver waits for it."""
        for order in self.plan.orders:
            if self._rearm_until(self.begin + order.start) or time.monotonic() > self.end - LAST_ORDER:
                return
            self._give(order.kind)
            if self._is_over.wait(order.hold):
                return
            self._take_back(order)
        self._rearm_until(float("inf"))

    def _rearm_until(self, when: float) -> bool:
        """Wait, rearm meanwhile if need be; return whether the run is over."""
        retry_at = 0.0
        while time.monotonic() < when:
            if self._is_over.wait(_WATCH):
                return True
            if self._needs_rearm and time.monotonic() >= retry_at:
                self._give("rearm")
                retry_at = time.monotonic() + _RETRY
        return False

    def _take_back(self, order: Order) -> None:
        """Let the robot have torque again; refusals are tried again."""
        kind = "rearm" if order.kind == "emergency_stop" else "torque_on"
        while not self._give(kind):
            if self._is_over.wait(_RETRY):
                return
            if self._needs_rearm:
                self._give("rearm")  # torque is refused while something else is latched

    def _give(self, kind: str) -> bool:
        bus, reason, accepted = self.bus, "", True
        before = time.monotonic()
        if kind == "emergency_stop":
            bus.emergency_stop("campaign")
        else:
            accepted, reason = bus.rearm() if kind == "rearm" else bus.torque(kind == "torque_on")
        self.log.orders.append(Given(before, time.monotonic(), kind, bool(accepted), reason))
        return bool(accepted)


def main() -> None:
    """Run with seed, seconds, folder and link latency as arguments, and when it begins as first line of input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who started it decides
    seed, seconds, folder = int(sys.argv[1]), float(sys.argv[2]), Path(sys.argv[3])
    plan = make_plan(seed, seconds, ServoMap.load(VARIANT).servo_ids)
    sys.stdout.write(READY + "\n")
    sys.stdout.flush()
    begin = float(sys.stdin.readline() or "nan")
    Walker(plan, str(folder / PORT), begin, float(sys.argv[4])).run().save(folder)


if __name__ == "__main__":
    main()
