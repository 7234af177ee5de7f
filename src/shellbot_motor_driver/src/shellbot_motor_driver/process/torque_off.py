# SPDX-License-Identifier: MIT
"""Whether torque that was requested to be off is off: confirmed by every servo, or reported as an error."""

from __future__ import annotations

from typing import NamedTuple, Optional

import numpy as np

from shellbot_common import Level, Notice
from shellbot_control.joint_order import shorten
from shellbot_motor_driver.map.servo_map import ServoMap
from shellbot_motor_driver.process.orders import newest

Array = np.ndarray
OVERDUE_S = 0.2  # after which a stop that is not confirmed is shown as unconfirmed: before 0.3 s have passed
CONFIRM_S = 0.5  # after which that is logged, and it is no longer waited for


class TorqueOffStatus(NamedTuple):
    """Whether torque is off that was requested to be off."""

    requested_at: float = float("nan")  #: CLOCK_MONOTONIC of the last request, s; NaN while torque is requested
    confirmed: bool = False  #: Whether every servo has confirmed since then that its torque is off
    text: str = "torque is requested"  #: The same in one sentence, with the next step
    is_overdue: bool = False  #: Whether it should have been confirmed by now

    @property
    def is_requested(self) -> bool:
        """Whether torque is to be off."""
        return self.requested_at == self.requested_at


class TorqueOffWatch:
    """Compare what servos reported with when torque off was requested. Time is CLOCK_MONOTONIC, passed in.

    Attributes
    ----------
    trouble : str
        What was in the way of the last try to read them back, if anything.
    """

    def __init__(self, servo_map: ServoMap) -> None:
        self._names = [f"{entry.servo_id} {entry.joint}" for entry in servo_map.entries]
        self._read_back = np.zeros(len(self._names))
        self._pending_since: Optional[float] = None
        self._is_reported = False
        self.trouble = ""

    def learn(self, read_back: Array) -> None:
        """Take what servos reported, as `Pulse.read_back`."""
        self._read_back = newest(self._read_back, read_back)

    def is_confirmed(self, requested_at: float) -> bool:
        """Return whether every servo has confirmed after ``requested_at`` that its torque is off."""
        return bool((self._read_back > requested_at).all())

    def status(self, requested_at: float, now: float) -> TorqueOffStatus:
        """Return how it stands with a request; NaN: there is none."""
        if requested_at != requested_at:
            return TorqueOffStatus()
        missing = np.flatnonzero(~(self._read_back > requested_at))
        if not missing.size:
            text = f"torque is off: read back from all {len(self._names)} servos"
            return TorqueOffStatus(requested_at, True, text)
        names = shorten(self._names[i] for i in missing)
        since = requested_at if self._pending_since is None else min(requested_at, self._pending_since)
        is_overdue = now - since >= OVERDUE_S
        if is_overdue:
            text = f"TORQUE MAY BE ON at servos {names}: torque off is not confirmed; switch the power off"
            text += f" ({self.trouble})" if self.trouble else ""
        else:
            text = f"torque off is requested, {missing.size} of {len(self._names)} servos have not confirmed it yet"
        return TorqueOffStatus(requested_at, False, text, is_overdue)

    def report(self, requested_at: float, now: float) -> Optional[Notice]:
        """Return what to report now: once that a request is overdue, and once that it was confirmed after all."""
        if requested_at != requested_at or self.is_confirmed(requested_at):
            was_reported, self._is_reported, self._pending_since = self._is_reported, False, None
            if was_reported and requested_at == requested_at:
                return Notice("torque_off", Level.WARN, self.status(requested_at, now).text)
            return None
        # orders that follow each other quickly do not begin the time anew
        self._pending_since = requested_at if self._pending_since is None else self._pending_since
        status = self.status(requested_at, now)
        if self._is_reported or now - self._pending_since < CONFIRM_S:
            return None
        self._is_reported = True
        return Notice("torque_off", Level.ERROR, status.text)
