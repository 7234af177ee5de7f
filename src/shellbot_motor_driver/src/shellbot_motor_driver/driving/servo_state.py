# SPDX-License-Identifier: MIT
"""The state of one servo, and every event that changes it: one table, so that it can be read and tested as a whole.

======== ==============================================================================================  =====
state    means                                                                                           goals
======== ==============================================================================================  =====
GOOD     answers, has the settings that were written                                                     yes
REJOINING as GOOD, while its torque still rises                                                          yes
SUSPECT  missed a reply, was not read for too long, differs from what was written, or was just switched  no
         on: a READ of its settings decides
LOST     silent, or it restarted: the others hold                                                        no
LIMP     its torque is off, by request or after it was lost                                              no
UNREAD   nothing is read on this wiring                                                                  yes
======== ==============================================================================================  =====
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Mapping, Tuple

NEVER = float("-inf")


class Condition(IntEnum):
    """State of a servo."""

    GOOD = 0
    SUSPECT = 1
    LOST = 2
    REJOINING = 3
    UNREAD = 4
    LIMP = 5

    @property
    def gets_goals(self) -> bool:
        """Whether goals may be sent: they may switch torque on, so only to a servo whose settings were read."""
        return self in _GET_GOALS


_GET_GOALS = frozenset((Condition.GOOD, Condition.REJOINING, Condition.UNREAD))


class Event(Enum):
    """What happens to a servo."""

    MISSED = "a READ without a valid, plausible reply"
    AGED = "its last reading is too old, whether it was queried or not"
    DIFFERS = "its settings are not what was written"
    SILENT = "misses in a row, or too long without a reply"
    RESTARTED = "its settings are not what was written, twice in a row"
    RAMPING = "its settings are as written, its torque still rises"
    STEADY = "its settings are as written"
    FOUND_LIMP = "answers with its torque off"
    RELEASED = "torque off was sent"
    RAISED = "goal := present and torque on were sent"
    UNREADABLE = "found at start that nothing can be read on this wiring"


_C, _E = Condition, Event
_HOLDING: Mapping[Event, Condition] = {
    _E.MISSED: _C.SUSPECT,
    _E.AGED: _C.SUSPECT,
    _E.DIFFERS: _C.SUSPECT,
    _E.SILENT: _C.LOST,
    _E.RESTARTED: _C.LOST,
    _E.RAMPING: _C.REJOINING,
    _E.STEADY: _C.GOOD,
    _E.RELEASED: _C.LIMP,
    _E.UNREADABLE: _C.UNREAD,
}
# What is not in the table leaves the state as it is.
TRANSITIONS: Mapping[Condition, Mapping[Event, Condition]] = {
    _C.GOOD: _HOLDING,
    _C.REJOINING: _HOLDING,
    _C.SUSPECT: _HOLDING,
    # With torque, lock, compliance and limit as written its power never failed: it keeps its torque.
    _C.LOST: {_E.RAMPING: _C.REJOINING, _E.STEADY: _C.GOOD, _E.FOUND_LIMP: _C.LIMP},
    # The only way up: goal := present is sent, and then read back like anything else.
    _C.LIMP: {_E.SILENT: _C.LOST, _E.RAISED: _C.SUSPECT},
    _C.UNREAD: {},
}


class ServoState:
    """State of a servo and what belongs to it.

    Attributes
    ----------
    condition : Condition
        The state.
    misses : int
        READs without a valid reply in a row.
    queried : float
        When it was last queried, s.
    next_try : float
        While SUSPECT or LOST: when it may be queried again, s.
    checked : float
        When its settings were last read, s; -inf if the next READ must read them.
    was_cut : bool
        Whether its last READ was given up for the next goals: then the next one runs to its end.
    differs : int
        READs of its settings in a row that were not as written.
    is_settled : bool
        Whether it was seen with the compliance that was written; if that is gone, it has restarted.
    """

    def __init__(self) -> None:
        self.condition = Condition.GOOD
        self.misses = self.differs = 0
        self.queried = self.checked = NEVER
        self.next_try = 0.0
        self.is_settled = self.was_cut = False

    def on(self, event: Event) -> Tuple[Condition, Condition]:
        """Change the state; return the ones before and after."""
        before = self.condition
        self.condition = TRANSITIONS[before].get(event, before)
        return before, self.condition
