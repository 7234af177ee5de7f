# SPDX-License-Identifier: MIT
"""How the motor driver starts: checks first, then goal := present, then torque, a little at first."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import List, Optional, Set

import numpy as np

from ax_bus.errors import NoReplyError
from shellbot_motor_driver.driving.goal_speeds import GoalSpeeds
from shellbot_motor_driver.driving.motion import Motion
from shellbot_motor_driver.driving.servo_link import LOCK, ServoLink
from shellbot_motor_driver.driving.servo_setup import check_servos
from shellbot_motor_driver.driving.servo_state import Condition, Event
from shellbot_motor_driver.driving.servo_table import Row
from shellbot_motor_driver.driving.servo_track import ServoTrack
from shellbot_motor_driver.driving.start_report import StartReport
from shellbot_motor_driver.errors import StartError
from shellbot_motor_driver.safety.ladder import Reaction
from shellbot_motor_driver.safety.rungs import Rungs

_HELD_NEAR = 0.2  # rad; a servo whose goal is farther from where it stands is not simply left to it
_BREATH = 0.02  # s between two tries at start


class Start:
    """Check the servos and bring them to where the first tick begins.

    Parameters
    ----------
    rungs : Rungs
        The ladder.
    motion : Motion
        The command, which begins where the joints are.
    speeds : GoalSpeeds
        Moving speeds.

    Attributes
    ----------
    held : set of int
        Servos that held already: a driver before this one left them so.
    """

    def __init__(self, link: ServoLink, rungs: Rungs, motion: Motion, speeds: GoalSpeeds) -> None:
        self._link, self._rungs, self._motion, self._speeds = link, rungs, motion, speeds
        self.held: Set[int] = set()

    def run(self, torque: bool, sit: np.ndarray) -> StartReport:
        """Check everything; switch torque on if ``torque``, unless servos hold already.

        Parameters
        ----------
        torque : bool
            Whether torque comes on.
        sit : (n,) array
            Pose that servos of unknown position are sent to, rad.

        Raises
        ------
        StartError
            If a servo is missing, doubled, of another model, in wheel mode or unable to answer with what can be, or the
            wiring is unfit; nothing has moved.
        PortLostError
            If the port goes away meanwhile.
        """
        link = self._link
        report = check_servos(link)
        if report.is_write_only:
            for track in link.tracks:
                track.on(Event.UNREADABLE)
            self._motion.reset(sit)
            if torque:
                joints = [i for i in range(len(link.tracks)) if i != link.wheel]
                link.torque_up(sit, self._speeds.crawl, joints, link.now())
            return report
        self._take_over()
        if self.held:
            text = "the driver was restarted while servos held: they keep holding; rearm to resume"
            self._rungs.set("restarted", Reaction.HOLD, text, True, link.now())
            return replace(report, resumed=True)
        if torque:
            problems = [text for text in map(self._bring_up, link.tracks) if text]
            if problems:
                link.all_off(link.config.fan.stop_burst)
                raise StartError("torque is off again:\n  " + "\n  ".join(problems))
        else:
            self._rungs.set("torque_off", Reaction.OFF, "torque is off until it is switched on", False, link.now())
        return report

    def _take_over(self) -> None:
        """Find the servos that hold; the command begins at their goals, and at the positions of the others."""
        link, steps = self._link, []
        for track in link.tracks:
            settings = track.settings
            if settings is not None and settings.torque_enable:
                with contextlib.suppress(NoReplyError):  # queried twice: it decides about torque
                    settings = link.check(track, link.config.start.ping_tries)
            is_on = settings is not None and bool(settings.torque_enable) and track.index != link.wheel
            if is_on and settings is not None:
                self.held.add(track.index)
                self._lock(track, settings.lock)
                fraction = link.torque.fraction_of(track.index, settings.torque_limit)
                link.torque.switch_on([track.index], link.now(), fraction)
                link.torque.written[track.index] = settings.torque_limit
                link.table[Row.GOAL, track.index] = settings.goal
            elif track.index != link.wheel:
                track.on(Event.RELEASED)
            steps.append(settings.goal if is_on and settings is not None else track.steps)
        angles = link.map.angles(np.array(steps))
        measured = link.map.angles(np.array([track.steps for track in link.tracks]))
        self._motion.reset(np.where(np.abs(angles - measured) <= _HELD_NEAR, angles, measured))

    def _lock(self, track: ServoTrack, lock: int) -> None:
        """Lock the EEPROM of a servo that holds, which other programs leave open: it would pass for a restarted one."""
        link = self._link
        for _ in range(link.config.start.ping_tries):
            if lock or not link.config.start.lock_eeprom:
                return
            link.put(LOCK, {track.index: b"\x01"})
            with contextlib.suppress(NoReplyError):
                lock = link.check(track, link.config.start.ping_tries).lock

    def _bring_up(self, track: ServoTrack) -> str:
        """Switch the torque of one servo on; return why not, or nothing."""
        link, i, error = self._link, track.index, ""
        for _ in range(link.config.start.ping_tries if i != link.wheel else 0):
            try:
                angle = self._raise(track)
                if angle is not None:
                    self._motion.place(i, angle)
                    return ""
                error = f"{track.name} does not accept its settings"
            except NoReplyError as reason:  # a host that stalled, not a servo: it answered before
                error = str(reason)
                link.bus.port.sleep(_BREATH)
        return error

    def _raise(self, track: ServoTrack) -> Optional[float]:
        """Try once: torque off, goal := present, torque on, read back; return its joint angle, rad, if it took it."""
        link, i = self._link, track.index
        retries = link.config.start.ping_tries - 1
        if link.torque.on[i] or track.settings is None or track.settings.torque_enable:
            link.torque_off([i])
        if link.check(track, retries).torque_enable:
            return None
        angle = link.angle(i, track.steps)
        angles: List[float] = self._motion.position.tolist()
        angles[i] = angle
        link.torque_up(np.array(angles), self._speeds.slow, [i], link.now())
        found = link.check(track, retries)
        is_taken = bool(found.torque_enable) and found.goal == int(link.table[Row.GOAL, i])
        return angle if is_taken and track.condition is Condition.SUSPECT else None
