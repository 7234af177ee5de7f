# SPDX-License-Identifier: MIT
"""The clock of a gait: one phase for the robot, one per leg derived from it."""

from __future__ import annotations

import math
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
        self._offset = phase_offset
        self._duty = float(duty_factor)
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
        return np.array([(self.phase + offset) % 1.0 for offset in self._offset])

    @property
    def swing_fraction(self) -> np.ndarray:
        """Fraction of the swing that is over, (6,), 0..1; NaN for legs whose phase says stand."""
        # Rounding of phase + offset must turn neither "just lifting" into "just about to lift" nor "landed" into
        # "landing": at a change of tripods the former leaves all feet on the ground for a tick, the latter none.
        since = [phase - self._duty if phase < 1.0 - 1e-9 else -self._duty for phase in self.leg_phase.tolist()]
        return np.array([max(s, 0.0) / (1.0 - self._duty) if s >= -1e-9 else math.nan for s in since])
