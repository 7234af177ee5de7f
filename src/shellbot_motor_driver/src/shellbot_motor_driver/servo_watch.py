# SPDX-License-Identifier: MIT
"""Who answers, who is lost, who restarted, whether the port is there; and the way back of each without a restart."""

from __future__ import annotations

from typing import Callable, List, Optional, Tuple

import numpy as np

from shellbot_control import Level
from shellbot_motor_driver.driver_state import Condition, Reaction
from shellbot_motor_driver.errors import NoReplyError, PortError
from shellbot_motor_driver.feedback_scheduler import FeedbackScheduler
from shellbot_motor_driver.rungs import Rungs
from shellbot_motor_driver.servo_link import CHECK_EXTRA, TORQUE_ENABLE, ServoLink
from shellbot_motor_driver.servo_setup import identify, wrong_model
from shellbot_motor_driver.servo_track import ServoTrack
from shellbot_motor_driver.wire_time import bytes_time

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
    port_open : bool
        Whether the port is there.
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
        self.port_open = True
        self._reopen_at = 0.0
        self._back_off = link.config.bus.reopen_first
        self._silent_since: Optional[float] = None
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
            self._judge_settings(track, now)
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
        self._report_lost(now)

    @property
    def lost(self) -> List[ServoTrack]:
        """Those who do not answer."""
        return [track for track in self._link.tracks if track.condition is Condition.LOST]

    @property
    def away(self) -> List[ServoTrack]:
        """Those who do not answer, or do not yet hold with full torque."""
        return [t for t in self._link.tracks if t.condition in (Condition.LOST, Condition.REJOINING)]

    @property
    def is_down(self) -> bool:
        """Whether the bus as a whole is down."""
        return not self.port_open or len(self.lost) > self._config.bus.down_share * len(self._link.tracks)

    def _report_lost(self, now: float) -> None:
        lost, config = self.lost, self._config
        if not lost:
            self.settle(now)
            return
        names = ", ".join(track.name for track in lost[:4]) + (f" and {len(lost) - 4} more" if len(lost) > 4 else "")
        if len(lost) > config.bus.down_share * len(self._link.tracks):
            text = (
                f"bus down: {len(lost)} of {len(self._link.tracks)} servos do not answer ({names}); check power "
                "and cable"
            )
            self._rungs.set("bus_down", Reaction.HOLD, text, True, now)
        text = f"{names} lost: the others hold; check its cable and power, it comes back by itself"
        self._rungs.set("servo_lost", Reaction.HOLD, text, config.servo.rearm_after_lost, now)

    def settle(self, now: float) -> None:
        """Say that everyone is back, once that is so; the step stays until re-armed if it is latched."""
        rung = self._rungs.get("servo_lost")
        if rung.reaction and not self.away:
            if rung.latched:
                self._rungs.set("servo_lost", Reaction.HOLD, "all servos are back; re-arm to go on", True, now)
            else:
                self._rungs.clear("servo_lost", "all servos are back")

    def _call_lost(self, now: float, start: float, last_end: float) -> None:
        """Ping at most one lost servo whose time has come; bring it back if it answers."""
        due = [track for track in self.lost if now >= track.next_try]
        if not due:
            return
        if self.is_down:
            self._reopen_if_dead(now)
        if not self.port_open:
            return
        track = min(due, key=lambda t: t.next_try)
        interval = self._config.servo.ping_interval
        # Many lost servos share the time-outs that one would have cost ten times over.
        track.next_try = now + interval * max(1.0, len(self.lost) / 10.0)
        try:
            self._link.bus.ping(track.servo_id, retries=0, cut=None if self.scheduler.is_slow else last_end)
        except NoReplyError:
            self._has_missed = True
            return
        self._silent_since = None
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
        self._report_lost(link.now())

    # -- settings ----------------------------------------------------------------------------------------------------

    def _judge_settings(self, track: ServoTrack, now: float) -> None:
        """Compare what a servo has with what it should have; a restart shows here."""
        link, i, found = self._link, track.index, track.settings
        if found is None:
            return
        if i == link.wheel:
            track.verified = True
            return
        wanted = link.compliance[i]
        is_on = bool(link.torque.on[i])
        # The lock is in RAM: a servo that has restarted shows it there whatever its compliance.
        differs = (found.margins, found.slopes) != ((wanted.margin,) * 2, (wanted.slope,) * 2)
        differs = differs or (self._config.start.lock_eeprom and not found.lock)
        if bool(found.torque_enable) == is_on and not (differs and is_on):
            track.mismatches = 0
            track.settled = not differs
            if not track.verified:
                track.verified = True
            limit = link.torque.written[i]
            is_other = is_on and found.torque_limit and limit >= 0 and found.torque_limit != limit
            if is_other and not link.torque.is_ramping(now)[i]:
                link.torque.written[i] = -1
                link.torque.touch()
            return
        track.mismatches += 1
        track.checked = -np.inf  # look again in its next turn
        if track.mismatches < 2:
            return
        track.mismatches = 0
        if not is_on:
            if found.torque_enable:
                link.put(TORQUE_ENABLE, {i: b"\0"})
            track.verified = True
        elif found.torque_enable and not track.settled:
            link.write_compliance([i])  # a SYNC WRITE that it did not hear
        else:
            self._restarted(track, now, differs)

    def _restarted(self, track: ServoTrack, now: float, forgot: bool) -> None:
        why = "restarted (its power broke in: check its supply)" if forgot else "has its torque off"
        self._rungs.say("restarted", Level.ERROR, f"{track.name} {why}; it is brought back, the others hold")
        self._link.doubt_speeds()
        track.set_condition(Condition.LOST)
        track.verified = False
        track.next_try = now
        self._report_lost(now)

    # -- port --------------------------------------------------------------------------------------------------------

    def port_lost(self, error: BaseException, now: float) -> None:
        """Note that the port is gone."""
        if self.port_open:
            self.port_open = False
            self._back_off = self._config.bus.reopen_first
            self._reopen_at = now + self._back_off
            text = f"bus down: {error}; the servos hold their last goals. It is opened again by itself, then re-arm"
            self._rungs.set("bus_down", Reaction.HOLD, text, True, now)
        for track in self._link.tracks:
            track.verified = False

    def try_reopen(self, now: float) -> bool:
        """Open the port again if it is time; return whether it is open."""
        if self.port_open or now < self._reopen_at:
            return self.port_open
        self._back_off = min(2.0 * self._back_off, self._config.bus.reopen_longest)
        try:
            self._link.bus.reopen()
        except PortError:
            self._reopen_at = self._link.now() + self._back_off
            return False
        self.port_open = True
        self._back_off = self._config.bus.reopen_first
        self._link.doubt_speeds()
        for track in self._link.tracks:
            track.forget()
            track.verified = track.condition is Condition.UNREAD
            track.next_try = now
        text = "the port is back; every servo is looked at. Re-arm to go on"
        self._rungs.set("bus_down", Reaction.HOLD, text, True, now)
        return True

    def _reopen_if_dead(self, now: float) -> None:
        """Open the port anew now and then while nobody at all answers: an adapter may have hung itself up."""
        if len(self.lost) < len(self._link.tracks):
            self._silent_since = None
        elif self._silent_since is None:
            self._silent_since = now
        elif now - self._silent_since > 2.0 * self._config.bus.reopen_longest:
            self._silent_since = None
            self.port_open = False
            self._reopen_at = now
            self.try_reopen(now)
