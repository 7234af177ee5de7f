# SPDX-License-Identifier: MIT
"""What the emulated servos really did: torque, goals, replies, silence. Recorded there, scored elsewhere.

All times are those of CLOCK_MONOTONIC, which every process of the machine shares.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Deque, Dict, List, Optional, Tuple

import numpy as np

from ax_bus.protocol import ErrorFlags, Instruction
from ax_bus.registers import AX_12A, Model
from ax_emulator.servo import DEFAULT_BEHAVIOUR, Answer, EmulatedServo, ServoBehaviour

Array = np.ndarray
LOOK_BACK = 0.5  # s: a goal at torque-on may be where the horn was so long ago, the age up to which a reading is good
_GOAL = range(30, 32)
_PRESENT = range(36, 38)

# columns of the tables, by name
COLUMNS: Dict[str, Tuple[str, ...]] = {
    "torque": ("time", "servo", "on"),  # register torque_enable has changed
    # a goal reached a servo that has torque; `since`: it left the host after this time; `base`: torque has just come on
    "goals": ("time", "since", "servo", "goal", "base"),
    "torque_on": ("time", "servo", "goal", "low", "high"),  # and where the horn was in the last LOOK_BACK s, steps
    "replies": ("time", "id"),  # a servo with this ID has answered a READ of its position
    "silence": ("time", "servo", "silent"),
}


@dataclass
class Truth:
    """Tables of ground truth, one row an event, columns as in `COLUMNS`; ``servo`` counts in the order of the map."""

    rows: Dict[str, List[Tuple[float, ...]]] = field(default_factory=lambda: {name: [] for name in COLUMNS})

    def add(self, table: str, *values: float) -> None:
        """Add a row."""
        self.rows[table].append(values)

    def table(self, name: str) -> Array:
        """Return a table, (n rows, n columns)."""
        return np.array(self.rows[name], dtype=np.float64).reshape(-1, len(COLUMNS[name]))

    def save(self, path: Path) -> None:
        """Write all tables as .npz; the file is complete or absent."""
        beside = path.with_name("." + path.name)
        with beside.open("wb") as stream:
            np.savez(stream, **{name: self.table(name) for name in COLUMNS})
        beside.replace(path)

    @classmethod
    def load(cls, path: Path) -> Truth:
        """Read what `save` wrote."""
        with np.load(path) as tables:
            return cls({name: [tuple(row) for row in tables[name].tolist()] for name in COLUMNS})


class Arrivals:
    """When what the servos hear can have left the host at the earliest; late reading makes that earlier than it seems.

    After a stall of the emulator many packets arrive at once, over as many ms as they take on the wire.
    """

    def __init__(self) -> None:
        self._known: Deque[Tuple[float, float]] = deque()

    def note(self, end: float, since: float) -> None:
        """Note that bytes whose last one passes at ``end`` left the host after ``since``, s."""
        self._known.append((end, since))

    def since(self, time: float) -> float:
        """Return after which time what is heard at ``time`` left the host, s."""
        while self._known and self._known[0][0] < time - 1e-6:
            self._known.popleft()
        return min(self._known[0][1], time) if self._known else time


class WitnessedServo(EmulatedServo):
    """A servo that writes down what happens to it.

    It has torque, as far as its goals are concerned, while torque_enable is 1 and torque_limit is not 0: a servo whose
    alarm is taken back pushes towards its goal as one that is switched on.

    Parameters
    ----------
    index : int
        In the order of the servo map.
    truth : Truth
        Where.
    arrivals : Arrivals
        Of the chain.
    servo_id, model, position, behaviour, seed
        As of `EmulatedServo`.
    """

    def __init__(
        self,
        index: int,
        truth: Truth,
        arrivals: Arrivals,
        servo_id: int,
        model: Model = AX_12A,
        position: int = 512,
        behaviour: ServoBehaviour = DEFAULT_BEHAVIOUR,
        seed: int = 0,
    ) -> None:
        super().__init__(servo_id, model, 1, 0, position, behaviour, seed=seed)
        self.index, self.truth, self._arrivals = index, truth, arrivals
        self._own_id = servo_id
        self._is_on = self._has_torque = self._was_silent = False
        self._was: Deque[Tuple[float, int]] = deque()  # when the horn was where

    def handle(self, instruction: int, parameters: bytes, is_broadcast: bool, time: float) -> Optional[Answer]:
        """Carry out an instruction, see `EmulatedServo.handle`."""
        answer = super().handle(instruction, parameters, is_broadcast, time)
        self.look(time)
        if answer is not None and instruction == Instruction.READ and _covers(parameters, _PRESENT):
            self.truth.add("replies", time, self.servo_id)
        return answer

    def reboot(self, time: float) -> None:
        """Restart, see `EmulatedServo.reboot`."""
        super().reboot(time)
        self.look(time)

    def look(self, time: float) -> None:
        """Note whether torque has come or gone."""
        is_on = bool(self.table["torque_enable"])
        if is_on != self._is_on:
            self._is_on = is_on
            self.truth.add("torque", time, self.index, is_on)
        has_torque = is_on and self.table["torque_limit"] > 0
        if has_torque != self._has_torque:
            self._has_torque = has_torque
            if has_torque:
                goal, steps = self.table["goal_position"], [self.motor.steps, *(steps for _, steps in self._was)]
                self.truth.add("torque_on", time, self.index, goal, min(steps), max(steps))
                self.truth.add("goals", time, self._arrivals.since(time), self.index, goal, 1)
        if (self.is_dead or time < self.deaf_until) != self._was_silent:
            self._was_silent = not self._was_silent
            self.truth.add("silence", time, self.index, self._was_silent)

    def follow_horn(self, time: float) -> None:
        """Remember where the horn is."""
        self._was.append((time, self.motor.steps))
        while self._was[0][0] < time - LOOK_BACK:
            self._was.popleft()

    def _write(self, parameters: bytes, time: float) -> ErrorFlags:
        flags = super()._write(parameters, time)
        had_torque = self._has_torque
        self.look(time)  # at once: one packet more may switch it off again
        is_goal = not flags and _covers_any(parameters, _GOAL)
        # under another servo's ID (a fault) it gets what is meant for that one: not a goal that anybody gave to it
        if is_goal and had_torque and self._has_torque and self.servo_id == self._own_id:
            since = self._arrivals.since(time)
            self.truth.add("goals", time, since, self.index, self.table["goal_position"], 0)
        return flags


def _covers(parameters: bytes, registers: range) -> bool:
    """Return whether a READ of address and count includes registers."""
    return len(parameters) == 2 and parameters[0] <= registers[0] and registers[-1] < parameters[0] + parameters[1]


def _covers_any(parameters: bytes, registers: range) -> bool:
    """Return whether a WRITE of address and data touches one of the registers."""
    return parameters[0] <= registers[-1] and registers[0] < parameters[0] + len(parameters) - 1
