# SPDX-License-Identifier: MIT
"""The factor of the odometry, from walks of the tuning seeds at several speeds."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

from humanoid_evaluation.robot import parameters
from humanoid_evaluation.trial import Trial, run_trial
from robot_evaluation.journal import Journal
from robot_evaluation.parallel import map_jobs, pool_of

SPEEDS = (0.10, 0.15, 0.20, 0.25)
"""Of the walks, m/s."""


def calibrate(
    seeds: Sequence[int],
    jobs: int,
    scheduler: str = "",
    speeds: Sequence[float] = SPEEDS,
    distance: float = 3.0,
    journal: Optional[Journal] = None,
) -> Tuple[List[Dict[str, Any]], float]:
    """Return a row for each speed, and `odometry_scale` of `walk.yaml` for which the greatest error is least.

    Parameters
    ----------
    seeds : sequence of int
        Walks at each speed; others than those that are reported.
    jobs : int
        Processes.
    scheduler : str
        Address of a Dask cluster, for its workers instead.
    speeds : sequence of float
        m/s.
    distance : float
        m.
    journal : Journal, optional
        Runs that it holds are not repeated.
    """
    trials = [Trial(distance, 0.0, speed, seed) for speed in speeds for seed in seeds]
    labelled = [(f"{trial.speed:g} m/s, seed {trial.seed}", trial) for trial in trials]
    runs = map_jobs(run_trial, labelled, jobs, pool_of(scheduler), journal)
    ratios = [run["x_m"] / run["odometry_x_m"] for run in runs]  # true over estimated
    rows = []
    for speed in speeds:
        found = [100.0 * (1.0 / ratio - 1.0) for ratio, trial in zip(ratios, trials) if trial.speed == speed]
        rows.append({"m/s": speed, "runs": len(found), "least error %": min(found), "greatest error %": max(found)})
    return rows, parameters().odometry_scale * 0.5 * (min(ratios) + max(ratios))
