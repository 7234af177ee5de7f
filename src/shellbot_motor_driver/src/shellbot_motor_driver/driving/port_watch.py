# SPDX-License-Identifier: MIT
"""Whether the port is there, and its way back without a restart."""

from __future__ import annotations

from typing import Callable, Optional

from ax_bus.errors import PortError
from shellbot_motor_driver.driving.servo_link import ServoLink
from shellbot_motor_driver.driving.servo_state import NEVER, Event
from shellbot_motor_driver.safety.ladder import Reaction
from shellbot_motor_driver.safety.rungs import Rungs


class PortWatch:
    """Note that the port is gone, and open it again by its name with growing pauses.

    Parameters
    ----------
    link : ServoLink
        The servos behind it.
    rungs : Rungs
        The ladder.
    opened : callable
        Called with the time when the port was opened again.

    Attributes
    ----------
    is_open : bool
        Whether the port is there.
    """

    def __init__(self, link: ServoLink, rungs: Rungs, opened: Callable[[float], None]) -> None:
        self._link, self._rungs, self._config = link, rungs, link.config.bus
        self._opened = opened
        self.is_open = True
        self._reopen_at = 0.0
        self._back_off = self._config.reopen_first
        self._silent_since: Optional[float] = None

    def lost(self, error: BaseException, now: float) -> None:
        """Note that the port is gone."""
        if self.is_open:
            self.is_open = False
            self._back_off = self._config.reopen_first
            self._reopen_at = now + self._back_off
            text = f"bus down: {error}; the servos hold their last goals. The driver reopens the port; then rearm"
            self._rungs.set("bus_down", Reaction.HOLD, text, True, now)
        for track in self._link.tracks:
            track.on(Event.MISSED)  # no goals before its settings were read

    def try_reopen(self, now: float) -> bool:
        """Open the port again if it is time; return whether it is open."""
        if self.is_open or now < self._reopen_at:
            return self.is_open
        if not self._reopen(now):
            return False
        text = "the port is back; every servo is read before it gets goals. Rearm to resume"
        self._rungs.set("bus_down", Reaction.HOLD, text, True, now)
        self._opened(now)
        return True

    def _reopen(self, now: float) -> bool:
        self._back_off = min(2.0 * self._back_off, self._config.reopen_longest)
        try:
            self._link.bus.reopen()
        except PortError:
            self._reopen_at = self._link.now() + self._back_off
            return False
        self.is_open = True
        self._back_off = self._config.reopen_first
        self._link.doubt_speeds()
        for track in self._link.tracks:
            track.forget()
            track.state.checked = NEVER
            track.state.next_try = now
        return True

    def note_reply(self) -> None:
        """Note that a servo answers."""
        self._silent_since = None

    def silent(self, is_everyone: bool, now: float) -> None:
        """Reopen the port now and then while no servo answers: the adapter may hang."""
        if not is_everyone:
            self._silent_since = None
        elif self._silent_since is None:
            self._silent_since = now
        elif now - self._silent_since > 2.0 * self._config.reopen_longest:
            self._silent_since = None
            self.is_open = False
            self._reopen(now)
