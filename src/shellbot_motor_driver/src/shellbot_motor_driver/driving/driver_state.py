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
    """One servo.

    Parameters
    ----------
    servo_id : int
        Its ID.
    joint : str
        The joint it turns.
    condition : Condition
        How it answers.
    stamp, age : float
        Port's time of the last valid reply and how long ago that was, s (infinite before the first).
    is_stale : bool
        Whether the values are too old to be believed.
    steps : int
        Present position of the register.
    position, velocity, effort : float
        Of its joint, rad, rad/s, N·m (of the fan: of one of its six joints).
    load : float
        Share of the stall torque, counter-clockwise of the servo positive.
    voltage : float
        V.
    temperature : float
        Degrees Celsius.
    alarms : ErrorFlags
        Alarms that persist and that a register confirms.
    torque_on : bool
        Whether its torque is to be on.
    torque_share : float
        Torque limit that is commanded, 0 to 1.
    misses : int
        Missed replies in a row.
    reads, missed, implausible : int
        Totals.
    goal : int
        Goal position commanded last, steps; -1 before the first.
    torque_enabled : float
        Its register torque_enable as last read back, 0 or 1; NaN before the first.
    settings_stamp : float
        Port's time at which that was read, s.
    """

    servo_id: int
    joint: str
    condition: Condition
    stamp: float
    age: float
    is_stale: bool
    steps: int
    position: float
    velocity: float
    effort: float
    load: float
    voltage: float
    temperature: float
    alarms: ErrorFlags
    torque_on: bool
    torque_share: float
    misses: int
    reads: int
    missed: int
    implausible: int
    goal: int
    torque_enabled: float
    settings_stamp: float


class TorqueOff(NamedTuple):
    """Whether torque that was requested to be off is off.

    Parameters
    ----------
    since : float
        Port's time at which it was requested for the whole robot, s; NaN while torque is wanted.
    unconfirmed : tuple of int
        IDs of the servos that have not said since then, in a READ of the register, that their torque is off.
    """

    since: float = float("nan")
    unconfirmed: Tuple[int, ...] = ()

    @property
    def is_requested(self) -> bool:
        """Whether all torque is to be off."""
        return self.since == self.since

    @property
    def is_confirmed(self) -> bool:
        """Whether every servo has said that its torque is off."""
        return self.is_requested and not self.unconfirmed


@dataclass(frozen=True)
class Supply:
    """The battery as the servos see it.

    Parameters
    ----------
    voltage : float
        Median over all fresh servos now, V; NaN if there is none.
    filtered : float
        Median of that over ``voltage.window``, which the ladder judges, V; NaN until known.
    lowest, lowest_id : float, int
        The servo that sees least: a thin cable.
    hottest, hottest_id : float, int
        Degrees Celsius.
    load : float
        Sum of the servos' loads as a share of all stall torques, a measure of the current.
    """

    voltage: float = float("nan")
    filtered: float = float("nan")
    lowest: float = float("nan")
    lowest_id: int = -1
    hottest: float = float("nan")
    hottest_id: int = -1
    load: float = 0.0


@dataclass(frozen=True)
class DriverState:
    """Everything of one tick.

    Parameters
    ----------
    stamp : float
        Port's time at the end of the tick, s (CLOCK_MONOTONIC on a serial port).
    tick : int
        Ticks since start.
    joint_names : tuple of str
        Order of the joint arrays.
    position, velocity, effort : (n_joints,) array
        Measured, rad, rad/s, N·m; the six fan joints share one servo. Read-only. Without feedback: the command, 0, 0.
    is_measured : (n_joints,) array of bool
        Whether the value is fresh (younger than ``servo.stale_after``).
    command : (n_joints,) array
        Joint angles commanded in this tick, rad.
    servos : tuple of ServoReading
        In the order of the servo map.
    ladder : Ladder
        Safety ladder.
    supply : Supply
        Battery.
    timing : BusTiming
        The loop's own figures.
    is_write_only : bool
        Whether nothing is read.
    torque_off : TorqueOff
        Whether torque is to be off, and which servos have not confirmed it.
    """

    stamp: float
    tick: int
    joint_names: Tuple[str, ...]
    position: Array
    velocity: Array
    effort: Array
    is_measured: Array
    command: Array
    servos: Tuple[ServoReading, ...]
    ladder: Ladder
    supply: Supply
    timing: BusTiming
    is_write_only: bool = False
    torque_off: TorqueOff = TorqueOff()

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
