# SPDX-License-Identifier: MIT
"""The last minute of all joints, commanded and measured, for plots and files."""

from __future__ import annotations

import csv
import math
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Sequence, Tuple

import numpy as np

from shellbot_common import Stamp, classify_stamp

COMMANDED, MEASURED = "commanded", "measured"
KINDS = (COMMANDED, MEASURED)


@dataclass(frozen=True)
class JointSamples:
    """Samples of all joints of one kind: n times (s of the messages' stamps, rising) and (n, joints) angles, rad."""

    names: Tuple[str, ...]
    times: np.ndarray
    positions: np.ndarray

    def of(self, joint: str) -> np.ndarray:
        """Return the (n,) angles of a joint, rad; NaN if it is not among them."""
        if joint not in self.names:
            return np.full(len(self.times), math.nan)
        return self.positions[:, self.names.index(joint)]

    def since(self, start: float) -> JointSamples:
        """Return those from a stamp on, s."""
        return JointSamples(self.names, self.times[self.times >= start], self.positions[self.times >= start])


_NOTHING = JointSamples((), np.zeros(0), np.zeros((0, 0)))


class _Ring:
    """The newest samples of one kind."""

    def __init__(self, names: Tuple[str, ...], size: int) -> None:
        self.names, self._count = names, 0
        self._times, self._positions = np.zeros(size), np.zeros((size, len(names)))

    @property
    def newest(self) -> float:
        return float(self._times[(self._count - 1) % len(self._times)]) if self._count else -math.inf

    def add(self, time: float, position: Sequence[float]) -> None:
        row = self._count % len(self._times)
        self._times[row], self._positions[row] = time, position
        self._count += 1

    def since(self, start: float) -> JointSamples:
        size = len(self._times)
        rows = np.arange(max(self._count - size, 0), self._count) % size
        rows = rows[self._times[rows] >= start]
        return JointSamples(self.names, self._times[rows], self._positions[rows])


class JointHistory:
    """
    Takes samples from any thread.

    Parameters
    ----------
    seconds, rate : float
        Longest time that is kept, and at which rate the samples come, s and Hz.
    """

    def __init__(self, seconds: float = 60.0, rate: float = 100.0) -> None:
        self._size = max(round(seconds * rate), 2)
        self._rings: Dict[str, _Ring] = {}
        self._lock = threading.Lock()

    def add(self, kind: str, names: Sequence[str], stamp: float, position: Sequence[float]) -> None:
        """Take a sample; other joints than before, or a reset of the simulation, begin anew.

        Parameters
        ----------
        kind : str
            COMMANDED or MEASURED.
        names : sequence of n str
            Joints.
        stamp : float
            Time of the message, s.
        position : sequence of n float
            rad. A sample with another number of them, or without a finite stamp, is ignored.
        """
        names = tuple(names)
        if len(position) != len(names) or not math.isfinite(stamp):
            return
        with self._lock:
            ring = self._rings.get(kind)
            judged = classify_stamp(-math.inf if ring is None else ring.newest, stamp)
            if judged is Stamp.RESET:
                self._rings.clear()
                ring = None
            if ring is None or ring.names != names:
                ring = self._rings[kind] = _Ring(names, self._size)
            if judged not in (Stamp.LATE, Stamp.REPEATED):
                ring.add(stamp, position)

    @property
    def names(self) -> Tuple[str, ...]:
        """Names of all joints, the measured ones first."""
        with self._lock:
            return tuple(dict.fromkeys(name for kind in reversed(KINDS) for name in self._names(kind)))

    def _names(self, kind: str) -> Tuple[str, ...]:
        return self._rings[kind].names if kind in self._rings else ()

    @property
    def newest(self) -> float:
        """Stamp of the newest sample, s; -inf without one."""
        with self._lock:
            return max((ring.newest for ring in self._rings.values()), default=-math.inf)

    def since(self, kind: str, start: float) -> JointSamples:
        """Return the samples of a kind from a stamp on, s."""
        with self._lock:
            return self._rings[kind].since(start) if kind in self._rings else _NOTHING


def write_csv(path: Path, samples: Dict[str, JointSamples], joints: Sequence[str]) -> int:
    """Write samples of some joints to a file; return the number of rows.

    One row a stamp: ``time_s``, then for each joint ``NAME.commanded_rad`` and ``NAME.measured_rad``, empty where there
    is none: names as plotting tools for ROS show them.

    Parameters
    ----------
    path : pathlib.Path
        File, overwritten.
    samples : dict
        Kind to samples.
    joints : sequence of str
        In the order of the columns.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    columns = [(f"{joint}.{kind}_rad", kind, joint) for joint in joints for kind in KINDS if kind in samples]
    rows: Dict[float, Dict[str, float]] = {}
    for name, kind, joint in columns:
        for time, value in zip(samples[kind].times.tolist(), samples[kind].of(joint).tolist()):
            if math.isfinite(value):
                rows.setdefault(time, {})[name] = value
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["time_s", *(name for name, _, _ in columns)])
        for time in sorted(rows):
            writer.writerow([f"{time:.6f}", *(rows[time].get(name, "") for name, _, _ in columns)])
    return len(rows)
