# SPDX-License-Identifier: MIT
"""What is known of one servo: its state, whether its answers can be true, which alarms persist."""

from __future__ import annotations

import struct
from collections import deque
from typing import Deque, Dict, NamedTuple, Optional, Tuple

import numpy as np

from ax_bus.protocol import ErrorFlags
from ax_bus.registers import RAD_PER_STEP
from shellbot_motor_driver.driving.driver_config import DriverConfig
from shellbot_motor_driver.driving.servo_state import NEVER, Condition, Event, ServoState
from shellbot_motor_driver.driving.servo_table import Row
from shellbot_motor_driver.map.servo_entry import ServoEntry

STILL_STEPS = 10
CHECK_ADDRESS, CHECK_COUNT = 24, 24  # torque, compliance, goal, limit, everything of the feedback, lock in one READ
_FEEDBACK = struct.Struct("<HHHBB")
_CHECK = struct.Struct("<BBBBBBHHHHHHBBBBBB")
_FLAGS_WATCHED = (ErrorFlags.INPUT_VOLTAGE, ErrorFlags.OVERHEATING, ErrorFlags.OVERLOAD)
_WATCHED = sum(map(int, _FLAGS_WATCHED))


class Settings(NamedTuple):
    """What a check READ says about a servo's RAM."""

    torque_enable: int
    margins: Tuple[int, int]
    slopes: Tuple[int, int]
    goal: int
    speed: int
    torque_limit: int
    lock: int

    @property
    def is_possible(self) -> bool:
        """Whether registers can have these values: a READ whose address was garbled is answered, too."""
        return self.torque_enable <= 1 and self.lock <= 1 and self.goal <= 1023 and self.torque_limit <= 1023


class Feedback(NamedTuple):
    """Position, speed and load as in the registers, V, degrees Celsius."""

    steps: int
    speed: int
    load: int
    voltage: float
    temperature: int


def parse_feedback(data: bytes) -> Feedback:
    """Return what a READ of registers 36 to 43 says."""
    steps, speed, load, volts, temperature = _FEEDBACK.unpack(data)
    return Feedback(steps, speed, load, volts * 0.1, temperature)


def parse_check(data: bytes) -> Tuple[Settings, Feedback]:
    """Return what a READ of registers 24 to 47 says."""
    v = _CHECK.unpack(data)
    settings = Settings(v[0], (v[2], v[3]), (v[4], v[5]), v[6], v[7], v[8], v[17])
    return settings, Feedback(v[9], v[10], v[11], v[12] * 0.1, v[13])


class ServoTrack:
    """One servo.

    Parameters
    ----------
    index : int
        Its column in the table.
    entry : ServoEntry
        Its row of the servo map.
    table : (rows, n_servos) array
        Where its numbers go.
    config : DriverConfig
        Thresholds.

    Attributes
    ----------
    state : ServoState
        How it answers, and whether it gets goals; changed by `on` only.
    settings : Settings or None
        Its settings as last read.
    temperature_limit : int
        Its register, degrees Celsius.
    garbled : int
        Of its misses in a row, those in which bytes were received: two servos with one ID, or a bad contact.
    wrong : str
        What of its readings cannot be, in words, although it insists on it; then it gets no torque.
    is_still : bool
        Whether the last two readings agree within `STILL_STEPS`: one may be garbled and yet have a right checksum,
        so there is no torque without a second.
    raise_at : float
        When its torque may be switched on again at the earliest, s.
    was_stale : bool
        Whether its readings were reported to be old.
    claimed_since : dict of ErrorFlags to float
        Alarms that every reply had since a time, s, confirmed by a register or not.
    """

    def __init__(self, index: int, entry: ServoEntry, table: np.ndarray, config: DriverConfig) -> None:
        self.index, self.entry, self.servo_id = index, entry, entry.servo_id
        self.limb = entry.limb
        self.name = f"servo {entry.servo_id} ({entry.joint})"
        self.state = ServoState()
        self.settings: Optional[Settings] = None
        self.temperature_limit = entry.model.register("temperature_limit").factory
        self.temperature = float("nan")
        self.voltage = float("nan")
        self.stamp = NEVER
        self.garbled = 0
        self.claimed_since: Dict[ErrorFlags, float] = {}
        self.is_warm = False  # whether it is worth a look
        self.raise_at = NEVER
        self.wrong = ""
        self.is_still = False
        self.was_stale = False
        self.suspicious = False  # an alarm or setting that a second look must confirm
        self._column = table[:, index]
        self._config = config
        self._plausibility = config.plausibility
        self._steps_per_s = entry.model.no_load_speed * config.plausibility.speed_factor / RAD_PER_STEP
        self._steps = 512
        self._rejected: Deque[Tuple[float, Feedback]] = deque(maxlen=config.plausibility.accept_after)
        self._flags: Deque[int] = deque(maxlen=config.alarms.window)
        self.hot: Deque[int] = deque(maxlen=config.alarms.window)  # 0 cool, 1 near its limit, 2 at it
        self.alarms = ErrorFlags.NONE

    @property
    def steps(self) -> int:
        """Last valid position, steps."""
        return self._steps

    @property
    def condition(self) -> Condition:
        """Its state."""
        return self.state.condition

    def on(self, event: Event) -> bool:
        """Change the state; return whether it is another now."""
        before, after = self.state.on(event)
        self._column[Row.CONDITION] = after
        return after is not before

    def miss(self, is_garbled: bool = False) -> None:
        """Note a READ without a valid reply."""
        self.is_still = False
        self.state.misses += 1
        self.garbled += is_garbled
        self._column[Row.MISSES] = self.state.misses
        self._column[Row.MISSED] += 1

    def answered(self) -> None:
        """Note that it is there."""
        self.state.misses = self.garbled = 0
        self._column[Row.MISSES] = 0

    def forget(self) -> None:
        """Forget old readings: the next one that is possible at all is accepted (the servo was out of sight)."""
        self.stamp = NEVER
        self.is_still = False
        self._rejected.clear()
        self._flags.clear()
        self.hot.clear()

    def forget_alarms(self) -> None:
        """Forget alarms and settings of the time before torque was switched on."""
        self.settings = None
        self._flags.clear()
        self.alarms = ErrorFlags.NONE
        self._column[Row.ALARMS] = 0

    def accept(self, feedback: Feedback, flags: int, stamp: float) -> bool:
        """Take a reading over if it can be true; count it as missed if not.

        Parameters
        ----------
        feedback : Feedback
            What it reported.
        flags : int
            Error byte.
        stamp : float
            Port's time, s.
        """
        if self._is_plausible(feedback, stamp):
            self.wrong = ""
        else:
            self._column[Row.IMPLAUSIBLE] += 1
            if not self._insists(feedback, stamp):
                self.miss()
                return False
            self.wrong = self.impossible(feedback)
        if self._rejected:
            self._rejected.clear()
        if self.state.misses:
            self.answered()
        column = self._column
        self.is_still = abs(feedback.steps - self._steps) <= STILL_STEPS and self.stamp > NEVER
        self.stamp, self._steps = stamp, feedback.steps
        self.voltage, self.temperature = feedback.voltage, float(feedback.temperature)
        column[1:7] = (stamp, *feedback)
        column[Row.READS] += 1
        self._judge_alarms(flags, feedback)
        if flags & _WATCHED or self.claimed_since:
            for flag in _FLAGS_WATCHED:
                if not flags & flag:
                    self.claimed_since.pop(flag, None)
                else:
                    self.claimed_since.setdefault(flag, stamp)
        return True

    def impossible(self, f: Feedback) -> str:
        """Return which value of a reading is impossible, whatever it was before; empty if none. Torque needs none."""
        p = self._plausibility
        if not p.voltage_low <= f.voltage <= p.voltage_high:
            return f"{f.voltage:.1f} V ({p.voltage_low:g} to {p.voltage_high:g} is plausible): check its supply"
        if not p.temperature_low <= f.temperature <= p.temperature_high:
            return f"{f.temperature} degC ({p.temperature_low:g} to {p.temperature_high:g} is plausible)"
        return "" if f.steps <= 1023 else f"position {f.steps} (0 to 1023 is plausible)"

    def _is_plausible(self, f: Feedback, stamp: float) -> bool:
        p = self._plausibility
        if self.impossible(f):
            return False
        age = stamp - self.stamp
        if age > 10.0:
            return True
        return (
            abs(f.steps - self._steps) <= self._steps_per_s * age + p.extra_steps
            and abs(f.temperature - self.temperature) <= p.temperature_rate * age + 2.0  # 1 K of rounding on each side
        )

    def _insists(self, f: Feedback, stamp: float) -> bool:
        """Return whether implausible replies in a row agree with each other: then they are the truth."""
        p = self._plausibility
        if self._rejected:
            before, last = self._rejected[-1]
            same = (
                abs(f.steps - last.steps) <= self._steps_per_s * (stamp - before) + p.extra_steps
                and abs(f.temperature - last.temperature) <= p.temperature_rate * (stamp - before) + 2.0
                and abs(f.voltage - last.voltage) <= 1.0
            )
            if not same:
                self._rejected.clear()
        self._rejected.append((stamp, f))
        return len(self._rejected) >= p.accept_after

    def _judge_alarms(self, flags: int, f: Feedback) -> None:
        """Believe an alarm that is up in 2 of 3 valid replies and that a register confirms."""
        heat = 2 if f.temperature >= self.temperature_limit else 0
        heat = heat or int(f.temperature >= self.temperature_limit - self._config.heat.margin)
        self.hot.append(heat)
        self.is_warm = bool(heat) or self.is_warm and any(self.hot)
        flags &= _WATCHED
        self._flags.append(flags)
        if not flags and not self.alarms:
            return
        needed = self._config.alarms.needed
        persistent = ErrorFlags.NONE
        for flag in _FLAGS_WATCHED:
            if sum(1 for seen in self._flags if seen & flag) >= needed:
                persistent |= flag
        confirmed = ErrorFlags.NONE
        is_shut = self.settings is not None and self.settings.torque_limit == 0
        if persistent & ErrorFlags.INPUT_VOLTAGE and not self._plausibility.voltage_low <= f.voltage <= 14.0:
            confirmed |= ErrorFlags.INPUT_VOLTAGE
        if persistent & ErrorFlags.OVERHEATING and (heat or is_shut):
            confirmed |= ErrorFlags.OVERHEATING
        if persistent & ErrorFlags.OVERLOAD and is_shut:
            confirmed |= ErrorFlags.OVERLOAD
        # The torque limit is read only in a check: request one before an alarm is confirmed or dismissed.
        self.suspicious = bool(persistent & ~confirmed & (ErrorFlags.OVERHEATING | ErrorFlags.OVERLOAD))
        self.alarms = confirmed
        self._column[Row.ALARMS] = int(confirmed)

    def heat(self) -> int:
        """Return 0, 1 (near its limit) or 2 (at it), as 2 of 3 valid replies say."""
        needed = self._config.alarms.needed
        for level in (2, 1):
            if sum(1 for seen in self.hot if seen >= level) >= needed:
                return level
        return 0
