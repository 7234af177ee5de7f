# SPDX-License-Identifier: MIT
"""How the motor driver starts: checks first, then goal := present, then torque, a little at first."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np

from ax_bus.errors import NoReplyError
from shellbot_control import Level
from shellbot_motor_driver.driving.driver_core import BLIND_START, DriverCore
from shellbot_motor_driver.driving.driver_state import Condition
from shellbot_motor_driver.driving.servo_setup import check_servos
from shellbot_motor_driver.driving.servo_table import Row
from shellbot_motor_driver.driving.servo_track import ServoTrack
from shellbot_motor_driver.driving.start_report import StartReport
from shellbot_motor_driver.errors import StartError
from shellbot_motor_driver.safety.ladder import Phase, Reaction

Array = np.ndarray
_HELD_NEAR = 0.2  # rad; a servo whose goal is farther from where it stands is not simply left to it
_BREATH = 0.02  # s between two tries at start


class StartingDriver(DriverCore):
    """A driver that can be started."""

    def _begin(self, torque: bool) -> StartReport:
        """Check everything, then bring the torque up (over the following ticks), if ``torque``.

        Raises
        ------
        StartError
            If a servo is missing, doubled, of another model, in wheel mode or unable to answer, or the wiring is unfit;
            nothing has moved.
        PortLostError
            If the port goes away meanwhile.
        """
        link = self._link
        report = check_servos(link)
        if report.is_write_only:
            self._start_blind(torque)
        else:
            report = self._start_seeing(report, torque)
            self._watch.scheduler.seed(tuple(self.bus.statistics.round_trips))
        link.stop_wheel(self.config.fan.stop_burst)
        self._everyone = tuple(i for i in range(len(link.tracks)) if i != link.wheel)
        for text in report.notices:
            self._rungs.say("start", Level.WARN, text)
        self._now = self.bus.port.now()
        self._due = self._now - self.config.tick.period
        self._phase = Phase.STARTING
        self._is_starting = self._wishes_torque
        self._update_phase(self._now)
        return report

    def _start_blind(self, torque: bool) -> None:
        """Write-only: nobody knows where the joints are, so the servos go to "sit" slowly and with rising torque."""
        link, now = self._link, self._link.now()
        for track in link.tracks:
            track.set_condition(Condition.UNREAD)
            track.verified = True
        self._motion.reset(self._sit)
        if torque:
            link.torque_up(self._sit, self._speeds.crawl, range(len(link.tracks)), now)
            self._starting_until = now + BLIND_START
            self._wishes_torque = True

    def _start_seeing(self, report: StartReport, torque: bool) -> StartReport:
        link, holding, steps = self._link, [], []
        for track in link.tracks:
            settings = track.settings
            if settings is not None and settings.torque_enable:
                with contextlib.suppress(NoReplyError):  # asked twice: it decides about torque
                    settings = link.check(track, self.config.start.ping_tries)
            is_on = settings is not None and bool(settings.torque_enable) and track.index != link.wheel
            goal = settings.goal if is_on and settings is not None else track.steps
            holding.append(is_on)
            steps.append(goal)
        angles = self.servo_map.angles(np.array(steps))
        measured = self.servo_map.angles(np.array([track.steps for track in link.tracks]))
        self._motion.reset(np.where(np.abs(angles - measured) <= _HELD_NEAR, angles, measured))
        now = link.now()
        for track in link.tracks:
            if holding[track.index]:
                limit = track.settings.torque_limit if track.settings is not None else 0
                link.torque.switch_on([track.index], now, link.torque.share_of(track.index, limit))
                track.verified = True
                link.table[Row.GOAL, track.index] = steps[track.index]
        if any(holding):
            text = "the driver was started anew while servos held: they hold on; re-arm to go on"
            self._rungs.set("restarted", Reaction.HOLD, text, True, now)
            self._wishes_torque = True
            return replace(report, resumed=True)
        if torque:
            problems = [text for text in map(self._bring_up, link.tracks) if text]
            if problems:
                link.torque_off(range(len(link.tracks)), 3)
                raise StartError("torque is off again:\n  " + "\n  ".join(problems))
            self._wishes_torque = True
        else:
            self._rungs.set("torque_off", Reaction.OFF, "torque is off until it is switched on", False, now)
        return report

    def _bring_up(self, track: ServoTrack) -> str:
        """Switch the torque of one servo on at start; return why not, or nothing."""
        error, tries = "", self.config.start.ping_tries
        for _ in range(tries if track.index != self._link.wheel else 0):
            try:
                angle = self._link.rejoin(track, int(self._speeds.slow[track.index]), True, tries - 1)
                self._motion.place(track.index, angle)
                return ""
            except NoReplyError as reason:  # a host that stalled, not a servo: it answered before
                error = str(reason)
                self.bus.port.sleep(_BREATH)
        return error
