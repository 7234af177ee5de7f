# SPDX-License-Identifier: MIT
"""What the motor driver says about itself: servos, ladder, supply, timing. All frozen."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple, Optional, Tuple

import numpy as np

from shellbot_motor_driver.protocol import ErrorFlags
from shellbot_motor_driver.timing import BusTiming

Array = np.ndarray


class Condition(IntEnum):
    """How a servo answers."""

    GOOD = 0
    SUSPECT = 1  # missed 3 replies in a row: its values are stale
    LOST = 2  # missed 10, or 0.5 s: pinged twice a second
    REJOINING = 3  # answers again: torque comes up
    UNREAD = 4  # write-only wiring: nobody knows


class Phase(IntEnum):
    """What the robot does."""

    STARTING = 0  # torque comes up, joints hold where they are
    WAITING = 1  # holds, no targets yet
    FOLLOWING = 2  # follows the targets
    HOLDING = 3  # holds the last command
    SITTING = 4  # on the way to the pose "sit"
    SAT = 5  # sits, torque on
    OFF = 6  # torque off
    BUS_DOWN = 7  # nobody is heard or reached
    CLOSED = 8  # shut down


class Reaction(IntEnum):
    """What a rung of the ladder demands; the greatest of all rungs is done."""

    NONE = 0
    WARN = 1
    DERATE = 2  # less torque
    HOLD = 3
    SIT = 4
    SIT_AND_OFF = 5
    OFF = 6


class Rung(NamedTuple):
    """One step of the ladder that is in force.

    Parameters
    ----------
    key : str
        ``setpoint``, ``targets``, ``servo_lost``, ``bus_down``, ``heat``, ``heat_shutdown``, ``overload``, ``voltage``,
        ``emergency_stop``, ``torque_off``, ``restarted``.
    reaction : Reaction
        What it demands.
    since : float
        Port's time, s.
    latched : bool
        Whether only `MotorDriver.rearm` ends it.
    text : str
        Why, and what to do.
    """

    key: str
    reaction: Reaction
    since: float
    latched: bool
    text: str


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
class Ladder:
    """Where the safety ladder stands.

    Parameters
    ----------
    phase : Phase
        What the robot does.
    reaction : Reaction
        The greatest of the rungs' demands.
    rungs : tuple of Rung
        All in force, the gravest first.
    torque_share : float
        Torque limit of the whole robot, 0 to 1 (single legs may have less).
    needs_rearm : bool
        Whether motion waits for `MotorDriver.rearm`.
    text : str
        One sentence for the operator; empty while all is well.
    """

    phase: Phase = Phase.STARTING
    reaction: Reaction = Reaction.NONE
    rungs: Tuple[Rung, ...] = ()
    torque_share: float = 0.0
    needs_rearm: bool = False
    text: str = ""

    @property
    def may_move(self) -> bool:
        """Whether targets are followed, or will be as soon as they come; if not, walking must stop."""
        return self.phase in (Phase.WAITING, Phase.FOLLOWING)

    def rung(self, key: str) -> Optional[Rung]:
        """Return the rung of a key, or None."""
        return next((rung for rung in self.rungs if rung.key == key), None)


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


@dataclass(frozen=True)
class ServoIdentity:
    """What a servo says about itself at start.

    Parameters
    ----------
    servo_id, model_number, firmware : int
        Registers 3, 0 and 2.
    joint : str
        Its joint.
    return_delay : int
        Register 5, units of 2 us.
    angle_limits : tuple of int
        Registers 6 and 8, steps.
    temperature_limit : int
        Register 11, degrees Celsius.
    status_return_level : int
        Register 16.
    torque_was_on : bool
        Whether it held its goal already: then it goes on holding it.
    steps : int
        Where it stood.
    """

    servo_id: int
    joint: str
    model_number: int
    firmware: int
    return_delay: int
    angle_limits: Tuple[int, int]
    temperature_limit: int
    status_return_level: int
    torque_was_on: bool
    steps: int


@dataclass(frozen=True)
class StartReport:
    """What the start found.

    Parameters
    ----------
    port : str
        Its name.
    answered, missing : tuple of int
        IDs of the map.
    identities : tuple of ServoIdentity
        Of those who answered.
    is_write_only : bool
        Whether the driver goes on without reading.
    wiring : str
        The check of the wiring, in words.
    latency_timer_ms : int or None
        Of an FTDI adapter.
    resumed : bool
        Whether servos held already and hold on, without a change of torque.
    notices : tuple of str
        What is not as it should be, each with the command that mends it.
    """

    port: str
    answered: Tuple[int, ...] = ()
    missing: Tuple[int, ...] = ()
    identities: Tuple[ServoIdentity, ...] = ()
    is_write_only: bool = False
    wiring: str = ""
    latency_timer_ms: Optional[int] = None
    resumed: bool = False
    notices: Tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The report in a few lines."""
        lines = [f"{self.port}: {len(self.answered)} of {len(self.answered) + len(self.missing)} servos answered"]
        lines += [self.wiring] if self.wiring else []
        if self.is_write_only:
            lines.append("driving WITHOUT FEEDBACK: nothing is read, the ladder knows targets and stops only")
        if self.resumed:
            lines.append("servos were holding: they hold on")
        return "\n".join((*lines, *self.notices))


@dataclass(frozen=True)
class Answer:
    """What became of a request: truthy if it was accepted; also unpacks as ``accepted, reason``.

    Parameters
    ----------
    accepted : bool
        Whether it is done.
    reason : str
        What was done, or why not and what to do.
    """

    accepted: bool
    reason: str = field(default="")

    def __bool__(self) -> bool:
        return self.accepted

    def __iter__(self) -> Any:
        return iter((self.accepted, self.reason))
