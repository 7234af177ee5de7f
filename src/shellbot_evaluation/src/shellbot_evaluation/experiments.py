# SPDX-License-Identifier: MIT
"""Experiments as data: cases, limits and repetitions, read from YAML and validated."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from robot_evaluation.console import say
from robot_evaluation.errors import DefinitionError
from shellbot_chain.chain import Chain
from shellbot_chain.chain_config import ChainConfig
from shellbot_client.phases import Phase, stand_up, turn, walk
from shellbot_common import Settings, SettingsError, check_names, check_number, choice, read_yaml, required

from .perturbations import PUSH, Perturbations

ANY = (-math.inf, math.inf)
LONGEST_S = 3600.0  # simulated time of a motion; some ten minutes of a core
CASE_KEYS = {  # kind: needed keys, optional keys
    "walk": (("distance_m", "speed_m_s"), ("heading_deg",)),
    "turn": (("angle_deg", "rate_deg_s"), ()),
    "square": (("side_m", "speed_m_s", "rate_deg_s"), ()),
    "speed": (("speed_m_s", "duration_s"), ("heading_deg",)),
}


@dataclass(frozen=True)
class Case(Settings, error=DefinitionError):
    """One motion: `values` holds the numbers of its kind (see config/experiments.yaml)."""

    name: str
    kind: str = choice(tuple(CASE_KEYS))
    values: Mapping[str, float] = required()
    gait: str = ""  #: Empty: that of the command line

    def conflict(self) -> str:
        """Refuse numbers that are missing or not of this kind."""
        needed, optional = CASE_KEYS[self.kind]
        check_names(self.values, needed + optional, needed)
        return ""

    def direction(self) -> Tuple[float, float]:
        """Commanded direction in body axes, unit length."""
        heading = math.radians(self.values.get("heading_deg", 0.0))
        return (math.cos(heading), math.sin(heading))

    @property
    def seconds(self) -> float:
        """About how long the motion takes, s."""
        v = self.values
        if self.kind == "walk":
            return v["distance_m"] / v["speed_m_s"]
        if self.kind == "turn":
            return abs(v["angle_deg"]) / v["rate_deg_s"]
        return (
            4.0 * (v["side_m"] / v["speed_m_s"] + 90.0 / v["rate_deg_s"]) if self.kind == "square" else v["duration_s"]
        )

    def phases(self) -> Tuple[Phase, ...]:
        """Return the mission of a walk, a turn or a square.

        Raises
        ------
        DefinitionError
            For a speed run, which is no mission, and for numbers out of range.
        """
        if self.kind == "walk":
            motion: Phase = walk(self.name, self.values["distance_m"], self.direction(), self.values["speed_m_s"])
        elif self.kind == "turn":
            motion = turn(self.name, math.radians(self.values["angle_deg"]), math.radians(self.values["rate_deg_s"]))
        elif self.kind == "square":
            side = walk("side", self.values["side_m"], (1.0, 0.0), self.values["speed_m_s"])
            return (stand_up(), *(4 * (side, turn("corner", 0.5 * math.pi, math.radians(self.values["rate_deg_s"])))))
        else:
            raise DefinitionError(f"case '{self.name}' of kind '{self.kind}' has no end by odometry; run it by time")
        return (stand_up(), motion)


@dataclass(frozen=True)
class Limit:
    """The greatest (or smallest) value of a column that is allowed over all runs."""

    column: str
    bound: float
    is_minimum: bool

    def is_met(self, values: Sequence[float]) -> bool:
        """Return whether every value meets the limit; nan does not."""
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

    def changed(self, **given: Optional[float]) -> Experiment:
        """Return the experiment with other numbers in every case that has them; None changes nothing.

        Raises
        ------
        DefinitionError
            If no case has such a number, or it is out of range.
        """
        cases = self.cases
        for key, value in given.items():
            if value is None:
                continue
            has = [key in case.values or key in CASE_KEYS[case.kind][1] for case in cases]
            if not any(has):
                raise DefinitionError(f"'{self.name}' has no {key} to set; {self._numbers()}")
            cases = tuple(
                replace(case, values={**case.values, key: value}) if fits else case for case, fits in zip(cases, has)
            )
        return replace(self, cases=cases)

    def _numbers(self) -> str:
        return f"its cases have {', '.join(dict.fromkeys(key for case in self.cases for key in case.values))}"


@dataclass(frozen=True)
class Run:
    """One case with its seed and floor friction (sliding coefficient)."""

    experiment: str
    case: Case
    seed: int
    friction: float
    drawn: Mapping[str, float] = field(default_factory=dict)  #: Values of perturbations


def load_experiments(path: Path) -> Dict[str, Experiment]:
    """Read experiments from YAML.

    Raises
    ------
    DefinitionError
        With the file, the case and the key in its message.
    """
    experiments: Dict[str, Experiment] = {}
    for name, body in read_yaml(path, DefinitionError).items():
        try:
            check_names(body, ("cases", "limits"), ("cases",))
            if not isinstance(body["cases"], Mapping) or not body["cases"]:
                raise SettingsError(f"cases is {body['cases']!r}; give a mapping with at least one case")
            cases = tuple(make_case(case, values) for case, values in body["cases"].items())
            given = body.get("limits") or {}  # no limits where all of them are commented out
            if not isinstance(given, Mapping):
                raise SettingsError(f"limits is {given!r}; give a mapping of figures to numbers")
            bounds = {str(key): check_number(f"limits.{key}", v, *ANY) for key, v in given.items()}
            limits = tuple(Limit(key.lstrip("-"), bound, key.startswith("-")) for key, bound in bounds.items())
        except SettingsError as error:
            raise DefinitionError(f"{path}: {name}: {error}") from None
        experiments[name] = Experiment(name, cases, limits)
    return experiments


def make_case(name: str, values: Mapping[str, Any]) -> Case:
    """Return one entry of the file as a case.

    Raises
    ------
    DefinitionError
        Naming the case and what it lacks.
    """
    known = (
        "kind",
        "gait",
        *dict.fromkeys(key for needed, optional in CASE_KEYS.values() for key in needed + optional),
    )
    try:
        check_names(values, known, ("kind",))
        numbers = {key: value for key, value in values.items() if key not in ("kind", "gait")}
        return Case(name, values["kind"], numbers, values.get("gait", ""))
    except SettingsError as error:
        raise DefinitionError(f"case '{name}': {error}") from None


def plan_runs(
    experiment: Experiment,
    seeds: Sequence[int],
    friction: Tuple[float, float],
    perturbations: Optional[Perturbations] = None,
) -> List[Run]:
    """Repeat each case over the seeds, with friction spread evenly from the first to the second value.

    Parameters
    ----------
    experiment : Experiment
        Its cases.
    seeds : sequence of int
        A run of each case for each.
    friction : (float, float)
        Of the floor, least and greatest coefficient.
    perturbations : Perturbations, optional
        What else each seed draws.

    Raises
    ------
    DefinitionError
        If friction is not 0 < low <= high, a motion has a number out of range or takes longer than `LONGEST_S`, or a
        run by time is to be pushed.
    """
    perturbations = perturbations or Perturbations()
    low, high = friction
    if not (math.isfinite(high) and 0.0 < low <= high):
        raise DefinitionError(f"friction is {low} {high}; give two numbers with 0 < low <= high")
    for case in experiment.cases:
        try:
            if case.kind != "speed":
                case.phases()  # refuses numbers out of range
        except DefinitionError as error:
            raise DefinitionError(f"case '{case.name}': {error}") from None
        if case.seconds > LONGEST_S:
            raise DefinitionError(
                f"case '{case.name}' takes {case.seconds:.3g} s; at most {LONGEST_S:g} s: less far, or faster"
            )
    values = np.linspace(low, high, len(seeds)) if len(seeds) > 1 else np.array([0.5 * (low + high)])
    if any(case.kind == "speed" for case in experiment.cases) and PUSH in perturbations.names:
        raise DefinitionError(f"'{experiment.name}' runs by time, without pushes; leave out {PUSH}")
    return [
        Run(experiment.name, case, seed, float(round(value, 6)), perturbations.draw(seed))
        for case in experiment.cases
        for seed, value in zip(seeds, values)
    ]


def check_speeds(experiments: Sequence[Experiment], base: ChainConfig, is_given: bool) -> None:
    """Refuse a speed that no walk or square reaches, and note those that are faster than their gait.

    Parameters
    ----------
    experiments : sequence of Experiment
        Whose cases; those of kind `speed` show the commanded beside the greatest speed, and are left out.
    base : ChainConfig
        The chain of every run, with the gait of cases that have none of their own.
    is_given : bool
        Whether the speed was given on the command line.

    Raises
    ------
    DefinitionError
        If it was, and is too great for every case.
    """
    greatest: Dict[str, np.ndarray] = {}  # of each gait, forward and sideways, m/s
    too_fast: Dict[str, float] = {}  # sentences, and the greatest speed of the case that each is about, m/s
    cases = [case for one in experiments for case in one.cases if case.kind in ("walk", "square")]
    for case in cases:
        gait = case.gait or base.gait
        if gait not in greatest:
            chain = Chain(base, seed=None, gait=gait, record=False)
            chain.tick()
            assert chain.output is not None  # after a tick
            greatest[gait] = chain.output.walkspace.max_velocity[:2]
        most = 1.0 / float(np.linalg.norm(np.array(case.direction()) / greatest[gait]))
        speed = case.values["speed_m_s"]
        if speed > most + 1e-6:
            sentence = f"case '{case.name}' walks at {speed:g} m/s, and gait '{gait}' at {most:.3g} m/s at most"
            too_fast[sentence] = most
    if is_given and 0 < len(too_fast) == len(cases):
        sentence = max(too_fast, key=lambda each: too_fast[each])
        raise DefinitionError(f"{sentence}; give --speed {too_fast[sentence]:.3g} or less, or a faster --gait")
    for sentence in too_fast:
        say(f"note: {sentence}, so that it is walked at that; --speed sets another")
