# SPDX-License-Identifier: MIT
"""How a batch of experiments scales with its workers, and what a run costs beside another one."""

from __future__ import annotations

import math
import os
import statistics
import time
from contextlib import redirect_stderr
from typing import Dict, List, Tuple

from robot_evaluation.parallel import map_jobs
from shellbot_common import package_file
from shellbot_evaluation.experiments import Run, load_experiments, plan_runs
from shellbot_evaluation.runner import execute

REQUIRED = 1.8  # times as fast with two workers
COLUMNS = {
    "workers": "workers",
    "wall_s": "batch s",
    "speed_up": "times as fast",
    "cpu_s": "CPU time of a run s",
    "load": "load",
}
DIGITS = {"wall_s": 1, "speed_up": 2, "cpu_s": 2, "load": 1}


def cpu_time_of(run: Run) -> float:
    """Carry out a run and return its CPU time, s."""
    begin = time.process_time()
    execute(run)
    return time.process_time() - begin


def bench_workers(seeds: int = 8, rounds: int = 3, distance_m: float = 1.0) -> List[Dict[str, float]]:
    """Walk the experiment `walk` with one and with two workers, in turn; return medians for both.

    Parameters
    ----------
    seeds : int
        Runs of each of its cases.
    rounds : int
        Batches of each number of workers.
    distance_m : float
        Of a run, m.
    """
    known = load_experiments(package_file("shellbot_evaluation", "config/experiments.yaml"))["walk"]
    runs = plan_runs(known.changed(distance_m=distance_m), range(seeds), (0.7, 1.0))
    cpu_time_of(runs[0])  # compile and warm up; workers inherit it
    found: Dict[int, List[Tuple[float, float, float]]] = {1: [], 2: []}
    for _ in range(rounds):
        for workers, batches in found.items():
            begin = time.perf_counter()
            with open(os.devnull, "w") as nothing, redirect_stderr(nothing):
                cpu = map_jobs(cpu_time_of, [(str(run.seed), run) for run in runs], workers)
            batches.append((time.perf_counter() - begin, statistics.median(cpu), os.getloadavg()[0]))
    rows = [dict(zip(("wall_s", "cpu_s", "load"), map(statistics.median, zip(*found[n]))), workers=n) for n in found]
    return [{**row, "speed_up": rows[0]["wall_s"] / row["wall_s"] if row["workers"] > 1 else math.nan} for row in rows]
