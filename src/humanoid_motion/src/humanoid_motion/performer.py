# SPDX-License-Identifier: MIT
"""Motions performed on request: played tick by tick, paused, cancelled, and followed to their end."""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping, Optional

import numpy as np

from humanoid_motion.motions import HOLD, KeyMotion
from humanoid_motion.parameters import WalkError
from shellbot_common import TICK
from shellbot_common.performance import Outcome, PerformanceStatus

GET_UP = "get_up"
"""Name of the action that gets the robot up after a fall; the fall manager plays its motions."""
GET_UP_TEXT = "gets up after a fall, as the mode recover"
SLOWEST = 0.05  # fraction of the speed that the frames mean
_BRAKE = 0.2  # s in which a motion that is paused or cancelled comes to rest on its path
_PLAYED = 0.95  # progress of a motion whose last frame is reached, before the robot stands


class _Player:
    """One motion, at a pace that falls to zero and rises again without a jump."""

    def __init__(self, motion: KeyMotion, q: np.ndarray, speed: float) -> None:
        curve = motion.begin(q, speed)
        self.motion, self.at, self.duration = motion, curve.at, curve.duration
        table = curve(np.arange(0.0, curve.duration + 2.0 * TICK, TICK))  # which stands still at its end
        points = np.vstack((q, motion.frames))
        self._table = np.clip(table, np.nanmin(points, axis=0), np.nanmax(points, axis=0))  # but for a rounding, it is
        self.time, self._pace, self.is_halted = 0.0, 0.0, False

    def step(self) -> np.ndarray:
        change = TICK / _BRAKE
        self._pace += min(max(float(not self.is_halted) - self._pace, -change), change if self.time else 1.0)
        self.time = min(self.time + self._pace * TICK, self.duration)
        row, part = divmod(self.time / TICK, 1.0)
        before, after = self._table[int(row) : int(row) + 2]
        return np.asarray(before + part * (after - before))

    @property
    def rests(self) -> bool:
        return self._pace <= 0.0

    @property
    def is_over(self) -> bool:
        return self.time > self.duration - 1e-6  # ticks add up to it but for a rounding


class Performer:
    """One action at a time, from its request to its end.

    Parameters
    ----------
    motions : mapping of str to KeyMotion
        That can be performed.

    Attributes
    ----------
    motions : mapping of str to KeyMotion
        As given.
    status : PerformanceStatus or None
        Of the present action or the one before; None before the first.
    """

    def __init__(self, motions: Mapping[str, KeyMotion]) -> None:
        self.motions = dict(motions)
        self.status: Optional[PerformanceStatus] = None
        self._player: Optional[_Player] = None
        self._end = Outcome.SUCCEEDED, ""  # outcome and sentence, once the robot stands again

    @property
    def is_active(self) -> bool:
        """Whether an action goes on."""
        return self.status is not None and not self.status.outcome

    @property
    def is_cancelled(self) -> bool:
        """Whether the action was cancelled."""
        return self._end[0] is Outcome.CANCELLED

    @property
    def is_played(self) -> bool:
        """Whether the motion is over, or has come to rest after a cancel."""
        player = self._player
        return player is None or player.is_over or (self.is_cancelled and player.rests)

    @property
    def holds(self) -> bool:
        """Whether the robot stays in the last frame of this motion."""
        return self._player is not None and self._player.motion.then == HOLD and not self.is_cancelled

    def find(self, name: str, speed: float) -> KeyMotion:
        """Return a motion by name; raises WalkError if there is none, or the speed is no fraction."""
        if name not in self.motions:
            raise WalkError(f"there is no motion {name!r}; there are {', '.join([*self.motions, GET_UP])}")
        if not SLOWEST <= speed <= 1.0:
            raise WalkError(f"speed is {speed:g}; give a fraction of the usual speed from {SLOWEST:g} to 1")
        return self.motions[name]

    def begin(self, motion: KeyMotion, q: np.ndarray, speed: float) -> float:
        """Begin a motion from joint angles (n,), rad; returns its duration, s."""
        self._player, self._end = _Player(motion, q, speed), (Outcome.SUCCEEDED, f"{motion.name} is performed")
        self.status = PerformanceStatus(motion.name, "")
        self._describe(self._player)
        return self._player.duration

    def begin_get_up(self) -> None:
        """Follow getting up, which the fall manager plays."""
        self._player, self._end = None, (Outcome.SUCCEEDED, "it has got up and stands")
        self.status = PerformanceStatus(GET_UP, "")

    def step(self) -> np.ndarray:
        """Return the command (n,), rad, of the next tick of the motion."""
        assert self._player is not None
        command = self._player.step()
        self._describe(self._player)
        return command

    def pause(self, paused: bool) -> str:
        """Hold the motion where it is, or let it go on; returns a sentence, raises WalkError without a motion."""
        if not self.is_active or self._player is None or self.is_played or self.is_cancelled:
            raise WalkError("no motion is being played; perform one first, such as scripts/action run wave")
        assert self.status is not None
        self._player.is_halted = paused
        self.status = replace(self.status, paused=paused)
        return f"{self.status.name} {'pauses' if paused else 'goes on'}"

    def cancel(self, reason: str) -> None:
        """Let the motion come to rest, on the way back to the stance; nothing if none goes on."""
        if self.is_active:
            assert self.status is not None
            self._end = Outcome.CANCELLED, f"{self.status.name} is cancelled: {reason}"
            self.status = replace(self.status, step="comes to rest", paused=False)
            if self._player is not None:
                self._player.is_halted = True

    def go_back(self) -> None:
        """Take note that the robot goes back to its stance."""
        if self.status is not None:
            self.status = replace(self.status, step="back to the stance", phase=0.0, progress=_PLAYED, paused=False)

    def show(self, step: str) -> None:
        """Take note of what another part plays for the action."""
        if self.status is not None:
            self.status = replace(self.status, step=step)

    def finish(self) -> None:
        """End the action as it was to end."""
        self.end(*self._end)

    def end(self, outcome: Outcome, text: str) -> None:
        """End the action; nothing if none goes on."""
        if self.is_active:
            assert self.status is not None
            self._player = None
            progress = 1.0 if outcome is Outcome.SUCCEEDED else self.status.progress
            self.status = replace(self.status, outcome=outcome, text=text, progress=progress, paused=False)

    def _describe(self, player: _Player) -> None:
        assert self.status is not None
        if self.is_cancelled:
            return
        count = len(player.at) - 1
        frame = min(int(np.searchsorted(player.at, player.time, side="right")), count)
        begin, end = player.at[frame - 1 : frame + 1].tolist()
        phase, progress = (player.time - begin) / (end - begin), _PLAYED * player.time / player.duration
        self.status = replace(self.status, step=f"frame {frame} of {count}", phase=phase, progress=progress)
