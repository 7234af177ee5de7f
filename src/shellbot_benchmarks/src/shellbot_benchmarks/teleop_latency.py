# SPDX-License-Identifier: MIT
"""Figures of a latency measurement and the detection of the first changed joint target."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Deque, Dict, Optional, Sequence, Tuple

import numpy as np

from shellbot_evaluation.errors import EvaluationError


@dataclass(frozen=True)
class LatencySummary:
    """Quantiles of one latency in ms."""

    name: str
    count: int
    p50_ms: float
    p90_ms: float
    p99_ms: float
    max_ms: float

    def row(self) -> str:
        """One line of the printed table."""
        figures = (self.p50_ms, self.p90_ms, self.p99_ms, self.max_ms)
        return f"{self.name:44} {self.count:5d} " + " ".join(f"{figure:8.1f}" for figure in figures)


HEADER = f"{'latency, ms':44} {'n':>5} {'p50':>8} {'p90':>8} {'p99':>8} {'max':>8}"


def summarise(name: str, seconds: Sequence[float]) -> LatencySummary:
    """Summarise samples (s); raises EvaluationError without any."""
    if not len(seconds):
        raise EvaluationError(
            f"{name}: nothing was measured; is the robot in mode hexapod and does the window have the focus?"
        )
    p50, p90, p99 = np.percentile(np.asarray(seconds) * 1000.0, (50, 90, 99))
    return LatencySummary(name, len(seconds), float(p50), float(p90), float(p99), float(np.max(seconds) * 1000.0))


class ChangeDetector:
    """First joint target that differs from the ones before a key press.

    Standing still is not exactly still (body pose and odometry feed back), so the threshold is the larger of a fixed
    one and three times the spread of the last quiet samples.

    Parameters
    ----------
    threshold : float
        rad, least change that counts.
    memory : float
        s of quiet samples that are remembered.
    """

    def __init__(self, threshold: float = 1e-4, memory: float = 0.5) -> None:
        self._threshold, self._memory = threshold, memory
        self._quiet: Deque[Tuple[float, Tuple[float, ...]]] = deque()
        self._armed_at: Optional[float] = None
        self._reference: Optional[np.ndarray] = None
        self._limit = threshold
        self.found: Optional[float] = None  # s after arming

    @property
    def quiet(self) -> bool:
        """True when the remembered samples fill half the memory and stay within the threshold."""
        if len(self._quiet) < 2 or self._quiet[-1][0] - self._quiet[0][0] < 0.5 * self._memory:
            return False
        return self._spread() <= self._threshold

    def _spread(self) -> float:
        samples = np.array([position for _, position in self._quiet])
        return float(np.max(np.ptp(samples, axis=0))) if len(samples) else 0.0

    def arm(self, t: float) -> None:
        """Take that the key goes down at t (s)."""
        self._reference = np.asarray(self._quiet[-1][1]) if self._quiet else None
        self._limit = max(self._threshold, 3.0 * self._spread())
        self._armed_at, self.found = t, None

    def disarm(self) -> None:
        """Take that the key is up again, and collect quiet samples."""
        self._armed_at = None
        self._quiet.clear()

    def add(self, t: float, position: Sequence[float]) -> None:
        """Take joint targets (n,) in rad that arrived at t (s)."""
        if self._armed_at is None:
            self._quiet.append((t, tuple(position)))
            while self._quiet and t - self._quiet[0][0] > self._memory:
                self._quiet.popleft()
        elif (
            self.found is None
            and self._reference is not None
            and len(position) == len(self._reference)
            and float(np.max(np.abs(np.asarray(position) - self._reference))) > self._limit
        ):
            self.found = t - self._armed_at


def as_document(summaries: Sequence[LatencySummary]) -> Dict[str, Dict[str, float]]:
    """Document for a JSON file: name to quantiles."""
    return {
        summary.name: {
            "count": summary.count,
            "p50_ms": round(summary.p50_ms, 2),
            "p90_ms": round(summary.p90_ms, 2),
            "p99_ms": round(summary.p99_ms, 2),
            "max_ms": round(summary.max_ms, 2),
        }
        for summary in summaries
    }
