# SPDX-License-Identifier: MIT
"""When Gazebo is to wait for the chain: a tick without an answer is a tick that the robot does not walk."""

from __future__ import annotations

from typing import Optional

BEHIND = 0.015  # s of simulated time without an answer: more than one tick, so that a chain that keeps up never waits
ANSWERED = 0.005  # s: less than half a tick
PATIENCE = 0.5  # s of wall clock, as in the embedded simulator: whoever does not answer for so long is gone


class Pace:
    """Decides to pause and to resume physics from the stamps of joint_states and of the joint_targets that answer them.

    Gazebo has no lock-step: on a machine that is too slow it runs ahead, and targets come for every second or third
    tick. So it is paused while the newest joint_states have no answer, for `PATIENCE` at most; a chain that is silent
    for longer is not waited for until it answers again. Who else pauses Gazebo is left alone.
    """

    def __init__(self) -> None:
        self.paused = False  #: By this object
        self.paused_for = 0.0  #: s of wall clock in all
        self._measured = self._answered = -float("inf")
        self._since = 0.0
        self._follows = False  # whether the chain answered lately

    def on_states(self, stamp: float, now: float) -> Optional[bool]:
        """Take the stamp (s) of joint_states at wall clock `now` (s); return whether to pause, None: change nothing."""
        if stamp < self._measured:  # the simulation was reset
            self._answered, self._follows = -float("inf"), False
        self._measured = stamp
        if self._follows and not self.paused and stamp - self._answered > BEHIND:
            self.paused, self._since = True, now
            return True
        return None

    def on_targets(self, stamp: float, now: float) -> Optional[bool]:
        """Take the stamp (s) of joint_targets, which is that of the joint_states that they answer; as `on_states`."""
        self._answered = stamp
        if abs(self._measured - stamp) > ANSWERED:
            return None
        self._follows = True
        return self._resume(now)

    def check(self, now: float) -> Optional[bool]:
        """Give up waiting after `PATIENCE`; as `on_states`."""
        if self.paused and now - self._since > PATIENCE:
            self._follows = False
            return self._resume(now)
        return None

    def _resume(self, now: float) -> Optional[bool]:
        if not self.paused:
            return None
        self.paused, self.paused_for = False, self.paused_for + now - self._since
        return False
