# SPDX-License-Identifier: MIT
"""What processes use of a core."""

from __future__ import annotations

import contextlib
from typing import Dict, Mapping

import psutil


class CpuMeter:
    """Fraction of one core that each named process has used since the meter was made.

    Parameters
    ----------
    pids : mapping of str to int
        Processes by name; one that has ended is left out.
    """

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._processes: Dict[str, psutil.Process] = {}
        for name, pid in pids.items():
            with contextlib.suppress(psutil.NoSuchProcess):
                process = psutil.Process(pid)
                process.cpu_percent()  # from here on
                self._processes[name] = process

    def fractions(self) -> Dict[str, float]:
        """Name to fraction of one core, 1.0 being one core fully used; a process that has ended is left out."""
        found = {}
        for name, process in self._processes.items():
            with contextlib.suppress(psutil.NoSuchProcess):
                found[name] = process.cpu_percent() / 100.0
        return found
