# SPDX-License-Identifier: MIT
"""Mean, spread and percentiles of repeated runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable

import numpy as np

from .errors import DefinitionError


@dataclass(frozen=True)
class Spread:
    """Summary of one figure over n runs; std is the sample standard deviation (n - 1), 0 for one run."""

    n: int
    mean: float
    std: float
    minimum: float
    maximum: float


def spread(values: Iterable[float]) -> Spread:
    """Summarise finite values.

    Raises
    ------
    DefinitionError
        If there is no value, or one that is not finite.
    """
    v = _finite(values)
    std = float(v.std(ddof=1)) if v.size > 1 else 0.0
    return Spread(int(v.size), float(v.mean()), std, float(v.min()), float(v.max()))


def percentile(values: Iterable[float], percent: float) -> float:
    """Percentile by the nearest-rank rule: a value that was really measured, never an interpolation.

    With fewer than 100 values the 99th percentile is the greatest value.
    """
    if not 0.0 <= percent <= 100.0:
        raise DefinitionError(f"percent is {percent}; it must lie in 0..100")
    v = np.sort(_finite(values))
    rank = int(np.ceil(percent * v.size / 100.0))  # in this order 99.9 of 1000 are 999
    return float(v[max(rank, 1) - 1])


def _finite(values: Iterable[float]) -> np.ndarray:
    v = np.asarray(list(values), dtype=float)
    if v.size == 0:
        raise DefinitionError("no values to summarise; the run recorded nothing")
    if not np.all(np.isfinite(v)):
        raise DefinitionError(f"value {int(np.argmin(np.isfinite(v)))} of {v.size} is not finite; look at its run")
    return v
