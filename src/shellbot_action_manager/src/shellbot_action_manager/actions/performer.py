# SPDX-License-Identifier: MIT
"""Plays a planned action: speed, pause, resume and cancel, without a jump of the commanded velocity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Optional

import numpy as np

from shellbot_action_manager.actions.planning import Performance, Planner, Postures
from shellbot_common import TICK

_BACK = ("back to rest",)
_RATE_TIME = 0.3  # s in which the speed goes from nothing to that planned


class Outcome(Enum):
    """How a performance ended."""

    SUCCEEDED = "succeeded"
    CANCELLED = "cancelled"
    ABORTED = "aborted"


class Cancel(Enum):
    """When a cancelled action goes back to rest."""

    NOW = "now"
    AFTER_STEP = "after this step"


@dataclass(frozen=True)
class PerformanceStatus:
    """How far an action is."""

    name: str
    step: str  #: Such as "2 of 5: lift"
    phase: float  #: 0..1 of the step
    progress: float  #: 0..1 of the whole
    paused: bool
    outcome: Optional[Outcome] = None  #: None while it runs
    text: str = ""  #: Sentence about the outcome


class Performer:
    """Holds the action that is performed, or was last.

    Parameters
    ----------
    planner : Planner
        Plans the way back of a cancelled action.
    """

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self._performance: Optional[Performance] = None
        self._cancel: Optional[Cancel] = None
        self._paused = self._stopping = False
        self._time = self._rate = 0.0  # s of the performance; seconds of it per second
        self._speed, self._cancel_at = 1.0, 0.0
        self.status: Optional[PerformanceStatus] = None

    @property
    def active(self) -> bool:
        """Whether an action is loaded and has not ended."""
        return self.status is not None and self.status.outcome is None

    def load(self, performance: Performance, speed: float) -> None:
        """Take an action; `step` begins it. `speed` is a fraction of the planned one, positive."""
        self._performance, self._time, self._speed, self._rate = performance, 0.0, speed, 0.0
        self._paused, self._stopping, self._cancel = False, False, None
        self.status = self._reported(performance)

    def pause(self, paused: bool) -> None:
        """Come to rest within 0.3 s wherever the action is, or go on."""
        self._paused = paused

    def cancel(self, when: Cancel = Cancel.NOW) -> None:
        """Go back to rest, out of a pause too: lifted feet are put down first, then the body goes home."""
        if not self.active or self._cancel is not None or self._performance is None:
            return
        self._cancel, self._stopping, self._paused = when, when is Cancel.NOW, False
        self._cancel_at = self._end_of_step(self._performance)

    def end(self, outcome: Outcome, text: str) -> None:
        """End the action at once, where it is."""
        if self.active and self.status is not None:
            self.status = replace(self.status, outcome=outcome, text=text)

    def step(self, dt: float) -> Postures:
        """Return the posture `dt` (s) later, alone in its array."""
        performance = self._performance
        assert performance is not None
        wanted = 0.0 if self._paused or self._stopping else self._speed
        change = dt / _RATE_TIME
        self._rate += min(max(wanted - self._rate, -change), change)
        self._time = min(self._time + dt * self._rate, performance.duration)
        posture = self._at(performance)
        goes_back = self._rate == 0.0 if self._stopping else self._time >= self._cancel_at
        if self._cancel is not None and goes_back and performance.steps != _BACK:
            back = self._planner.back(posture)
            if self._planner.refusal(back, performance.footholds, performance.height) is None:
                performance = replace(performance, postures=back, steps=_BACK, ends=np.array([len(back.pose) - 1]))
                self._performance, self._time = performance, 0.0
            else:  # what was planned is free: go on with it, and try again after each of its steps
                self._cancel_at = self._end_of_step(performance)
            self._stopping = False
        self.status = self._reported(performance)
        if self._time >= performance.duration:
            if self._cancel is None:
                self.end(Outcome.SUCCEEDED, f"{performance.name} done")
            else:
                self.end(Outcome.CANCELLED, f"{performance.name} cancelled, back at rest")
        return posture

    def _end_of_step(self, performance: Performance) -> float:
        later = performance.ends[performance.ends > self._time / TICK]
        return TICK * float(later[0]) if len(later) else performance.duration

    def _at(self, performance: Performance) -> Postures:
        postures, index = performance.postures, self._time / TICK
        last = len(postures.pose) - 1
        i = min(int(index), last)
        part = index - i
        pairs = zip(vars(postures[i]).values(), vars(postures[min(i + 1, last)]).values())
        return Postures(*((1.0 - part) * a + part * b for a, b in pairs))

    def _reported(self, performance: Performance) -> PerformanceStatus:
        index, ends = self._time / TICK, performance.ends
        i = min(int(np.searchsorted(ends, index)), len(ends) - 1)
        begin = ends[i - 1] if i else 0
        phase = float(np.clip((index - begin) / max(ends[i] - begin, 1), 0.0, 1.0))
        step = f"{i + 1} of {len(ends)}: {performance.steps[i]}"
        return PerformanceStatus(performance.name, step, phase, index / max(ends[-1], 1), self._paused)
