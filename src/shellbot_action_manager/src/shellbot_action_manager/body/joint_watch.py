# SPDX-License-Identifier: MIT
"""Which joint of a rolling ball has failed: one that stays far behind, or does not move at all."""

from __future__ import annotations

from typing import Optional

import numpy as np

_MEAN_TIME = 4.0  # s: time constant of the mean error
_MEAN_ERROR = 0.45  # rad: gores of healthy balls reach 0.34 (a start; 0.55 in a mean of 2 s), a limp shell 0.69
_STILL, _STILL_TIME = 0.015, 6.0  # rad and s: a joint that moved no more in so long ...
_COMMANDED = 0.5  # rad: ... while its command moved by more (hooked gores of healthy balls came free within 4.1 s) ...
_BEHIND, _BEHIND_TIME = 0.2, 0.6  # rad and s: ... and that was farther behind for so long of that time: it had to move


class JointWatch:
    """Watches all joints of a ball that is commanded to roll.

    An error alone tells little: gores that the ground holds as a ball starts are 0.8 to 1.2 rad behind for up to 1.5 s.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self._mean: Optional[np.ndarray] = None

    def step(self, dt: float, commanded: np.ndarray, measured: np.ndarray) -> Optional[int]:
        """Return the index of a joint that has failed, or None.

        Parameters
        ----------
        dt : float
            s.
        commanded, measured : (n,) array
            rad.
        """
        if self._mean is None:
            self._mean, self._still_for, self._behind_for = np.zeros((3, len(measured)))
            self._place, self._low, self._high = measured.copy(), commanded.copy(), commanded.copy()
        error = np.abs(commanded - measured)
        mean = self._mean = self._mean + min(dt / _MEAN_TIME, 1.0) * (error - self._mean)
        moved = np.abs(measured - self._place) > _STILL
        self._place = np.where(moved, measured, self._place)
        self._still_for = np.where(moved, 0.0, self._still_for + dt)
        self._behind_for = np.where(moved, 0.0, self._behind_for + dt * (error > _BEHIND))
        self._low = np.where(moved, commanded, np.minimum(self._low, commanded))
        self._high = np.where(moved, commanded, np.maximum(self._high, commanded))
        blocked = (self._still_for > _STILL_TIME) & (self._behind_for > _BEHIND_TIME)
        blocked &= self._high - self._low > _COMMANDED
        failed = np.flatnonzero(blocked | (mean > _MEAN_ERROR))
        return int(failed[0]) if failed.size else None
