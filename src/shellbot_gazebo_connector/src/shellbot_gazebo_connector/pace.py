# SPDX-License-Identifier: MIT
"""When Gazebo makes its next steps: after the command that answers the newest joint_states."""

from __future__ import annotations

import math
from typing import Optional

from shellbot_common import TICK, Stamp, classify_stamp

PATIENCE = 2.0  # s of wall clock: whoever does not answer for so long is gone, and Gazebo runs without
# s of wall clock: joints without an answer for so long get one step. Gazebo measures its IMU in a thread of its own and
# sends it in a step; on a busy machine a tick may end before that thread has run, and the chain waits for the IMU
NUDGE = 0.3


class Pace:
    """Decides on the steps of Gazebo from the stamps of joint_states and of the commands that answer them.

    Until the first command, and once the last one is older than `PATIENCE`, Gazebo runs by itself. Otherwise it is
    paused, and the steps of a tick are made when the tick before has its command: a slow machine makes the simulation
    slow, and changes nothing else.

    Parameters
    ----------
    step : float
        Gazebo's step, s.
    """

    def __init__(self, step: float) -> None:
        self.follows = False  #: Whether Gazebo is paused and makes steps by answers
        self.tick = round(TICK / step)  #: Steps from one joint_states to the next
        self.lost = 0  #: Ticks between the first and the newest command that have none
        self._step = step
        self._measured = self._answered = -float("inf")
        self._since = 0.0
        self._nudge_at, self._nudged = float("inf"), 0  # when the next one is due, and steps of this tick made so
        self._clock, self._silent_until = -float("inf"), -float("inf")

    def silent_until(self, clock: float) -> Optional[float]:
        """Take Gazebo's clock (s); return when joint_states and IMU come again after it was set back, None if they do.

        joint_state_controller and Gazebo's IMU plugin send nothing until the clock has passed their last message.
        """
        if classify_stamp(self._clock, clock) is Stamp.RESET:
            self._silent_until = max(self._silent_until, self._clock)
        self._clock = clock
        return self._silent_until if clock < self._silent_until else None

    def on_states(self, stamp: float, now: float) -> None:
        """Take the stamp (s) of joint_states at wall clock `now` (s); those that a command overtook change nothing."""
        if classify_stamp(self._measured, stamp) is Stamp.LATE:
            return
        is_answered = abs(stamp - self._answered) < 0.5 * self._step
        self._measured, self._nudge_at = stamp, float("inf") if is_answered else now + NUDGE

    def on_command(self, stamp: float, now: float) -> bool:
        """Take the stamp (s) of a command, which is that of the joint_states that it answers, at wall clock `now` (s).

        Returns
        -------
        bool
            Whether a tick is due.
        """
        is_new = stamp > self._measured - 0.5 * self._step and stamp != self._answered
        if is_new:  # it may overtake the states on their way here
            if math.isfinite(self._answered):
                self.lost += max(0, round((stamp - self._answered) / TICK) - 1)
            self._measured = self._answered = stamp
            self._since, self._nudge_at = now, float("inf")
        return is_new

    def begin(self, time: float) -> int:
        """Begin to follow, paused at `time` (s); return how many steps lead to the next joint_states."""
        self.follows, self._nudged = True, 0
        return self.tick - round((time - self._measured) / self._step) % self.tick

    def steps(self) -> int:
        """Return how many steps lead from the present tick to the next one."""
        nudged, self._nudged = self._nudged, 0
        return self.tick - nudged

    def is_stuck(self, now: float) -> bool:
        """Return whether to make one step of the next tick now, before the answer: a sensor waits for it."""
        if not self.follows or now < self._nudge_at or self._nudged >= self.tick // 2:
            return False
        self._nudged, self._nudge_at = self._nudged + 1, now + NUDGE
        return True

    def is_silent(self, now: float) -> bool:
        """Return whether nothing has been answered for `PATIENCE`."""
        return now - self._since > PATIENCE
