# SPDX-License-Identifier: MIT
"""Numbers of the rolling law: what is varied, and what a candidate is scored by."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Dict, Mapping, Sequence, Tuple

import numpy as np

from robot_evaluation.errors import EvaluationError
from shellbot_action_manager.body.rolling import RollingConfig, load_rolling
from shellbot_action_manager.errors import ActionManagerError

from .roller import NAN, Roller
from .rolling_experiment import SLOW_M_S, UPRIGHT_S, build, conditions, far, point, put_down, rise, slow
from .search import Numbers, Rows

#: Keys of rolling.yaml, of a pair with its place in it, and the ranges that are searched. Kicks and the exponent are
#: left alone: changes of them made no difference beyond chance (docs/results/ball_laws.md).
KNOBS: Mapping[str, Tuple[float, float]] = {
    "pushers.lower_equator.0": (-0.90, -0.20),
    "pushers.lower_equator.1": (0.20, 0.90),
    "pushers.lower_pole.0": (-1.40, -0.50),
    "pushers.upper_equator.0": (0.30, 1.10),
    "pushers.upper_pole.0": (0.20, 0.95),
    "pushers.upper_pole.1": (-1.45, -0.70),
    "pushers.window.0": (0.0, 0.40),
    "pushers.window.1": (1.0, 1.60),
    "pushers.lead": (0.0, 0.10),
    "gain": (1.0, 6.0),
    "integral": (1.0, 8.0),
    "brake": (2.0, 8.0),
}
FIGURES = ("speed_m_s", "heading_error_deg", "turn_s", "slow_m_s", "point_s", "point_error_m", "upright_s")
WORST = 3.0  # what counts for a figure at most, and for one that was not reached, in multiples of the required


@dataclass(frozen=True)
class RollTrial:
    """One run of one candidate."""

    seed: int
    numbers: Numbers  #: Of `KNOBS`; none: the law as shipped

    @property
    def label(self) -> str:
        """What the candidate is."""
        return "found" if self.numbers else "shipped"


def changed(config: RollingConfig, numbers: Sequence[Tuple[str, float]]) -> RollingConfig:
    """Return a law with other numbers.

    Raises
    ------
    ConfigError
        If a number is out of its range.
    """
    values = config.to_mapping()
    for name, value in numbers:
        inside, key = _place(values, name)
        if isinstance(key, int):
            parent, pair = _place(values, name.rpartition(".")[0])
            parent[pair] = [value if i == key else old for i, old in enumerate(inside)]
        else:
            inside[key] = value
    return RollingConfig.from_mapping(values)


def numbers_of(config: RollingConfig) -> Dict[str, float]:
    """Return the numbers that are searched, as they are."""
    values = config.to_mapping()
    return {name: inside[key] for name in KNOBS for inside, key in [_place(values, name)]}


def _place(values: Any, name: str) -> Tuple[Any, Any]:
    """Return the mapping or pair that holds a key of `KNOBS`, and the key or index in it."""
    *path, last = name.split(".")
    for key in path:
        values = values[key]
    return values, int(last) if last.isdigit() else last


def execute(trial: RollTrial) -> Dict[str, Any]:
    """Roll 5 m and round a corner, slowly, to a point, and upright from rest; NaN for what was not reached."""
    case = conditions(trial.seed)
    row: Dict[str, Any] = {"label": trial.label, "seed": trial.seed, "friction": case.friction, "success": False}
    row.update(dict.fromkeys(FIGURES, NAN), message="")
    try:
        law = changed(load_rolling(), trial.numbers)
        roller = Roller(build(replace(case, changes={"rolling": law})))
        for part in (far, slow, point):
            row.update({key: value for key, value in part(roller, case.bearing).items() if key in FIGURES})
        row["upright_s"] = rise(put_down(roller.chain, case), stands=False)["upright_s"]
    except (ActionManagerError, EvaluationError) as error:
        row["message"] = str(error)
    row["success"] = all(value <= 1.0 for key, value in ratios(row).items() if key != "speed_m_s")
    return row


def ratios(row: Mapping[str, Any]) -> Dict[str, float]:
    """Return each figure of a run in multiples of the required one: 1 meets it, less is better, at most `WORST`."""
    found = {
        "speed_m_s": 0.8 / max(row["speed_m_s"], 1e-6),
        "heading_error_deg": row["heading_error_deg"] / 10.0,
        "turn_s": row["turn_s"] / 2.0,
        "slow_m_s": abs(row["slow_m_s"] - SLOW_M_S) / (0.2 * SLOW_M_S),
        "point_s": row["point_s"] / 6.0,
        "point_error_m": row["point_error_m"] / 0.10,
        "upright_s": row["upright_s"] / UPRIGHT_S,
    }
    return {key: min(value, WORST) if math.isfinite(value) else WORST for key, value in found.items()}


def score(rows: Rows, _shipped: Rows = ()) -> float:
    """Return what a candidate is worth, less is better: the mean over its runs of the sum of squared `ratios`.

    Squares, because a run that misses what is required counts for more than others exceed it by.
    """
    return float(np.mean([sum(value**2 for value in ratios(row).values()) for row in rows]))
