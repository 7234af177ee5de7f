# SPDX-License-Identifier: MIT
"""The tick, and what the stamp of a message means beside the newest one: one rule for every core and node.

Time is simulated time in s, or the wall clock's on the robot. Stamps of a message type normally come in order; a late
message changes nothing, and only a stamp that is older by more than a gap means that the simulation was reset.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import Optional

from shellbot_common.errors import SettingsError

TICK = 0.01
"""s between two measured states, and so between two commands."""

GAP = 0.05
"""s: ticks farther apart are not compared, and a stamp that is older by more than this is a reset."""

_LABEL = "stamp:"  # docs/ros_interface.md
_RESOLUTION = 1e-6  # s: float64 stamps since 1970 are apart by 0.24 us


class Stamp(Enum):
    """What a stamp means beside the newest one."""

    FIRST = "first"
    NEXT = "next"  # a tick or a few later
    AFTER_GAP = "after a gap"  # more than GAP later: nothing is integrated or extrapolated over it
    REPEATED = "repeated"
    LATE = "late"  # older by up to GAP: changes nothing
    RESET = "reset"  # older by more than GAP: the simulation was reset


def classify_stamp(newest: Optional[float], stamp: float) -> Stamp:
    """Return what a stamp means.

    Parameters
    ----------
    newest : float or None
        Newest stamp so far, s; None or -inf: there was none.
    stamp : float
        s.
    """
    if newest is None or newest == -math.inf:
        return Stamp.FIRST
    elapsed = stamp - newest
    if elapsed < -GAP - _RESOLUTION:
        return Stamp.RESET
    if elapsed == 0.0:
        return Stamp.REPEATED
    if elapsed < 0.0:
        return Stamp.LATE
    return Stamp.NEXT if elapsed <= GAP + _RESOLUTION else Stamp.AFTER_GAP


def stamp_label(stamp_ns: int) -> str:
    """Return the label of a controller's command that carries a stamp, ns."""
    return f"{_LABEL}{stamp_ns}"


def labelled_stamp(label: str) -> Optional[int]:
    """Return the stamp, ns, that the label of a controller's command carries; None for another label.

    Raises
    ------
    SettingsError
        If it carries one that is no number.
    """
    if not label.startswith(_LABEL):
        return None
    digits = label[len(_LABEL) :]
    if not (digits.isascii() and digits.isdigit()):
        raise SettingsError(f"label {label!r} of the command is no stamp; give '{_LABEL}' and whole nanoseconds")
    return int(digits)
