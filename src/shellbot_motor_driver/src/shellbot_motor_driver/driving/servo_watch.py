# SPDX-License-Identifier: MIT
"""Reading the servos in their turn: who answers, who is lost, who restarted; and their way back without a restart."""

from __future__ import annotations

from typing import Callable, List, Optional, Tuple

import numpy as np

from ax_bus.errors import NoReplyError
from ax_bus.wire_time import bytes_time
from shellbot_control import Level
from shellbot_motor_driver.driving.driver_state import Condition
from shellbot_motor_driver.driving.feedback_scheduler import FeedbackScheduler
from shellbot_motor_driver.driving.port_watch import PortWatch
from shellbot_motor_driver.driving.roll_call import RollCall
from shellbot_motor_driver.driving.servo_link import CHECK_EXTRA, ServoLink
from shellbot_motor_driver.driving.servo_setup import identify, wrong_model
from shellbot_motor_driver.driving.servo_track import ServoTrack
from shellbot_motor_driver.driving.settings_check import SettingsCheck
from shellbot_motor_driver.safety.rungs import Rungs

_ROOM_TO_REJOIN = 3.5e-3  # s of bus time at 1 Mbaud: nine short packets


class ServoWatch:
    """Read the servos of a link in their turn and keep book of their answers.

    Parameters
    ----------
    link : ServoLink
        The servos.
    rungs : Rungs
        The ladder.
    place : callable
        ``place(index, angle)``: the servo is back and stands at this joint angle, rad; the command must start there.
    speed_of : callable
        ``speed_of(index)``: moving speed for a servo that comes back, register.

    Attributes
    ----------
    port : PortWatch
        Whether the port is there.
    roll : RollCall
        Who is away.
    wants_torque : callable
        Whether a servo that comes back is to hold.
    """

    def __init__(
        self,
        link: ServoLink,
        rungs: Rungs,
        place: Callable[[int, float], None],
        speed_of: Callable[[int], int],
        wants_torque: Callable[[int], bool],
    ) -> None:
        self._link, self._rungs, self._place = link, rungs, place
        self._speed_of, self._wants_torque = speed_of, wants_torque
        self._config = link.config
        self.scheduler = FeedbackScheduler(len(link.tracks), link.config.tick, link.read_time())
        self.port = PortWatch(link, rungs)
        self.roll = RollCall(link, rungs)
        self._settings = SettingsCheck(link)
        self._returning: List[ServoTrack] = []
        self.reads = 0
        self._has_missed = False  # in this tick

    # -- once a tick -------------------------------------------------------------------------------------------------

    def run(self, start: float, deadline_from: float, sending: float) -> None:
        """Read as many servos as the tick has room for.

        Parameters
        ----------
        start : float
            Beginning of the tick, s.
        deadline_from : float
            When it was due, s: what it began late is not there to be used.
        sending : float
            s that sending took on the wire.

        Notes
        -----
        READs are booked with the 95th percentile of the measured round trip, not with their time-out. The rare one
        that is not answered is waited for until its time-out or ``deadline_share`` of the tick, whichever comes first,
        so that the next goals leave on time; after it others begin only if their whole time-out fits.
        """
        link, tick = self._link, self._config.tick
        bus, now = link.bus, link.now()
        baud = bus.port.baud
        extra = bytes_time(CHECK_EXTRA, baud)
        timeout = bus.timeouts.reply(8, 8, baud)
        plan_end = start + tick.booked_share * tick.period
        last_end = deadline_from + tick.deadline_share * tick.period
        self.reads = 0
        self._has_missed = False
        self._call_lost(now, start, last_end)
        if self._returning and max(link.now(), bus.line_free) + _ROOM_TO_REJOIN < last_end:
            self._rejoin(self._returning.pop(0))
        urgent, regular = self._candidates(now)
        checks = sum(1 for i in regular if now - link.tracks[i].checked >= tick.check_interval)
        count = self.scheduler.plan(sending, min(checks, 3) * extra, timeout)
        scheduler = self.scheduler
        cut = None if (scheduler.is_forced and count == 1) or scheduler.is_slow else last_end
        turns = [(i, True) for i in urgent[: max(1, count // 2)]]
        # A READ that came early makes room for another: booked one by one, each with its 95th percentile.
        turns += [(i, False) for i in self.scheduler.turns(regular, len(regular) if count else 0)]
        for index, is_urgent in turns:
            track = link.tracks[index]
            is_check = is_urgent or track.suspicious or now - track.checked >= tick.check_interval
            now = max(link.now(), bus.line_free)
            more = extra if is_check else 0.0
            end = now + scheduler.expect(not self.reads, is_check, extra, timeout)
            is_late = end > min(plan_end, last_end) or (self._has_missed and now + timeout + more > last_end)
            if is_late and not (scheduler.is_forced and not self.reads):
                break
            scheduler.book((min(end, plan_end) - start) / tick.period)
            self._read(track, is_check, last_end, cut)
            if not is_urgent:
                scheduler.asked(index)

    def _candidates(self, now: float) -> Tuple[List[int], List[int]]:
        urgent, regular = [], []
        for track in self._link.tracks:
            condition = track.condition
            if condition is Condition.LOST:
                continue
            if condition is Condition.SUSPECT or not track.verified:
                if now >= track.next_try:
                    urgent.append(track.index)
            else:
                regular.append(track.index)
        return urgent, regular

    def _read(self, track: ServoTrack, is_check: bool, until: float, cut: Optional[float]) -> None:
        link, config = self._link, self._config.servo
        # A suspect servo costs one time-out, not two.
        retries = 0 if track.condition is Condition.SUSPECT else self._config.tick.retries
        reply = link.ask(track, is_check, until, retries, cut)
        is_first, self.reads = not self.reads, self.reads + 1
        now = link.now()
        if reply is None:
            self._has_missed = True
            if cut is not None and now >= cut:
                self.scheduler.missed()
            self._missed(track, now)
            return
        if reply.attempts == 1:
            self.scheduler.record(reply.round_trip, is_first, is_check)
        if track.condition is Condition.SUSPECT:
            self._rungs.say("suspect", Level.INFO, f"{track.name} answers again")
            track.set_condition(Condition.GOOD)
        elif track.condition is Condition.REJOINING and not link.torque.is_ramping(now)[track.index]:
            track.set_condition(Condition.GOOD)
            self._rungs.say("rejoined", Level.INFO, f"{track.name} is back with full torque")
        if is_check:
            why = self._settings.judge(track, now)
            if why:
                self._restarted(track, now, why)
        elif track.suspicious:
            track.next_try = now + config.suspect_interval

    def _missed(self, track: ServoTrack, now: float) -> None:
        config = self._config.servo
        is_silent = track.stamp > -np.inf and now - track.stamp >= config.lost_after
        if track.misses >= config.lost_misses or (is_silent and track.misses >= config.suspect_misses):
            self._lose(track, now)
        elif track.misses >= config.suspect_misses:
            if track.condition is not Condition.SUSPECT:
                track.set_condition(Condition.SUSPECT)
                self._rungs.say(
                    "suspect", Level.WARN, f"{track.name} missed {track.misses} replies: its values are old"
                )
            track.next_try = now + config.suspect_interval

    # -- lost and back -----------------------------------------------------------------------------------------------

    def _lose(self, track: ServoTrack, now: float) -> None:
        track.set_condition(Condition.LOST)
        track.verified = False
        track.next_try = now + self._config.servo.ping_interval
        self.roll.report(now)

    @property
    def is_down(self) -> bool:
        """Whether the bus as a whole is down."""
        return not self.port.is_open or self.roll.is_bus_down

    def _call_lost(self, now: float, start: float, last_end: float) -> None:
        """Ping at most one lost servo whose time has come; bring it back if it answers."""
        due = [track for track in self.roll.lost if now >= track.next_try]
        if not due:
            return
        if self.is_down:
            self.port.silent(len(self.roll.lost) == len(self._link.tracks), now)
        if not self.port.is_open:
            return
        track = min(due, key=lambda t: t.next_try)
        interval = self._config.servo.ping_interval
        # Many lost servos share the time-outs that one would have cost ten times over.
        track.next_try = now + interval * max(1.0, len(self.roll.lost) / 10.0)
        try:
            self._link.bus.ping(track.servo_id, retries=0, cut=None if self.scheduler.is_slow else last_end)
        except NoReplyError:
            self._has_missed = True
            return
        self.port.heard()
        if max(self._link.now(), self._link.bus.line_free) + _ROOM_TO_REJOIN > last_end:
            track.next_try = now  # answers, but the tick is full: first thing in the next
            return
        self._rejoin(track)

    def bring_back(self, track: ServoTrack) -> None:
        """Bring back a servo that answers, but went limp."""
        if track not in self._returning and track.condition is not Condition.LOST:
            self._returning.append(track)

    def _rejoin(self, track: ServoTrack) -> None:
        link = self._link
        try:
            number = identify(link, track, 1).model_number
            problem = wrong_model(track, number)
            if problem:
                self._rungs.say("rejoin", Level.ERROR, f"{problem}; it stays out")
                return
            hold = self._wants_torque(track.index)
            angle = link.rejoin(track, self._speed_of(track.index), hold)
        except NoReplyError as error:
            self._rungs.say("rejoin", Level.WARN, f"{track.name} cannot be brought back yet: {error}")
            if track.condition is not Condition.LOST:
                self._lose(track, link.now())
            return
        self._place(track.index, angle)
        track.mismatches = 0
        track.verified = True
        track.set_condition(Condition.REJOINING if hold else Condition.GOOD)
        how = "goal set to where it stands, torque comes up" if hold else "torque stays off"
        self._rungs.say("rejoined", Level.WARN, f"{track.name} answers again: {how}")
        self.roll.report(link.now())

    def _restarted(self, track: ServoTrack, now: float, why: str) -> None:
        self._rungs.say("restarted", Level.ERROR, f"{track.name} {why}; it is brought back, the others hold")
        self._link.doubt_speeds()
        track.set_condition(Condition.LOST)
        track.verified = False
        track.next_try = now
        self.roll.report(now)
