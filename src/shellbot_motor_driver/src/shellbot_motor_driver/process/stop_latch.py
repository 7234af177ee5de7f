# SPDX-License-Identifier: MIT
"""What an operator took from the robot, which outlives a bus process: a stop until rearmed, torque until it is on."""

from __future__ import annotations

import threading
from typing import Optional

from shellbot_motor_driver.process.orders import Ending, Orders
from shellbot_motor_driver.process.shared_state import SharedState

_NEVER = float("nan")


class StopLatch:
    """The orders in force, for the bus process of the moment and for the next. For any thread; nothing here waits.

    Attributes
    ----------
    orders : Orders
        Everything so far; a request that gives torque back takes what was known when it began.
    requested_at : float
        CLOCK_MONOTONIC of the last order that takes torque away, s; NaN while torque is requested.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # held for microseconds; a signal handler may interrupt its holder
        self._shared: Optional[SharedState] = None
        self.orders = Orders()
        self.requested_at = _NEVER

    @property
    def is_limp(self) -> bool:
        """Whether torque is to be off."""
        return self.orders.requires_off

    def attach(self, shared: SharedState) -> Orders:
        """Show the orders to a process that is about to be launched, and every later one."""
        with self._lock:
            self._shared = shared
            shared.put_orders(self.orders)
            return self.orders

    def detach(self) -> None:
        """Forget the process."""
        with self._lock:
            self._shared = None

    def stop(self, now: float) -> None:
        """Stop the present process, and every one until `rearmed`."""
        with self._lock:
            self._put(self.orders._replace(stops=self.orders.stops + 1), now)

    def switch_off(self, now: float) -> None:
        """Switch torque off in the present process, and in every one until `switched_on`."""
        with self._lock:
            self._put(self.orders._replace(offs=self.orders.offs + 1), now)

    def end(self, ending: Ending, now: float) -> None:
        """Let the process end; torque off outranks sitting, which outranks holding."""
        with self._lock:
            ending = max(ending, Ending(self.orders.ending))
            self._put(self.orders._replace(ending=ending), now if ending is Ending.OFF else self.requested_at)

    def begin(self) -> None:
        """Note that a process is to run again: no ending is in force."""
        with self._lock:
            self._put(self.orders._replace(ending=Ending.NONE), self.requested_at)

    def switched_on(self, known: Orders) -> None:
        """Note that torque was switched on by a request that knew of the orders ``known``."""
        with self._lock:
            self._put(self.orders._replace(offs_over=max(self.orders.offs_over, known.offs)), self.requested_at)

    def rearmed(self, known: Orders) -> None:
        """Note that the stops among ``known`` are over."""
        with self._lock:
            self._put(self.orders._replace(stops_over=max(self.orders.stops_over, known.stops)), self.requested_at)

    def _put(self, orders: Orders, requested_at: float) -> None:
        self.orders = orders
        self.requested_at = requested_at if orders.requires_off else _NEVER
        if self._shared is not None:
            self._shared.put_orders(orders)
