# SPDX-License-Identifier: MIT
"""A stick that pushes the velocity by degrees, as a key does all or nothing."""

from __future__ import annotations

import math
from typing import Sequence, Tuple

Axes = Tuple[float, float, float]
CENTRE: Axes = (0.0, 0.0, 0.0)


class Stick:
    """
    Where a stick is; one that was dropped counts only after it was back in the middle.

    Attributes
    ----------
    axes : (3,) tuple of float
        Forward, left, turn left, as fractions of the full speed; no longer than 1.
    is_dropped : bool
        Whether the hand must let go first. Both are to be read only.
    """

    def __init__(self) -> None:
        self.axes = CENTRE
        self.is_dropped = False

    @property
    def pushes(self) -> bool:
        """True when it is not in the middle."""
        return self.axes != CENTRE

    def move(self, axes: Sequence[float]) -> None:
        """Take a position over.

        Parameters
        ----------
        axes : (3,) sequence of float
            Forward, left, turn left, -1 .. 1. A longer vector is shortened to 1, as a mix of keys is; one that is not
            three finite numbers is the middle.
        """
        length = math.sqrt(sum(value * value for value in axes)) if len(axes) == 3 else math.nan
        if not math.isfinite(length) or length == 0.0:
            self.axes, self.is_dropped = CENTRE, False
        elif not self.is_dropped:
            x, y, yaw = (value / max(length, 1.0) for value in axes)
            self.axes = (x, y, yaw)

    def drop(self) -> None:
        """Bring it to the middle; a hand that still pushes it must let go first."""
        if self.pushes:
            self.refuse()

    def refuse(self) -> None:
        """Take nothing over until the hand lets go."""
        self.axes, self.is_dropped = CENTRE, True
