# SPDX-License-Identifier: MIT
"""Reading the servos: which answer, are lost, restarted or have old readings; and their recovery."""

from __future__ import annotations

from typing import Callable, Dict, List, Optional, Tuple

import numpy as np

from ax_bus.errors import NoReplyError
from ax_bus.registers import FEEDBACK_COUNT
from shellbot_common import Level
from shellbot_motor_driver.driving.feedback_scheduler import FeedbackScheduler
from shellbot_motor_driver.driving.motion import Motion
from shellbot_motor_driver.driving.port_watch import PortWatch
from shellbot_motor_driver.driving.roll_call import RollCall
from shellbot_motor_driver.driving.servo_link import Outcome, ServoLink
from shellbot_motor_driver.driving.servo_setup import identify, wrong_model
from shellbot_motor_driver.driving.servo_state import NEVER, Condition, Event
from shellbot_motor_driver.driving.servo_table import Row
from shellbot_motor_driver.driving.servo_track import CHECK_COUNT, ServoTrack
from shellbot_motor_driver.driving.settings_check import SettingsCheck
from shellbot_motor_driver.safety.ladder import Reaction
from shellbot_motor_driver.safety.rungs import Rungs

Array = np.ndarray
_AWAY = frozenset((Condition.SUSPECT, Condition.LOST))
_HEAD_START = 0.1  # s
_PING_EVERY = 4  # tries at a lost servo


class ServoWatch:
    """Read the servos of a link, keep their states, and switch on those that are limp and should not be.

    Parameters
    ----------
    rungs : Rungs
        The ladder.
    motion : Motion
        The command, which goes on from the goals that servos have when they get goals again.
    speeds : (n,) array of int
        Moving speeds for servos that are switched on, registers.
    needs_torque : callable
        ``needs_torque(index)``: whether a limp servo is to be switched on.

    Attributes
    ----------
    port : PortWatch
        Whether the port is there.
    roll : RollCall
        Who is away.
    scheduler : FeedbackScheduler
        Who is read when.
    reads : int
        READs of the last tick.
    """

    def __init__(
        self,
        link: ServoLink,
        rungs: Rungs,
        motion: Motion,
        speeds: Array,
        needs_torque: Callable[[int], bool],
    ) -> None:
        self._link, self._rungs, self._motion = link, rungs, motion
        self._speeds, self._needs_torque = speeds, needs_torque
        self._config = link.config
        self.scheduler = FeedbackScheduler(link.config.tick, link.bus.timeouts.link_latency + 0.2e-3)
        self.roll = RollCall(link, rungs, needs_torque)
        self.port = PortWatch(link, rungs, self.roll.call_again)
        self._settings = SettingsCheck(link)
        self.reads = 0
        self._has_missed = False  # in this tick
        self._refused: Dict[int, str] = {}

    @property
    def is_down(self) -> bool:
        """Whether the bus as a whole is down."""
        return not self.port.is_open or self.roll.is_bus_down

    # -- once a tick -------------------------------------------------------------------------------------------------

    def run(self, start: float, due: float, sending: float) -> None:
        """Read as many servos as the tick has time for, then switch on those found limp that should not be.

        Parameters
        ----------
        start, due : float
            Beginning of the tick, and when it should have begun, s: what it began late is not there to be used.
        sending : float
            s that sending took on the wire.

        Notes
        -----
        READs are booked with their usual time, not with their time-out. The rare one that is not answered is given up
        at ``deadline_fraction`` of the tick, so that the next goals leave on time; such a servo is read again as the
        first of a tick, with its whole time-out, before the miss counts. After a miss another READ begins only if its
        whole time-out fits.
        """
        link, tick, scheduler = self._link, self._config.tick, self.scheduler
        self.reads, self._has_missed = 0, False
        last_end = due + tick.deadline_fraction * tick.period
        scheduler.begin(sending)
        for index in scheduler.order(*self._candidates(start)):
            if not self._read_in_turn(link.tracks[index], start, last_end):
                break
        self._switch_on(link.now())
        self.roll.report(link.now())

    def _candidates(self, now: float) -> Tuple[List[int], List[int]]:
        """Return the servos to read in turn, and those with misses that are due: they may cost a time-out.

        In turn: the servo whose last query is oldest comes first, with a head start for those that wait for a READ of
        their settings to get goals again, or whose last READ was given up.
        """
        regular: List[Tuple[float, int]] = []
        urgent: List[Tuple[float, int]] = []
        for track in self._link.tracks:
            state = track.state
            is_suspect = state.condition is Condition.SUSPECT
            if state.condition is Condition.LOST or (is_suspect and state.misses):
                if now >= state.next_try:
                    urgent.append((state.next_try, track.index))
            else:
                regular.append((state.queried - _HEAD_START * (is_suspect or state.was_cut), track.index))
        return [row[-1] for row in sorted(regular)], [row[-1] for row in sorted(urgent)]

    def _read_in_turn(self, track: ServoTrack, start: float, last_end: float) -> bool:
        """Read one servo if there is room; return whether there was."""
        link, state, scheduler = self._link, track.state, self.scheduler
        is_away = state.condition in _AWAY
        is_check = is_away or track.suspicious or start - state.checked >= self._config.tick.check_interval
        count = CHECK_COUNT if is_check else FEEDBACK_COUNT
        wire, now = link.read_time(count), max(link.now(), link.bus.line_free)
        cut: Optional[float] = last_end
        if self.reads:
            if self._has_missed and now + link.bus.timeouts.reply(8, count, link.bus.port.baud) > last_end:
                return False
            if not scheduler.fits(now, wire, start, last_end):
                return False
        else:
            scheduler.book(now + wire + scheduler.overhead - start)
            # A READ that was given up once runs to its end now; so does every READ on a link that is always slow.
            cut = None if state.was_cut else scheduler.cut(now, wire, last_end)
        if state.condition is Condition.LOST and state.misses % _PING_EVERY == _PING_EVERY - 1:
            self._ping(track, cut)
            return True
        # A servo that keeps silent costs one time-out, not two.
        is_silent = state.condition is Condition.LOST or state.misses >= self._config.servo.suspect_misses
        retries = 0 if is_silent else self._config.tick.retries
        outcome, reply = link.query(track, is_check, last_end, retries, cut)
        state.was_cut = outcome is Outcome.CUT
        is_first, self.reads = not self.reads, self.reads + 1
        began, now = now, link.now()
        if reply is None:
            if state.was_cut and is_first:
                scheduler.record(now - began - wire)  # at least so much; on a slow link it is so for all
            self._has_missed = True
            self._missed(track, now, outcome)
            return True
        if reply.attempts == 1:
            scheduler.record(reply.round_trip - wire)
        if track.condition is Condition.LOST:
            self.port.note_reply()
        if is_check:
            self._judge(track, now)
        return True

    # -- states ------------------------------------------------------------------------------------------------------

    def _judge(self, track: ServoTrack, now: float) -> None:
        """Change the state of a servo whose settings were just read."""
        link, before = self._link, track.condition
        event = self._settings.judge(track, now)
        if before is Condition.LOST and event is Event.FOUND_LIMP and not self._is_right_model(track):
            track.state.next_try = now + self._config.servo.lost_interval
            return
        if event is Event.RESTARTED:
            self._restarted(track)
        changed = track.on(event)
        if track.condition is Condition.SUSPECT or track.condition is Condition.LOST:
            track.state.next_try = now if changed or before is not Condition.LOST else now + 0.03
            return
        if not changed:
            return
        goal = int(link.table[Row.GOAL, track.index])  # the last that was sent to it: a READ may be garbled
        is_behind = abs(goal - int(link.map.steps(self._motion.position)[track.index])) > 1
        if before is Condition.SUSPECT and track.condition.gets_goals and is_behind:
            self._motion.rebase(track.index, link.angle(track.index, goal))
        if before is Condition.LOST and track.condition is not Condition.LIMP:
            self._motion.place(track.index, link.angle(track.index, goal))
            self._rungs.say("rejoined", Level.WARN, f"{track.name} answers again; its power never failed, it holds")
        elif before is Condition.LOST and not self._needs_torque(track.index):
            self._rungs.say("rejoined", Level.WARN, f"{track.name} answers again: torque stays off")
        elif before is Condition.REJOINING and track.condition is Condition.GOOD and "servo_lost" in self._rungs:
            self._rungs.say("rejoined", Level.INFO, f"{track.name} is back with full torque")
        elif before is Condition.SUSPECT and track.was_stale:
            self._rungs.say("suspect", Level.INFO, f"{track.name} answers again")
        track.was_stale = False

    def _is_right_model(self, track: ServoTrack) -> bool:
        """Return whether a servo that comes back is what the map has there; it may have been replaced."""
        try:
            problem = wrong_model(track, identify(self._link, track, 1).model_number)
        except NoReplyError as error:
            problem = f"{track.name} cannot be brought back yet: {error}"
        if problem:
            self._rungs.say("rejoin", Level.ERROR, f"{problem}; it stays out")
        return not problem

    def _restarted(self, track: ServoTrack) -> None:
        found, why = track.settings, "restarted (its power failed for a moment: check its supply)"
        if found is not None and found.lock and not found.torque_enable:
            why = "has its torque off"
        self._rungs.say("restarted", Level.ERROR, f"{track.name} {why}; it is brought back, the others hold")
        self._link.doubt_speeds()

    def _missed(self, track: ServoTrack, now: float, outcome: Outcome) -> None:
        """Change the state of a servo that did not reply."""
        config, state = self._config.servo, track.state
        if outcome is Outcome.MISSED and state.misses >= config.suspect_misses:
            silence = now - track.stamp
            is_silent = state.misses >= config.lost_misses or config.lost_after <= silence < np.inf
            if is_silent and track.on(Event.SILENT):
                self._rungs.say("lost", Level.INFO, f"{track.name} is lost after {state.misses} misses")
            elif state.misses == config.suspect_misses and state.condition is not Condition.LIMP:
                track.was_stale = True
                self._rungs.say(
                    "suspect", Level.WARN, f"{track.name} missed {state.misses} replies: its values are old"
                )
        track.on(Event.MISSED)
        if state.condition is Condition.LOST:
            # Many lost servos share the time-outs that one would have cost ten times over.
            state.next_try = now + config.lost_interval * max(1.0, len(self.roll.lost) / 10.0)
            if self.is_down:
                self.port.silent(len(self.roll.lost) == len(self._link.tracks), now)
        else:
            state.next_try = now + config.suspect_interval * (state.misses >= config.suspect_misses)

    def _ping(self, track: ServoTrack, cut: Optional[float]) -> None:
        """Query a lost servo with PING: one that answers it but no READ is not away."""
        self.reads += 1
        try:
            self._link.bus.ping(track.servo_id, 0, cut=cut)
            track.state.misses += 1
            track.state.next_try = self._link.now()
        except NoReplyError:
            self._has_missed = True
            track.miss()
            self._missed(track, self._link.now(), Outcome.MISSED)
            return
        if track.state.misses <= _PING_EVERY:
            return  # a single lost reply says nothing of its level
        text = f"{track.name} answers PING but no READ: its status return level is 0; scripts/servo prepare sets it"
        self._rungs.say("rejoin", Level.WARN, f"{text}, then rearm")

    def age(self, now: float) -> None:
        """Doubt servos that were not read for so long that they may have restarted; to be called before goals go."""
        ages = now - self._link.table[Row.STAMP]
        for index in np.flatnonzero(ages > self._config.servo.goals_until).tolist():
            track = self._link.tracks[index]
            if track.on(Event.AGED):
                track.state.next_try = now

    def limp_requested(self) -> List[ServoTrack]:
        """Return the limp servos that should hold."""
        return [t for t in self._link.tracks if t.condition is Condition.LIMP and self._needs_torque(t.index)]

    def _switch_on(self, now: float) -> None:
        """Switch on the limp servos that should hold, from a position that was read in this very tick."""
        link = self._link
        limp = self.limp_requested()
        self._report_impossible(now)
        if not limp:
            return
        ready, angles = [], link.map.angles(link.table[Row.STEPS])
        for track in limp:
            track.state.checked = NEVER  # its next READ is that of its settings and position, and then it is ready
            is_fresh = link.table[Row.SETTINGS_STAMP, track.index] >= now - self._config.tick.period
            if track.wrong:
                continue
            if (
                is_fresh
                and track.is_still
                and now >= track.raise_at
                and link.table[Row.TORQUE_ENABLED, track.index] == 0.0
            ):
                ready.append(track.index)
        link.torque_up(angles, self._speeds, ready, now)
        for index in ready:
            self._motion.place(index, float(angles[index]))
            if "servo_lost" in self._rungs:
                text = f"{link.tracks[index].name} answers again: goal set to where it stands, torque comes up"
                self._rungs.say("rejoined", Level.WARN, text)

    def _report_impossible(self, now: float) -> None:
        """Hold while a servo that should hold insists on what cannot be; its first words are kept."""
        wrong = {t.index: t for t in self._link.tracks if t.wrong and self._needs_torque(t.index)}
        self._refused = {i: self._refused.get(i, f"{t.name} reports {t.wrong}") for i, t in wrong.items()}
        if self._refused:
            text = f"{'; '.join(self._refused.values())}; holding, and where torque is off it stays off"
            self._rungs.set("implausible", Reaction.HOLD, text, False, now)
        else:
            self._rungs.clear("implausible", "every servo's readings are plausible again")
