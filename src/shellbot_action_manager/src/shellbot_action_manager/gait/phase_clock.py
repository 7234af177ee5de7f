# SPDX-License-Identifier: MIT
"""The clock of a gait: one phase for the robot, one per leg derived from it."""

from __future__ import annotations

from typing import Tuple

import numpy as np


class PhaseClock:
    """Phase of the gait cycle, 0..1, and which legs lift or land on the way from one tick to the next.

    A leg stands while its own phase is in [0, duty) and swings in [duty, 1).

    Parameters
    ----------
    phase_offset : (6,) array-like
        Fraction of the cycle by which each leg runs ahead.
    duty_factor : float
        Fraction of the cycle in which a foot stands.
    """

    def __init__(self, phase_offset: Tuple[float, ...], duty_factor: float) -> None:
        self._offset = np.asarray(phase_offset, dtype=np.float64)
        self._duty = float(duty_factor)
        self.phase = 0.0
        self.restart()

    def restart(self) -> None:
        """Put the clock where the first leg of the table is just about to lift."""
        self.phase = self._duty % 1.0

    def advance(self, dt: float, period: float) -> None:
        """Move on by `dt` seconds of a cycle that lasts `period` seconds."""
        self.phase = (self.phase + dt / period) % 1.0

    @property
    def leg_phase(self) -> np.ndarray:
        """Phase of each leg in its own cycle, (6,), 0..1."""
        return (self.phase + self._offset) % 1.0

    @property
    def swing_fraction(self) -> np.ndarray:
        """Fraction of the swing that is over, (6,), 0..1; NaN for legs whose phase says stand."""
        phase = self.leg_phase
        # Rounding of phase + offset must not turn "just lifting" into "just about to lift".
        lifted = phase >= self._duty - 1e-9
        return np.where(lifted, np.maximum(phase - self._duty, 0.0) / (1.0 - self._duty), np.nan)
