# SPDX-License-Identifier: MIT
"""A process: the emulated servos of a run on a pty, with its faults; writes down ground truth.

The chain's clock is CLOCK_MONOTONIC. `stalls.run` starts it; it says that it is up, is given the time at which the run
begins, and serves until SIGTERM, or until whoever started it is gone.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import List, Sequence, Tuple

import numpy as np

from ax_emulator import CoupledChain, FaultInjector, MotorBank, PtyServer, ServoBehaviour, World
from shellbot_description import named_pose_array
from shellbot_motor_driver.map.servo_map import ServoMap

from ..schedule import repair_servos
from .plan import Plan, make_plan
from .truth import Arrivals, Truth, WitnessedServo

PORT, TRUTH = "port", "truth.npz"  # in the folder of the run
READY = "ready"
VARIANT = "walker"
_STEP = 8e-3  # s of the physics
_LOOK_EVERY = 2  # steps between two looks at where the horns are
_READ = 4096  # bytes that PtyServer reads at a time
# N·m/rad towards the pose in which the robot lies: it tears limp servos there at up to 2 rad/s, and one that holds sags
# by a step or two
_SAG = 0.08
_SCATTER = 0.3  # rad: no robot lies as the other


class Weight(World):
    """A robot that is heavy: limp servos go where it lies. All motors on arrays, or Python would take a core for it.

    Parameters
    ----------
    servos : sequence of WitnessedServo
        They lie where they are.
    start : float
        s of the chain's clock.
    """

    def __init__(self, servos: Sequence[WitnessedServo], start: float) -> None:
        self._servos, self._next, self._count = servos, start, 0
        parameters = [servo.motor.parameters for servo in servos]
        self._bank = MotorBank(servos)
        self._initial, self._position = self._bank.position.copy(), self._bank.position.copy()
        self._velocity = np.zeros(len(servos))
        self._inertia = np.array([p.inertia for p in parameters])
        self._damping = np.array([p.stall_torque / p.no_load_speed for p in parameters])
        self._stick = _STEP * np.array([p.friction for p in parameters]) / self._inertia

    @property
    def next_time(self) -> float:
        """When the next step is due, s."""
        return self._next

    def step(self) -> None:
        """Let motors and weight move the horns."""
        torque = self._bank.step(self._position, self._velocity, _STEP) + _SAG * (self._initial - self._position)
        damping = self._damping * self._bank.braking
        velocity = (self._velocity + _STEP * torque / self._inertia) / (1.0 + _STEP * damping / self._inertia)
        self._velocity = np.sign(velocity) * np.maximum(np.abs(velocity) - self._stick, 0.0)
        self._position = self._position + _STEP * self._velocity
        self._next += _STEP
        self._count += 1
        if self._count % _LOOK_EVERY == 0:
            for servo in self._servos:
                servo.look(self._next)
                servo.follow_horn(self._next)


class WitnessedChain(CoupledChain):
    """A chain of witnessed servos that knows how late it reads, with a technician.

    Parameters
    ----------
    arrivals : Arrivals
        What they ask.
    faults : FaultInjector
        What goes wrong when.
    repairs : sequence of float
        When a technician puts right what does not end by itself.
    start : float
        s, of the chain's clock.
    """

    def __init__(
        self,
        servos: Sequence[WitnessedServo],
        arrivals: Arrivals,
        faults: FaultInjector,
        repairs: Sequence[float],
        start: float,
    ) -> None:
        self._originals = [servo.table.as_dict() for servo in servos]
        super().__init__(servos, Weight(servos, start), faults=faults)
        self._arrivals, self._repairs = arrivals, sorted(repairs)
        self.time = self._looked = self._empty = start
        self._has_received, self.is_paced = False, True

    def advance(self, time: float) -> None:
        """Let everything happen until ``time``, s."""
        if not self._has_received:
            self._empty = self._looked  # a wait for the host's bytes has passed since then, and there were none
        self._looked, self._has_received = time, False
        super().advance(time)
        while self._repairs and self._repairs[0] <= time:
            self._repairs.pop(0)
            repair_servos(self.servos, self._originals, 1_000_000)

    def transmit(self, time: float, data: bytes) -> None:
        """Take what the host has sent since the line was seen to be empty."""
        super().transmit(time, data)
        self._arrivals.note(self._host_free, self._empty)
        self._has_received = True
        if len(data) < _READ:
            self._empty = time


def make_servos(plan: Plan, truth: Truth, arrivals: Arrivals) -> List[WitnessedServo]:
    """Return the robot's servos as it lies there."""
    servo_map = ServoMap.load(VARIANT)
    chance = random.Random(f"servos/{plan.seed}")
    pose = servo_map.reduce(named_pose_array("sit", VARIANT))
    steps = servo_map.goals(pose + [chance.uniform(-_SCATTER, _SCATTER) for _ in pose])
    behaviour = ServoBehaviour(goal_enables_torque=plan.goal_enables_torque)
    return [
        WitnessedServo(i, truth, arrivals, entry.servo_id, entry.model, int(position), behaviour, plan.seed)
        for i, (entry, position) in enumerate(zip(servo_map.entries, steps))
    ]


def serve(plan: Plan, folder: Path) -> None:
    """Serve until the end, then write down the truth."""
    is_over: List[bool] = []
    signal.signal(signal.SIGTERM, lambda *_: is_over.append(True))
    parent = os.getppid()
    truth, arrivals = Truth(), Arrivals()
    servos = make_servos(plan, truth, arrivals)
    sys.stdout.write(READY + "\n")
    sys.stdout.flush()
    begin = float(sys.stdin.readline() or "nan")
    faults, repairs = shifted(plan, begin)
    chain = WitnessedChain(servos, arrivals, FaultInjector(faults, plan.seed), repairs, time.monotonic())
    # the truth is scored by CLOCK_MONOTONIC: a busy machine may take long from the chain's making to here
    server = PtyServer(chain, folder / PORT, precise=False, start=0.0)
    try:
        server.run(lambda: bool(is_over) or os.getppid() != parent)
    finally:
        server.close()
        truth.save(folder / TRUTH)


def shifted(plan: Plan, begin: float) -> Tuple[list, List[float]]:
    """Return the faults and the times of repair of a run that begins at ``begin``."""
    faults = [replace(slot.fault, start=slot.fault.start + begin, stop=slot.fault.stop + begin) for slot in plan.faults]
    return faults, [slot.repair + begin for slot in plan.faults]


def main() -> None:
    """Run with seed, seconds and folder as first arguments."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who started it decides
    seed, seconds, folder = int(sys.argv[1]), float(sys.argv[2]), Path(sys.argv[3])
    serve(make_plan(seed, seconds, ServoMap.load(VARIANT).servo_ids), folder)


if __name__ == "__main__":
    main()
