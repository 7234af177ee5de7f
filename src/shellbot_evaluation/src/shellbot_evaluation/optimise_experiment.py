# SPDX-License-Identifier: MIT
"""Numbers of a gait that walk for less: what is varied, and what a candidate is scored by."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Sequence, Tuple

import numpy as np

from robot_evaluation.errors import EvaluationError
from robot_evaluation.metrics import body_metrics, cost_of_transport, total_torque
from shellbot_action_manager.errors import ActionManagerError
from shellbot_action_manager.gait.gait_table import Gait
from shellbot_chain.chain import Chain
from shellbot_common import package_file
from shellbot_common.seed_streams import Stream, seeded

from .experiments import load_experiments
from .search import Numbers, Rows
from .transport_experiment import electrical_power, measured_walk

#: Fields that are searched, with their ranges; in proportion, period_slow follows period_fast and lift_height_fast
#: lift_height
KNOBS: Mapping[str, Tuple[float, float]] = {
    "period_fast": (0.26, 0.60),
    "lift_height": (0.012, 0.035),
    "landing_dwell_fast": (0.0, 0.25),
    "ramp": (0.10, 0.50),
    "stance_radius": (0.270, 0.330),
    "stance_height": (0.145, 0.190),
    "stride_limit": (0.070, 0.130),
    "slip_scale": (0.80, 1.05),  # forward
}
FIGURES = (
    "speed_m_s",
    "electrical_cost",
    "cost",
    "electrical_w",
    "torque_nm",
    "peak",
    "tilt_deg",
    "height_mm",
    "foot_mm",
)
FRICTION = (0.6, 1.0)
GATHERS_S, MEASURED_S = 2.0, 3.0
FAILED = 100.0  # score of a candidate that falls or cannot be built


@dataclass(frozen=True)
class Trial:
    """One run of one candidate."""

    seed: int
    gait: str
    numbers: Numbers  #: Of `KNOBS`; none: the gait as shipped
    speed_m_s: float  #: Commanded
    torque_limit: float  #: Of every servo, as a fraction of its stall torque

    @property
    def label(self) -> str:
        """What the candidate is."""
        return "found" if self.numbers else "shipped"


def changed(gait: Gait, numbers: Sequence[Tuple[str, float]]) -> Gait:
    """Return a gait with other numbers.

    Raises
    ------
    ActionManagerError
        If the gait table would refuse them.
    """
    values: Dict[str, Any] = dict(numbers)
    if not values:
        return gait
    if "slip_scale" in values:
        values["slip_scale"] = gait.slip_scale.replace(forward=values["slip_scale"])
    if "period_fast" in values:
        values["period_slow"] = gait.period_slow * values["period_fast"] / gait.period_fast
    if "lift_height" in values:
        values["lift_height_fast"] = gait.lift_height_fast * values["lift_height"] / gait.lift_height
    return gait.replace(**values)


def numbers_of(gait: Gait) -> Dict[str, float]:
    """Return the numbers that are searched, as they are."""
    return {name: gait.slip_scale.forward if name == "slip_scale" else getattr(gait, name) for name in KNOBS}


def execute(trial: Trial) -> Dict[str, Any]:
    """Walk straight on at the commanded speed, torque-limited, and measure; NaN where the robot fell."""
    friction = float(seeded(trial.seed, Stream.OPTIMISE_FLOOR).uniform(*FRICTION))
    row: Dict[str, Any] = {"label": trial.label, "seed": trial.seed, "friction": friction, "success": False}
    row.update(dict.fromkeys(FIGURES, math.nan), message="")
    try:
        chain = Chain(
            variant="walker", seed=trial.seed, friction=friction, gait=trial.gait, torque_scale=trial.torque_limit
        )
        gaits = chain.manager.gaits
        chain.manager.change_gaits({**gaits, trial.gait: changed(gaits[trial.gait], trial.numbers)})
        trace = measured_walk(chain, trial.speed_m_s, GATHERS_S, MEASURED_S)
    except (ActionManagerError, EvaluationError) as error:
        return {**row, "message": str(error)}
    mass, electrical = chain.simulator.mass, electrical_power(trace, chain)
    body = body_metrics(trace, chain.limits.lower, chain.limits.upper, chain.limits.effort, mass)
    path = trace.truth_path.in_start_axes()
    row.update(
        speed_m_s=float(path[-1, 0]) / float(trace.t[-1] - trace.t[0]),
        electrical_cost=cost_of_transport(trace, mass, electrical),
        cost=body.cost_of_transport,
        electrical_w=float(electrical.mean()),
        torque_nm=float(total_torque(trace).mean()),
        peak=body.peak_effort_fraction,
        tilt_deg=body.max_tilt_deg,
        height_mm=body.height_deviation_mm,
        foot_mm=body.lowest_foot_mm,
        success=chain.mode == "hexapod" and body.joint_limit_excess_deg == 0.0,
    )
    return row


def score(rows: Rows, shipped_rows: Rows) -> float:
    """Return what a candidate is worth, less is better: its electrical cost of transport, raised by what it breaks.

    Parameters
    ----------
    rows : sequence of mapping
        Its runs.
    shipped_rows : sequence of mapping
        Of the shipped gait: a candidate is to be no slower in the mean, and within the limits of the sprint in
        config/experiments.yaml, or of what the shipped gait reaches.
    """
    if not all(row["success"] and math.isfinite(row["electrical_cost"]) for row in rows):
        return FAILED
    found, shipped, limits = means(rows), means(shipped_rows), _limits()
    over = (
        max(0.0, 1.0 - found["speed_m_s"] / shipped["speed_m_s"]) * 10.0,
        max(0.0, found["tilt_deg"] / max(limits["max_tilt_deg"], shipped["tilt_deg"]) - 1.0),
        max(0.0, found["height_mm"] / max(limits["height_deviation_mm"], shipped["height_mm"]) - 1.0),
        max(0.0, min(limits["lowest_foot_mm"], shipped["foot_mm"]) - found["foot_mm"]),
    )
    return found["electrical_cost"] * (1.0 + sum(over))


@functools.lru_cache(maxsize=None)
def _limits() -> Mapping[str, float]:
    sprint = load_experiments(package_file("shellbot_evaluation", "config/experiments.yaml"))["sprint"]
    return {limit.column: limit.bound for limit in sprint.limits}


def means(rows: Rows) -> Dict[str, float]:
    """Return the mean of every figure."""
    return {name: float(np.mean([row[name] for row in rows])) for name in FIGURES}


def refusal(rows: Rows) -> str:
    """Return why the shipped gait is nothing to begin with; empty: it walks with each seed."""
    failed = next((row for row in rows if not row["success"]), None)
    if failed is None:
        return ""
    reason = failed["message"] or "it fell or left its joint limits"
    sentence = f"the gait does not walk so with seed {failed['seed']} ({reason})"
    return f"{sentence}; give another --speed, or more of --torque-limit"
