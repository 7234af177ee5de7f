# SPDX-License-Identifier: MIT
"""Experiments as data: cases, limits and repetitions, read from YAML and validated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Mapping, Sequence, Tuple

import numpy as np
import yaml

from shellbot_chain.errors import DefinitionError

from .phases import Phase, stand_up, turn, walk

CASE_KEYS = {
    "walk": ({"distance_m", "speed_m_s"}, {"heading_deg"}),
    "turn": ({"angle_deg", "rate_deg_s"}, set()),
    "speed": ({"speed_m_s", "duration_s"}, {"heading_deg"}),
}


@dataclass(frozen=True)
class Case:
    """One motion: `values` holds the numbers of its kind (see config/experiments.yaml)."""

    name: str
    kind: str
    values: Mapping[str, float]

    def __post_init__(self) -> None:
        if self.kind not in CASE_KEYS:
            raise DefinitionError(f"case '{self.name}' has kind '{self.kind}'; choose from {', '.join(CASE_KEYS)}")
        needed, optional = CASE_KEYS[self.kind]
        given = set(self.values)
        if needed - given or given - needed - optional:
            raise DefinitionError(
                f"case '{self.name}' ({self.kind}) needs {sorted(needed)} and may have {sorted(optional)};"
                f" it has {sorted(given)}"
            )
        for key, value in self.values.items():
            if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
                raise DefinitionError(f"case '{self.name}': {key} is {value!r}; it must be a finite number")

    def direction(self) -> Tuple[float, float]:
        """Commanded direction in body axes, unit length."""
        heading = math.radians(self.values.get("heading_deg", 0.0))
        return (math.cos(heading), math.sin(heading))

    def phases(self) -> Tuple[Phase, ...]:
        """Return the mission of a walk or a turn.

        Raises
        ------
        DefinitionError
            For a speed run, which is no mission, and for numbers out of range.
        """
        if self.kind == "walk":
            motion: Phase = walk(self.name, self.values["distance_m"], self.direction(), self.values["speed_m_s"])
        elif self.kind == "turn":
            motion = turn(self.name, math.radians(self.values["angle_deg"]), math.radians(self.values["rate_deg_s"]))
        else:
            raise DefinitionError(f"case '{self.name}' of kind '{self.kind}' has no end by odometry; run it by time")
        return (stand_up(), motion)


@dataclass(frozen=True)
class Limit:
    """The greatest (or smallest) value of a column that is allowed over all runs."""

    column: str
    bound: float
    is_minimum: bool

    def kept(self, values: Sequence[float]) -> bool:
        """Whether every value keeps the limit; nan does not."""
        v = np.asarray(values, dtype=float)
        return bool(np.all(v >= self.bound) if self.is_minimum else np.all(v <= self.bound))

    def worst(self, values: Sequence[float]) -> float:
        """Return the value nearest to breaking the limit, or farthest beyond it."""
        return float(min(values) if self.is_minimum else max(values))


@dataclass(frozen=True)
class Experiment:
    """Cases that share limits."""

    name: str
    cases: Tuple[Case, ...]
    limits: Tuple[Limit, ...]


@dataclass(frozen=True)
class Run:
    """One case with its seed and floor friction (sliding coefficient)."""

    experiment: str
    case: Case
    seed: int
    friction: float


def load_experiments(path: Path) -> Dict[str, Experiment]:
    """Read experiments from YAML.

    Raises
    ------
    DefinitionError
        With the file, the case and the key in its message.
    """
    content = load_yaml(path)
    experiments: Dict[str, Experiment] = {}
    for name, body in content.items():
        if not isinstance(body, dict) or not isinstance(body.get("cases"), dict) or not body["cases"]:
            raise DefinitionError(f"{path}: experiment '{name}' needs a mapping 'cases' with at least one case")
        cases = tuple(make_case(case, values) for case, values in body["cases"].items())
        limits = tuple(
            Limit(column.lstrip("-"), float(bound), column.startswith("-"))
            for column, bound in (body.get("limits") or {}).items()
        )
        experiments[name] = Experiment(name, cases, limits)
    return experiments


def make_case(name: str, values: Any) -> Case:
    """Turn one entry of the file into a case."""
    if not isinstance(values, dict) or "kind" not in values:
        raise DefinitionError(f"case '{name}' must be a mapping with a 'kind' ({', '.join(CASE_KEYS)})")
    return Case(name, values["kind"], {key: value for key, value in values.items() if key != "kind"})


def load_yaml(path: Path) -> Dict[str, Any]:
    """Read a YAML mapping; DefinitionError names the file and the line that cannot be read."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise DefinitionError(f"cannot read {path}: {error}; mend the file or give another one") from error
    if not isinstance(content, dict) or not content:
        raise DefinitionError(f"{path} must hold a mapping; it holds {type(content).__name__}")
    return content


def plan_runs(experiment: Experiment, seeds: int, friction: Tuple[float, float]) -> List[Run]:
    """Repeat each case over seeds 0, 1, ... with friction spread evenly from the first to the second value.

    Raises
    ------
    DefinitionError
        If seeds is less than 1 or friction is not 0 < low <= high.
    """
    low, high = friction
    if seeds < 1:
        raise DefinitionError(f"seeds is {seeds}; at least 1 run is needed")
    if not (math.isfinite(high) and 0.0 < low <= high):
        raise DefinitionError(f"friction is {low} {high}; give two numbers with 0 < low <= high")
    values = np.linspace(low, high, seeds) if seeds > 1 else np.array([0.5 * (low + high)])
    return [
        Run(experiment.name, case, seed, float(round(values[seed], 6)))
        for case in experiment.cases
        for seed in range(seeds)
    ]
