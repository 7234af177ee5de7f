# SPDX-License-Identifier: MIT
"""The worst of several runs of one trial."""

from __future__ import annotations

import math
from typing import Any, Dict, Sequence


def summarise(runs: Sequence[Dict[str, Any]]) -> Dict[str, Any]:
    """Return number of runs and falls, and of the runs without a fall the greatest errors and the means (NaN if none).

    Parameters
    ----------
    runs : sequence of dict
        From `run_trial`, of one trial with several seeds.
    """
    upright = [run for run in runs if not run["fell"]]
    costs = [run["cost"] for run in upright if math.isfinite(run["cost"])]

    def worst(values: Sequence[float]) -> float:
        return max(values) if values else math.nan

    return {
        "runs": len(runs),
        "falls": len(runs) - len(upright),
        "not_arrived": sum(not run["arrived"] for run in upright),
        "worst_distance_error_m": worst([abs(run["x_m"] - run["distance"]) for run in upright]),
        "worst_lateral_m": worst([abs(run["y_m"] - run["aside"]) for run in upright]),
        "worst_place_m": worst(
            [math.hypot(run["x_m"] - run["distance"], run["y_m"] - run["aside"]) for run in upright]
        ),
        "worst_angle_error_deg": worst([abs(run["turn_deg"] - run["angle_deg"]) for run in upright]),
        "worst_odometry_error_m": worst([run["odometry_error_m"] for run in upright]),
        "worst_height_range_m": worst([run["height_range_m"] for run in upright]),
        "mean_seconds": sum(run["seconds"] for run in upright) / len(upright) if upright else math.nan,
        "mean_cost_of_transport": sum(costs) / len(costs) if costs else math.nan,
    }
