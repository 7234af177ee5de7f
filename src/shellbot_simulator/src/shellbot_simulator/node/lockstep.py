# SPDX-License-Identifier: MIT
"""Which command belongs to which tick, and when the simulator must wait for one.

Tick k publishes the state stamped t_k and then steps with the newest command that was computed from a state before it
(stamp <= t_(k-1)). Before tick k+1 the simulator waits for the command stamped t_k. So the latency is one tick,
whatever the real-time factor.
"""

from __future__ import annotations

import enum
import threading
from typing import Dict, NamedTuple, Optional

import numpy as np

_IN_FLIGHT = 20  # commands that may be under way at a reset


class Phase(enum.Enum):
    """How the simulator and the controller are coupled."""

    HOLD = "hold"  # no stamped command yet: hold the start pose, at most real time
    LOCKED = "locked"  # wait for the command of every tick
    FALLBACK = "fallback"  # stamped commands stopped: hold the last, at most real time


class Command(NamedTuple):
    """What the joints are to do."""

    values: np.ndarray  #: (n,) rad, or N m
    is_torque: bool = False


class CommandGate:
    """Commands on their way from the subscriber's thread to the physics loop. Thread safe.

    Parameters
    ----------
    tick_ns : int
        Length of a tick, ns.
    """

    def __init__(self, tick_ns: int) -> None:
        self._tick_ns = tick_ns
        self._wake = threading.Condition()
        self._interrupted = False
        self._phase = Phase.HOLD
        self._pending: Dict[int, Command] = {}
        self._unstamped: Optional[Command] = None
        self._published_ns = -1
        self._applied_ns = -1
        self._dropped = 0

    @property
    def phase(self) -> Phase:
        """The present coupling."""
        with self._wake:
            return self._phase

    def reset(self) -> None:
        """Forget every command; for a clock that starts again."""
        with self._wake:
            self._phase = Phase.HOLD
            self._pending.clear()
            self._unstamped = None
            self._published_ns = self._applied_ns = -1
            self._dropped = 0

    def offer(self, command: Command, stamp_ns: Optional[int]) -> Optional[str]:
        """Hand in a command (checked already).

        Parameters
        ----------
        command : Command
            Positions or torques.
        stamp_ns : int or None
            Stamp of the state it was computed from; None for a command by hand, which is applied at once.

        Returns
        -------
        str or None
            Why commands are dropped, if that must be reported.
        """
        with self._wake:
            if stamp_ns is None:
                self._unstamped = command
                self._wake.notify_all()
                return None
            if stamp_ns > self._published_ns:
                self._dropped += 1
                if self._dropped <= _IN_FLIGHT:
                    return None  # the last ones from before a reset
                return (
                    f"commands of {stamp_ns / 1e9:.2f} s lie ahead of the clock ({self._published_ns / 1e9:.2f} s): "
                    "dropping them; restart the controller, it did not notice the reset"
                )
            if stamp_ns <= self._applied_ns:
                return None  # a duplicate or a late one: newer ones are in force already
            self._pending[stamp_ns] = command
            # after a time-out a command a few ticks late is still a sign of life; an old one from a queue is not
            if self._phase is not Phase.LOCKED and stamp_ns >= self._published_ns - 5 * self._tick_ns:
                self._phase = Phase.LOCKED
            self._wake.notify_all()
            return None

    def published(self, stamp_ns: int) -> None:
        """Tell that the state of this stamp is about to be published: its command may arrive from now on."""
        with self._wake:
            self._published_ns = stamp_ns

    def take(self, limit_ns: int) -> Optional[Command]:
        """Return the command for the coming step, None if nothing new has come.

        Parameters
        ----------
        limit_ns : int
            Stamp of the state before the one just published: a newer command has to wait for its tick.
        """
        with self._wake:
            usable = [stamp for stamp in self._pending if stamp <= limit_ns]
            newest: Optional[Command] = None
            if usable:
                self._applied_ns = max(usable)
                newest = self._pending[self._applied_ns]
                for stamp in usable:
                    del self._pending[stamp]
            if self._unstamped is not None:
                newest = self._unstamped
                self._unstamped = None
            return newest

    def wait(self, stamp_ns: int, timeout: float) -> bool:
        """In phase LOCKED wait for the command of a stamp.

        Returns
        -------
        bool
            True if the next tick may begin (the command is here, or the phase needs none); False if `interrupt` was
            called or the time is over: call `give_up` then, or wait again.
        """
        with self._wake:
            self._wake.wait_for(lambda: self._interrupted or self._may_go(stamp_ns), timeout)
            self._interrupted = False
            return self._may_go(stamp_ns)

    def give_up(self) -> None:
        """Stop waiting for stamped commands until one comes again."""
        with self._wake:
            if self._phase is Phase.LOCKED:
                self._phase = Phase.FALLBACK

    def interrupt(self) -> None:
        """Wake a waiting loop, so that it can serve a request."""
        with self._wake:
            self._interrupted = True
            self._wake.notify_all()

    def _may_go(self, stamp_ns: int) -> bool:
        return self._phase is not Phase.LOCKED or stamp_ns in self._pending or stamp_ns <= self._applied_ns
