# SPDX-License-Identifier: MIT
"""What outlives a process: numbers that the next one of its kind goes on from, the first being their time."""

from __future__ import annotations

from typing import Sequence

import numpy as np

REMEMBERED = 60.0  # s: on a busy machine a restart takes more than ten


def counts_at(t: float, memory: Sequence[float], *lengths: int) -> bool:
    """Return whether a memory is whole, and neither older than a minute at time t (s) nor ahead of it.

    Parameters
    ----------
    t : float
        Present time, s.
    memory : sequence of float
        Its time, s, and what was known then.
    *lengths : int
        That it may have.
    """
    return len(memory) in lengths and bool(np.isfinite(memory).all()) and 0.0 <= t - memory[0] <= REMEMBERED
