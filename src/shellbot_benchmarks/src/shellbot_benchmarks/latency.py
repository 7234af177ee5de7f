# SPDX-License-Identifier: MIT
"""From event and arrival times to latencies: which message was the first that answered."""

from __future__ import annotations

import math
import threading
import time
from typing import Dict, List, Optional, Sequence, Tuple

import numpy as np

from robot_evaluation.errors import EvaluationError
from robot_evaluation.stats import percentile


class ChangeWatch:
    """Notes when a stream of vectors, still until then, first differs from its resting value.

    Thread-safe: `feed` is called by the receiving thread, the rest by the measuring one. Times are seconds of the
    machine's monotonic clock.
    """

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._last: Optional[np.ndarray] = None
        self._still_since = math.inf
        self._initial: Optional[np.ndarray] = None
        self._changed_at = math.nan
        self._noise = 0.0

    def feed(self, values: Sequence[float], now: float) -> None:
        """Take the newest vector, received at `now`."""
        new = np.array(values, dtype=float)
        with self._lock:
            if self._last is None or self._last.shape != new.shape or np.max(np.abs(new - self._last)) > self._noise:
                self._still_since = now
            if self._initial is not None and math.isnan(self._changed_at):
                changed = self._initial.shape == new.shape and np.max(np.abs(new - self._initial)) > self._noise
                self._changed_at = now if changed else math.nan
            self._last = new
            self._lock.notify_all()

    def wait_still(self, still_s: float, limit_s: float, noise: float = 0.0) -> None:
        """Wait until no value has moved by more than `noise` between vectors for `still_s` seconds.

        Raises
        ------
        EvaluationError
            If that does not happen within `limit_s`.
        """
        deadline = time.monotonic() + limit_s
        with self._lock:
            self._noise = noise
            self._initial, self._changed_at = None, math.nan
            while not time.monotonic() - self._still_since >= still_s:
                if time.monotonic() > deadline:
                    raise EvaluationError(f"the targets were not at rest within {limit_s:g} s; is the robot walking?")
                self._lock.wait(0.05)

    def arm(self) -> None:
        """Take the present vector as the resting value; the next that differs counts."""
        with self._lock:
            self._initial, self._changed_at = self._last, math.nan

    def wait_change(self, limit_s: float) -> float:
        """Return when the first vector that differs was received.

        Raises
        ------
        EvaluationError
            If none comes within `limit_s`.
        """
        deadline = time.monotonic() + limit_s
        with self._lock:
            while math.isnan(self._changed_at):
                if time.monotonic() > deadline:
                    raise EvaluationError(f"nothing answered within {limit_s:g} s; is the chain running?")
                self._lock.wait(0.05)
            return self._changed_at

    @property
    def change(self) -> Optional[float]:
        """When the first vector that differs was received; None if there was none yet."""
        with self._lock:
            return None if math.isnan(self._changed_at) else self._changed_at

    @property
    def has_data(self) -> bool:
        """Whether any vector was received."""
        return self._last is not None


def latency_row(name: str, latencies_s: Sequence[float]) -> Dict[str, object]:
    """Return p50, p90, p99 and greatest latency in ms."""
    ms: List[float] = [1e3 * latency for latency in latencies_s]
    return {
        "what": name,
        "samples": len(ms),
        "p50_ms": percentile(ms, 50.0),
        "p90_ms": percentile(ms, 90.0),
        "p99_ms": percentile(ms, 99.0),
        "max_ms": max(ms),
    }


def spread_waits(count: int, period_s: float) -> Tuple[float, ...]:
    """Return waits (s) that spread events evenly over a period, in random order."""
    rng = np.random.default_rng(0)
    return tuple(float(w) for w in rng.permutation((np.arange(count) + 0.5) / count * period_s))


def worst_factor(rows: Sequence[Tuple[float, float]]) -> float:
    """Return the smallest real-time factor over any stretch of a wall second (of all rows if they are shorter).

    Parameters
    ----------
    rows : sequence of (float, float)
        Wall clock and simulated time of each tick, s, in order.
    """
    worst, first = math.inf, 0
    for wall, simulated in rows:
        while first + 1 < len(rows) and wall - rows[first + 1][0] >= 1.0:
            first += 1
        if wall - rows[first][0] >= 1.0:
            worst = min(worst, (simulated - rows[first][1]) / (wall - rows[first][0]))
    return worst if math.isfinite(worst) else (rows[-1][1] - rows[0][1]) / (rows[-1][0] - rows[0][0])
