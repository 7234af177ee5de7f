# SPDX-License-Identifier: MIT
"""What the driver does to servos, in their own words: goals, torque, compliance, feedback. No decisions here."""

from __future__ import annotations

from enum import Enum
from typing import Iterable, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from ax_bus.bus import Bus
from ax_bus.errors import GarbledReplyError, NoReplyError
from ax_bus.exchanger import Reply
from ax_bus.protocol import BROADCAST_ID
from ax_bus.registers import FEEDBACK_ADDRESS, FEEDBACK_COUNT
from ax_bus.wire_time import bytes_time
from shellbot_motor_driver.driving.driver_config import DriverConfig
from shellbot_motor_driver.driving.goal_writer import GoalWriter
from shellbot_motor_driver.driving.servo_state import NEVER, Event
from shellbot_motor_driver.driving.servo_table import Row, new_table
from shellbot_motor_driver.driving.servo_track import (
    CHECK_ADDRESS,
    CHECK_COUNT,
    ServoTrack,
    Settings,
    parse_check,
    parse_feedback,
)
from shellbot_motor_driver.driving.torque_control import TorqueControl
from shellbot_motor_driver.errors import ImpossibleReplyError
from shellbot_motor_driver.map.compliance import Compliance
from shellbot_motor_driver.map.servo_map import ServoMap

Array = np.ndarray


class Outcome(Enum):
    """What became of a READ."""

    ANSWERED = 0
    MISSED = 1  # no reply in the whole time-out, or none that can be true
    CUT = 2  # waiting was given up for the next goals: says nothing about the servo


TORQUE_ENABLE, MARGINS, GOAL, SPEED, TORQUE_LIMIT, LOCK, PUNCH = 24, 26, 30, 32, 34, 47, 48
_STUCK_TRIES = 3


class ServoLink:
    """The servos of a map behind a bus.

    Parameters
    ----------
    config : DriverConfig
        Parameters.

    Attributes
    ----------
    tracks : list of ServoTrack
        One per servo, in the order of the map.
    table : (rows, n) array
        Their numbers.
    torque : TorqueControl
        Whose torque is on, and how much.
    compliance : list of Compliance
        What each servo is to have.
    wheel : int
        Index of the fan's servo if it is in wheel mode, else -1.
    reads : bool
        False on a wiring whose replies are not trusted.
    """

    def __init__(self, bus: Bus, servo_map: ServoMap, config: DriverConfig) -> None:
        self.bus, self.map, self.config = bus, servo_map, config
        self.table = new_table(len(servo_map.entries))
        self.tracks = [ServoTrack(i, entry, self.table, config) for i, entry in enumerate(servo_map.entries)]
        self.torque = TorqueControl(servo_map, config.start.torque_ramp)
        start = config.compliance
        self.compliance = [Compliance(start.slope, start.margin, start.punch)] * len(self.tracks)
        self.classes = [entry.kind for entry in servo_map.entries]
        self.wheel = -1
        self.reads = True
        self._goals = GoalWriter(bus, self.ids(range(len(self.tracks))), config.tick.speed_interval)

    def now(self) -> float:
        """Return the port's time, s."""
        return self.bus.port.now()

    def ids(self, indices: Iterable[int]) -> List[int]:
        """Return the IDs of servos."""
        return [self.tracks[i].servo_id for i in indices]

    def send_goals(self, angles: Array, speeds: Array, indices: Tuple[int, ...]) -> None:
        """SYNC WRITE goals, and moving speeds if any servo may have another.

        Parameters
        ----------
        angles : (n,) array
            Joint angle of each servo, rad.
        speeds : (n,) array of int
            Moving speeds, register.
        indices : tuple of int
            Who gets them.
        """
        if not indices:
            return
        goals = self.map.steps(angles)
        self._goals.send(goals, speeds, indices, self.now())
        chosen = slice(None) if len(indices) == len(self.tracks) else list(indices)
        self.table[Row.GOAL, chosen] = goals[chosen]

    def angle(self, index: int, steps: int) -> float:
        """Return the joint angle of one servo at a position, rad."""
        return float(self.map.angles(np.full(len(self.tracks), steps))[index])

    def doubt_speeds(self) -> None:
        """Send moving speeds with the goals again, until every servo has been read with its own."""
        self._goals.doubt()

    def put(self, address: int, data: Mapping[int, bytes]) -> None:
        """SYNC WRITE registers of servos (by index); not acknowledged, so a check must follow."""
        if data:
            self.bus.sync_write(address, {self.tracks[i].servo_id: value for i, value in data.items()})

    def torque_off(self, indices: Sequence[int]) -> None:
        """Switch torque off."""
        self.put(TORQUE_ENABLE, dict.fromkeys(indices, b"\x00"))
        self._released(indices)

    def all_off(self, times: int = 1) -> None:
        """Switch the torque of everything on the bus off, ``times`` in a row: also of unmapped servos."""
        everyone = range(len(self.tracks))
        for _ in range(times):
            self.bus.write(BROADCAST_ID, TORQUE_ENABLE, b"\x00")
            self.put(TORQUE_ENABLE, dict.fromkeys(everyone, b"\x00"))
        self._released(everyone)

    def _released(self, indices: Iterable[int]) -> None:
        self.torque.switch_off(list(indices))
        for i in indices:
            self.tracks[i].on(Event.RELEASED)
            self.tracks[i].state.checked = NEVER

    def write_limits(self, limits: Mapping[int, int]) -> None:
        """Write torque limits, register values by index."""
        self.put(TORQUE_LIMIT, {i: value.to_bytes(2, "little") for i, value in limits.items()})

    def write_compliance(self, indices: Sequence[int]) -> None:
        """Write slope, margin and punch, and lock the EEPROM."""
        for i in indices:
            self.tracks[i].state.is_settled = False
        self.put(MARGINS, {i: self.compliance_bytes(i) for i in indices})
        self.put(PUNCH, {i: self.compliance[i].punch.to_bytes(2, "little") for i in indices})
        if self.config.start.lock_eeprom:
            self.put(LOCK, dict.fromkeys(indices, b"\x01"))

    def set_compliance(self, table: Mapping[str, Compliance], is_open: bool) -> int:
        """Take over compliance per joint class, write it if the port is open; return how many servos it changed."""
        changed = []
        for i, kind in enumerate(self.classes):
            compliance = table.get(kind)
            if compliance is not None and compliance != self.compliance[i]:
                self.compliance[i] = compliance
                self.torque.requested[i] = compliance.torque_fraction
                self.tracks[i].state.is_settled = False  # until it was seen with it, now or when the port is back
                changed.append(i)
        self.torque.touch()
        if changed and is_open:
            self.write_compliance(changed)
        return len(changed)

    def compliance_bytes(self, index: int) -> bytes:
        """Return registers 26 to 29 of a servo."""
        c = self.compliance[index]
        return bytes((c.margin, c.margin, c.slope, c.slope))

    def torque_up(self, angles: Array, speeds: Array, indices: Sequence[int], now: float) -> None:
        """Switch torque on, with goal := ``angles``, compliance, speed and a small torque limit. For many at once.

        Torque and goal are in one packet, registers 24 to 35: a servo receives both or neither. In separate packets
        the goal may be lost and the torque received, and the servo would run to its old goal.

        Parameters
        ----------
        angles : (n,) array
            Where the joints are, rad.
        speeds : (n,) array of int
            Moving speeds, register.
        indices : sequence of int
            Who.
        now : float
            When the ramps begin, s.
        """
        if not indices:
            return
        self.write_compliance(indices)
        self._goals.doubt(indices)
        goals = self.map.steps(angles)
        self.torque.switch_on(list(indices), now)
        limits = {i: self.torque.limit(i, now) for i in indices}
        data = {}
        for i in indices:
            words = b"".join(int(v).to_bytes(2, "little") for v in (goals[i], speeds[i], limits[i]))
            data[i] = b"\x01\x00" + self.compliance_bytes(i) + words  # torque on, LED off
        self.put(TORQUE_ENABLE, data)
        for i in indices:
            self.table[Row.GOAL, i] = goals[i]
            self.torque.written[i] = limits[i]
            state = self.tracks[i].state
            state.checked, state.next_try, state.is_settled = NEVER, now, False
            self.tracks[i].forget_alarms()  # a torque limit that was written ends them
            self.tracks[i].on(Event.RAISED)

    def stop_wheel(self, times: int) -> None:
        """Stop the fan in wheel mode, ``times`` in a row."""
        for _ in range(times if self.wheel >= 0 else 0):
            self.put(SPEED, {self.wheel: b"\0\0"})

    def turn_wheel(self, register: int) -> None:
        """Turn the fan in wheel mode."""
        self.put(TORQUE_ENABLE, {self.wheel: b"\1"})
        self.put(SPEED, {self.wheel: register.to_bytes(2, "little")})

    def restore_wheel(self) -> None:
        """Write the torque limit of the fan in wheel mode, which an alarm set to 0; it stands until it is driven."""
        self.stop_wheel(1)
        self.write_limits({self.wheel: self.torque.limit_in_wheel_mode(self.wheel)})
        self.tracks[self.wheel].forget_alarms()
        self.tracks[self.wheel].state.checked = NEVER

    def query(
        self, track: ServoTrack, is_check: bool, until: float, retries: int, cut: Optional[float] = None
    ) -> Tuple[Outcome, Optional[Reply]]:
        """Read a servo; a plausible reply goes into the track, a miss is counted there.

        Parameters
        ----------
        track : ServoTrack
            Who.
        is_check : bool
            Whether its settings are wanted, too.
        until : float
            Port's time after which no further try may end.
        retries : int
            Further tries.
        cut : float, optional
            Port's time at which waiting ends, even short of the time-out.

        Returns
        -------
        Outcome
            Whether it replied.
        Reply or None
            Its reply, if it did.
        """
        address, count = (CHECK_ADDRESS, CHECK_COUNT) if is_check else (FEEDBACK_ADDRESS, FEEDBACK_COUNT)
        track.state.queried = self.now()
        try:
            reply = self.bus.read(track.servo_id, address, count, retries, until, cut)
        except NoReplyError as error:
            self.doubt(track)
            if cut is not None and self.now() >= cut:
                return Outcome.CUT, None
            track.miss(isinstance(error, GarbledReplyError))
            return Outcome.MISSED, None
        settings, feedback = parse_check(reply.data) if is_check else (None, parse_feedback(reply.data))
        before = track.settings
        track.settings = settings if settings is not None else before
        if settings is not None and not settings.is_possible:
            track.miss()
        elif track.accept(feedback, int(reply.flags), reply.stamp):
            if settings is not None:
                self._note_settings(track, settings, reply.stamp)
            elif reply.attempts > 1:  # it was deaf for a moment: has it restarted?
                track.state.checked = NEVER
            return Outcome.ANSWERED, reply
        track.settings = before
        self.doubt(track)
        return Outcome.MISSED, None

    def _note_settings(self, track: ServoTrack, settings: Settings, stamp: float) -> None:
        track.state.checked = stamp
        self.table[Row.TORQUE_ENABLED, track.index] = settings.torque_enable
        self.table[Row.SETTINGS_STAMP, track.index] = stamp
        self._goals.note_speed(track.index, settings.speed)

    def doubt(self, track: ServoTrack) -> None:
        """Note that a servo did not reply: it may be restarting, so the next READ includes its settings."""
        track.state.checked = NEVER
        self._goals.doubt([track.index])

    def check(self, track: ServoTrack, retries: int = 3) -> Settings:
        """Read settings and feedback now, twice, whatever was read before.

        One reading may be garbled and yet have a right checksum (one in 252), so two must agree.

        Raises
        ------
        NoReplyError
            If it does not answer, or only with what cannot be: without a position that can be true there is no torque.
        """
        wrong = ""
        for _ in range(_STUCK_TRIES):
            track.forget()
            for _ in range(2):
                reply = self.bus.read(track.servo_id, CHECK_ADDRESS, CHECK_COUNT, retries)
                settings, feedback = parse_check(reply.data)
                wrong = track.impossible(feedback) if settings.is_possible else "impossible register values"
                if wrong or not track.accept(feedback, int(reply.flags), reply.stamp):
                    break
                if track.is_still:
                    track.settings = settings
                    self._note_settings(track, settings, reply.stamp)
                    return settings
        raise ImpossibleReplyError(f"{track.name} reports {wrong or 'a position that changes from READ to READ'}")

    def read_time(self, count: int = FEEDBACK_COUNT) -> float:
        """Return what a READ takes on the wire, s."""
        return bytes_time(14 + count, self.bus.port.baud)
