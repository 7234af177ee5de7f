# SPDX-License-Identifier: MIT
"""Plays planned postures: speed, pause, resume, undo and the way back, without a jump of the commanded velocity."""

from __future__ import annotations

from dataclasses import replace
from typing import Tuple

import numpy as np

from shellbot_action_manager.actions.plan import Performance
from shellbot_action_manager.actions.planning import Planner
from shellbot_action_manager.actions.postures import Postures
from shellbot_common import TICK

BACK = "back to rest"
_RATE_TIME = 0.3  # s in which the speed goes from nothing to that planned


class Player:
    """Plays one `Performance`.

    Parameters
    ----------
    planner : Planner
        Plans the way back to rest.
    performance : Performance
        What to play.
    """

    def __init__(self, planner: Planner, performance: Performance) -> None:
        self._planner, self._performance = planner, performance
        self._time = self._rate = 0.0  # s of the performance; seconds of it per second
        self._back_at = np.inf  # s of the performance from which the robot goes back to rest
        self._undo_to = -1.0  # s of the performance to which it is played backwards; negative: it is not
        self._is_return_requested, self._stopping, self.is_returning = False, False, False

    @property
    def ended(self) -> bool:
        """Whether the last posture was played."""
        return self._time >= self._performance.duration

    @property
    def undoing(self) -> bool:
        """Whether it is played backwards."""
        return self._undo_to >= 0.0

    @property
    def status(self) -> Tuple[int, str, float]:
        """The step that is played: its number from 0, its name, and the fraction of it that was played."""
        performance, index = self._performance, self._time / TICK
        ends = performance.ends
        i = min(int(np.searchsorted(ends, index)), len(ends) - 1)
        begin = ends[i - 1] if i else 0
        return i, performance.steps[i], float(np.clip((index - begin) / max(ends[i] - begin, 1), 0.0, 1.0))

    @property
    def played(self) -> float:
        """Time of the performance that was played, s."""
        return self._time

    def go_back(self, after_step: bool) -> None:
        """Go back to rest, now or at the end of the present step: lifted feet first, then the body."""
        if self.is_returning:
            return
        self._is_return_requested, self._stopping, self._undo_to = True, not after_step, -1.0
        self._back_at = self._end_of_step()

    def undo(self) -> bool:
        """Play the present step backwards, or the one before if it has only begun; return whether there is one."""
        begins = np.concatenate(([0], self._performance.ends[:-1])) * TICK
        earlier = begins[begins < self._time - 0.5 * TICK]
        if not len(earlier) or self._is_return_requested:
            return False
        self._undo_to = float(earlier[-1])
        return True

    def step(self, dt: float, speed: float, paused: bool) -> Postures:
        """Return the posture `dt` (s) later, alone in its array; `speed` is a fraction of the planned one."""
        performance = self._performance
        if not paused:  # who resumes does not undo
            self._undo_to = -1.0
        requested = 0.0 if self._stopping else -speed if self.undoing else 0.0 if paused else speed
        change = dt / _RATE_TIME
        self._rate += min(max(requested - self._rate, -change), change)
        self._time = min(max(self._time + dt * self._rate, 0.0), performance.duration)
        if self.undoing and self._time <= self._undo_to:  # the ends of steps are at rest: no jump of the velocity
            self._time, self._rate, self._undo_to = self._undo_to, 0.0, -1.0
        posture = self._posture(performance)
        if self._is_return_requested and not self.is_returning:
            self._try_back(posture)
        return posture

    def _try_back(self, posture: Postures) -> None:
        if not (self._rate == 0.0 if self._stopping else self._time >= self._back_at):
            return
        performance, back = self._performance, self._planner.back(posture)
        if self._planner.check.refusal(back, performance.footholds, performance.height) is None:
            self._performance = replace(performance, postures=back, steps=(BACK,), ends=np.array([len(back.pose) - 1]))
            self._time, self.is_returning = 0.0, True
        else:  # what was planned is free: go on with it, and try again after each of its steps
            self._back_at = self._end_of_step()
        self._stopping = False

    def _end_of_step(self) -> float:
        later = self._performance.ends[self._performance.ends > self._time / TICK]
        return TICK * float(later[0]) if len(later) else self._performance.duration

    def _posture(self, performance: Performance) -> Postures:
        postures, index = performance.postures, self._time / TICK
        last = len(postures.pose) - 1
        i = min(int(index), last)
        part = index - i
        pairs = zip(vars(postures[i]).values(), vars(postures[min(i + 1, last)]).values())
        return Postures(*((1.0 - part) * a + part * b for a, b in pairs))
