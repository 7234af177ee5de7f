# SPDX-License-Identifier: MIT
"""When a moving base is at rest."""

from __future__ import annotations

import math

import numpy as np


def settling_time(times: np.ndarray, places: np.ndarray, headings: np.ndarray, distance: float, angle: float) -> float:
    """Return the first time from which the base stays near where it ends, s; inf if it does so only at the very end.

    Parameters
    ----------
    times : (n,) array
        s, rising.
    places : (n, 2) array
        On the ground, m.
    headings : (n,) array
        rad.
    distance, angle : float
        What counts as near, m and rad.
    """
    away = np.linalg.norm(places - places[-1], axis=1) > distance
    away |= np.abs(np.mod(headings - headings[-1] + math.pi, 2.0 * math.pi) - math.pi) > angle
    outside = np.flatnonzero(away)
    if not len(outside):
        return float(times[0])
    return float(times[outside[-1] + 1]) if outside[-1] + 2 < len(times) else math.inf
