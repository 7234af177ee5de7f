# SPDX-License-Identifier: MIT
"""Start time and processor time of processes, from /proc (Linux)."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Mapping

from .errors import EvaluationError

PROC = Path("/proc")


@dataclass(frozen=True)
class ProcessTimes:
    """When a process started (seconds since the epoch) and what it has used since (user and system, s)."""

    start_time: float
    cpu_s: float


def process_times(pid: int, proc: Path = PROC) -> ProcessTimes:
    """Read the times of one process with all its threads.

    Raises
    ------
    EvaluationError
        If the process is gone.
    """
    try:
        stat = (proc / str(pid) / "stat").read_text()
        boot = next(line for line in (proc / "stat").read_text().splitlines() if line.startswith("btime "))
    except (OSError, StopIteration) as error:
        raise EvaluationError(f"process {pid} cannot be read in {proc}; has it ended?") from error
    # Field 2 is the name in brackets and may hold blanks: count from behind it. Numbers as in proc(5), from 1.
    fields = stat.rpartition(")")[2].split()
    ticks_per_s = float(os.sysconf("SC_CLK_TCK"))
    utime, stime, start = (float(fields[i - 3]) for i in (14, 15, 22))
    return ProcessTimes(float(boot.split()[1]) + start / ticks_per_s, (utime + stime) / ticks_per_s)


def children_of(pid: int, proc: Path = PROC) -> List[int]:
    """All descendants of a process."""
    parents: Dict[int, int] = {}
    for entry in proc.iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue  # ended while we were looking
    found = [pid]
    for known in found:
        found += [child for child, parent in parents.items() if parent == known and child not in found]
    return found[1:]


def launch_start_time(proc: Path = PROC) -> float:
    """When the launch that this process belongs to started, seconds since the epoch.

    That is SHELLBOT_START where scripts/sim has set it; else the start of the parent process if it is roslaunch; else
    that of this process; now where nothing is known.
    """
    try:
        return float(os.environ["SHELLBOT_START"])
    except (KeyError, ValueError):
        pass
    parent = os.getppid()
    try:
        command = (proc / str(parent) / "cmdline").read_bytes()
        return process_times(parent if b"roslaunch" in command else os.getpid(), proc).start_time
    except (OSError, EvaluationError):
        return time.time()


class CpuMeter:
    """Share of one core that each named process used since the meter was made."""

    def __init__(self, pids: Mapping[str, int], proc: Path = PROC) -> None:
        self._pids = dict(pids)
        self._proc = proc
        self._start = {name: process_times(pid, proc).cpu_s for name, pid in self._pids.items()}
        self._since = time.monotonic()

    def shares(self) -> Dict[str, float]:
        """Name to share of one core, 1.0 being one core fully used; a process that has ended is left out."""
        elapsed = max(time.monotonic() - self._since, 1e-9)
        shares = {}
        for name, pid in self._pids.items():
            try:
                shares[name] = (process_times(pid, self._proc).cpu_s - self._start[name]) / elapsed
            except EvaluationError:
                continue
        return shares
