# SPDX-License-Identifier: MIT
"""How joints begin a long path back to their targets: slowly, with time to react."""

from __future__ import annotations

from typing import Optional

import numpy as np


class CatchUp:
    """Speed limits while joints catch up with their targets after a start, a hold or a stop.

    Parameters
    ----------
    threshold : float
        rad; a path up to this is followed at once.
    velocity : float
        rad/s at which a longer one begins.
    time : float
        s in which the speed grows from there to the joints' own limits.

    Attributes
    ----------
    elapsed : float or None
        s since it began; None while the joints' own limits hold.
    """

    def __init__(self, threshold: float, velocity: float, time: float) -> None:
        self._threshold, self._velocity, self._time = threshold, velocity, time
        self.elapsed: Optional[float] = None

    def begin(self, distance: float) -> bool:
        """Begin anew if the longest path of a joint, ``distance`` rad, is a long one; return whether it is."""
        self.elapsed = 0.0 if distance > self._threshold else None
        return self.elapsed is not None

    def limit(self, velocity: np.ndarray, dt: float) -> np.ndarray:
        """Return the greatest speeds, (n,) rad/s, of a step of ``dt`` s, where the joints' own are ``velocity``."""
        if self.elapsed is None:
            return velocity
        ramp = self.elapsed / self._time
        self.elapsed += dt
        if ramp >= 1.0:
            return velocity
        slow = np.minimum(self._velocity, velocity)
        return slow + ramp * (velocity - slow)
