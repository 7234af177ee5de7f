# SPDX-License-Identifier: MIT
"""What the motor driver says about itself in each tick: joints, servos, supply, ladder, timing. All frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Tuple

import numpy as np

from ax_bus.protocol import ErrorFlags
from shellbot_motor_driver.driving.servo_state import Condition
from shellbot_motor_driver.driving.start_report import Answer, ServoIdentity, StartReport
from shellbot_motor_driver.driving.timing import BusTiming
from shellbot_motor_driver.safety.ladder import Ladder, Phase, Reaction, Rung

Array = np.ndarray


class ServoReading(NamedTuple):
    """One servo."""

    servo_id: int  #: Its ID
    joint: str  #: The joint it turns
    condition: Condition  #: How it answers
    #: stamp, age: Port's time of the last valid reply and how long ago that was, s (infinite before the first)
    stamp: float
    age: float
    is_stale: bool  #: Whether the values are too old to be used
    steps: int  #: Present position of the register
    #: position, velocity, effort: Of its joint, rad, rad/s, N·m (of the fan: of one of its six joints)
    position: float
    velocity: float
    effort: float
    load: float  #: Fraction of the stall torque, counter-clockwise of the servo positive
    voltage: float  #: V
    temperature: float  #: Degrees Celsius
    alarms: ErrorFlags  #: Alarms that persist and that a register confirms
    torque_on: bool  #: Whether its torque is to be on
    torque_fraction: float  #: Torque limit that is commanded, 0 to 1
    misses: int  #: Missed replies in a row
    #: reads, missed, implausible: Totals
    reads: int
    missed: int
    implausible: int
    goal: int  #: Goal position commanded last, steps; -1 before the first
    torque_enabled: float = float("nan")  #: Its register torque_enable as last read back, 0 or 1; NaN before the first


class TorqueOff(NamedTuple):
    """Whether torque that was requested to be off is off."""

    #: Port's time at which it was requested for the whole robot, s; NaN while torque is requested
    since: float = float("nan")
    #: IDs of the servos that have not confirmed since then, in a READ of the register, that their torque is off
    unconfirmed: Tuple[int, ...] = ()

    @property
    def is_requested(self) -> bool:
        """Whether all torque is to be off."""
        return self.since == self.since

    @property
    def is_confirmed(self) -> bool:
        """Whether every servo has confirmed that its torque is off."""
        return self.is_requested and not self.unconfirmed


@dataclass(frozen=True)
class Supply:
    """The battery as the servos see it."""

    voltage: float = float("nan")  #: Median over all fresh servos now, V; NaN if there is none
    #: Median of that over ``voltage.window``, which the ladder judges, V; NaN until known
    filtered: float = float("nan")
    lowest: float = float("nan")  #: The servo that sees least: a thin cable
    lowest_id: int = -1  #: The servo that sees least: a thin cable
    hottest: float = float("nan")  #: Degrees Celsius
    hottest_id: int = -1  #: Degrees Celsius
    load: float = 0.0  #: Sum of the servos' loads as a fraction of all stall torques, a measure of the current


@dataclass(frozen=True)
class DriverState:
    """Everything of one tick."""

    stamp: float  #: Port's time at the end of the tick, s (CLOCK_MONOTONIC on a serial port)
    tick: int  #: Ticks since start
    joint_names: Tuple[str, ...]  #: Order of the joint arrays
    #: position, velocity, effort: (n_joints,) Measured, rad, rad/s, N·m; the six fan joints share one servo. Read-only.
    #: Without feedback: the command, 0, 0.
    position: Array
    velocity: Array
    effort: Array
    is_measured: Array  #: (n_joints,) Whether the value is fresh (younger than ``servo.stale_after``)
    command: Array  #: (n_joints,) Joint angles commanded in this tick, rad
    servos: Tuple[ServoReading, ...]  #: In the order of the servo map
    ladder: Ladder  #: Safety ladder
    supply: Supply  #: Battery
    timing: BusTiming  #: The loop's own figures
    is_write_only: bool = False  #: Whether nothing is read
    torque_off: TorqueOff = TorqueOff()  #: Whether torque is to be off, and which servos have not confirmed it

    def servo(self, servo_id: int) -> ServoReading:
        """Return the reading of an ID.

        Raises
        ------
        KeyError
            If the map has no such servo.
        """
        for reading in self.servos:
            if reading.servo_id == servo_id:
                return reading
        raise KeyError(f"no servo has ID {servo_id}; there are {', '.join(str(r.servo_id) for r in self.servos)}")


# what other packages import from here
__all__ = [
    "Answer", "Condition", "DriverState", "Ladder", "Phase", "Reaction", "Rung", "ServoIdentity", "ServoReading",
    "StartReport", "Supply", "TorqueOff",
]  # fmt: skip
