# SPDX-License-Identifier: MIT
"""What an operator took from the robot, which outlives a bus process: a stop until re-armed, torque until it is on."""

from __future__ import annotations

import threading
from typing import Optional, Tuple

from shellbot_motor_driver.process.shared_state import SharedState


class StopLatch:
    """Stops, counted, for the bus process of the moment and for the next. For any thread; nothing here waits.

    Attributes
    ----------
    count : int
        Stops so far; who asks for something looks at it before and after.
    is_limp : bool
        Stopped, or torque switched off: the next process must not begin with torque.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # held for microseconds
        self._shared: Optional[SharedState] = None
        self._over = 0
        self.count = 0
        self.is_limp = False

    @property
    def is_stopped(self) -> bool:
        """From a stop until `rearmed`: the next process must be stopped, too."""
        return self.count > self._over

    def attach(self, shared: SharedState) -> Tuple[int, int, bool]:
        """Tell stops to a process that is about to be launched; return `count`, how many are over, and `is_limp`."""
        with self._lock:
            self._shared = shared
            shared.put_stops(self.count)
            return self.count, self._over, self.is_limp

    def detach(self) -> None:
        """Forget the process."""
        with self._lock:
            self._shared = None

    def stop(self) -> None:
        """Stop the present process, and every one until `rearmed`."""
        with self._lock:
            self.count += 1
            self.is_limp = True
            if self._shared is not None:
                self._shared.put_stops(self.count)

    def torque_switched(self, on: bool, count: int) -> None:
        """Note that torque was switched; on only if nobody has stopped it since ``count``."""
        with self._lock:
            if not on or count == self.count:
                self.is_limp = not on

    def rearmed(self, count: int, was_stopped: bool) -> None:
        """Note that the first ``count`` stops are over."""
        with self._lock:
            self._over = max(self._over, count)
            if count == self.count:
                self.is_limp = self.is_limp and not was_stopped
