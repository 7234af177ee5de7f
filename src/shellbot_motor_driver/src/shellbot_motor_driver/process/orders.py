# SPDX-License-Identifier: MIT
"""What parent and bus process exchange through shared memory, where neither waits: orders, and a pulse."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Ending(IntEnum):
    """How the bus process is to end."""

    NONE = 0
    HOLD = 1  # at once, joints hold
    SIT = 2  # sit down, then torque off
    OFF = 3  # torque off at once


class Orders(NamedTuple):
    """Everything that takes torque away, from the parent. Numbers only grow, so that none is lost or done twice."""

    #: stops, stops_over: Emergency stops so far, and how many of them were ended by rearming
    stops: int = 0
    stops_over: int = 0
    #: offs, offs_over: Requests to switch torque off so far, and how many of them were ended by switching it on
    offs: int = 0
    offs_over: int = 0
    ending: int = Ending.NONE  #: An `Ending`

    @property
    def is_stopped(self) -> bool:
        """Whether an emergency stop is in force."""
        return self.stops > self.stops_over

    @property
    def is_switched_off(self) -> bool:
        """Whether torque was switched off."""
        return self.offs > self.offs_over

    @property
    def requires_off(self) -> bool:
        """Whether no servo may have torque now."""
        return self.is_stopped or self.is_switched_off or self.ending == Ending.OFF


class Pulse(NamedTuple):
    """A sign of life from the bus process, and what it knows about torque."""

    beat: float  #: CLOCK_MONOTONIC of the last step that the process made, s; 0 before the first
    stops: int  #: The orders that it has obeyed
    offs: int  #: The orders that it has obeyed
    has_port: bool  #: Whether it has opened the port
    #: (n,) Per servo the time at which its register torque_enable was read last, s: positive if it was 0, negative if
    #: it was not, 0 before the first time
    read_back: Array

    def has_obeyed(self, orders: Orders) -> bool:
        """Return whether it has obeyed every stop and every torque-off so far."""
        return self.stops >= orders.stops and self.offs >= orders.offs


def newest(known: Array, more: Array) -> Array:
    """Return of two arrays like `Pulse.read_back` the newer entry of each servo."""
    return np.where(np.abs(more) > np.abs(known), more, known)
