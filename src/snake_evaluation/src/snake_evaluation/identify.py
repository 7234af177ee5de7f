# SPDX-License-Identifier: MIT
"""Measures the velocity map of a family of gaits in the simulator, and fits its polynomial."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple

import numpy as np
import yaml

from robot_evaluation.errors import EvaluationError
from robot_evaluation.journal import Journal
from robot_evaluation.parallel import map_jobs
from shellbot_common import write_file
from snake_motion.engine_io import Target
from snake_motion.families import PERIOD, Range, family, narrowed
from snake_motion.velocity_map import EXPONENTS, Branch, VelocityMap, design_matrix

from .cycles import CycleResult, run_target
from .snake_run import Setup

LEVELS = 5  # of each input
_RANGES = ("--amplitude", "--steering")


@dataclass(frozen=True)
class _Case:
    setup: Setup
    name: str
    inputs: Tuple[float, float]
    direction: int


def identify(
    name: str,
    setup: Setup,
    seeds: Sequence[int],
    frictions: Sequence[float],
    jobs: int = 1,
    levels: int = LEVELS,
    amplitude: Optional[Range] = None,
    steering: Optional[Range] = None,
    journal: Optional[Journal] = None,
) -> VelocityMap:
    """Return the map of a family.

    Parameters
    ----------
    name : str
        Of the family.
    setup : Setup
        Robot and physics; seed and friction are replaced.
    seeds, frictions : sequences
        Each point of the grid is measured once for each pair.
    jobs : int
        Processes.
    levels : int
        Values of each input, at least 4.
    amplitude, steering : (2,) tuple, optional
        Ranges of the inputs within the family's, fraction and deg; those of the family if not given.
    journal : Journal, optional
        Runs that it holds are not repeated.

    Raises
    ------
    EvaluationError
        If the robot tipped over somewhere, a joint would be too fast, or a range is not within the family's.
    """
    if levels < 4:
        raise EvaluationError(f"levels is {levels}; a cubic needs at least 4")
    for option, given, (low, high) in zip(_RANGES, (amplitude, steering), family(name).ranges):
        if given is not None and not low <= given[0] < given[1] <= high:
            raise EvaluationError(
                f"{option} of {name} is {given[0]:g} {given[1]:g}; give two numbers from {low:g} to {high:g} that rise"
            )
    kind = narrowed(name, amplitude, steering)
    grid = [
        (float(x), float(y)) for x in np.linspace(*kind.ranges[0], levels) for y in np.linspace(*kind.ranges[1], levels)
    ]
    limits = setup.gaits.limits
    advice = f"narrow what is measured: --family {name}, " + ", ".join(
        f"{option} LOW HIGH within {low:g} to {high:g}" for option, (low, high) in zip(_RANGES, kind.ranges)
    )
    for point in grid:
        reason = limits.refusal(kind.shape(point, setup.modules))
        if reason:
            raise EvaluationError(f"{name} at amplitude {point[0]:.2f} {reason.partition(';')[0]}; {advice}")
    cases = [
        _Case(replace(setup, seed=seed, friction=friction), name, inputs, direction)
        for direction in ((1,) if kind.mirrored else (1, -1))
        for inputs in grid
        for friction in frictions
        for seed in seeds
    ]
    labels = [(f"{name} {c.direction:+d} {c.inputs[0]:.2f} {c.inputs[1]:.0f}", c) for c in cases]
    results: List[CycleResult] = map_jobs(_run, labels, jobs, journal=journal)
    for case, result in zip(cases, results):
        if result.tipped:
            raise EvaluationError(
                f"{name} tipped over at amplitude {case.inputs[0]:.2f}, steering {case.inputs[1]:.0f} deg, friction "
                f"{case.setup.friction}; {advice}"
            )
    branches: Dict[str, Branch] = {}
    squares = np.zeros(3)
    for direction in sorted({case.direction for case in cases}):
        rows = [(c.inputs, r) for c, r in zip(cases, results) if c.direction == direction]
        inputs = np.array([row[0] for row in rows])
        steps = np.array([(1e-3 * r.forward_mm, 1e-3 * r.left_mm, math.radians(r.yaw_deg)) for _, r in rows])
        steps *= [[PERIOD / kind.shape(point, setup.modules).period] for point, _ in rows]
        matrix = design_matrix(inputs, kind)
        coefficients = np.linalg.lstsq(matrix, steps, rcond=None)[0]  # (10, 3)
        squares += ((matrix @ coefficients - steps) ** 2).sum(axis=0)
        branches[str(direction)] = Branch(*(tuple(column) for column in coefficients.T.tolist()))
    residual = np.sqrt(squares / len(cases))
    return VelocityMap(
        name, setup.modules, branches, tuple(frictions), tuple(seeds), tuple(residual.tolist()), amplitude, steering
    )


def write_map(found: VelocityMap, path: Path, command: str) -> None:
    """Write a map with the command that made it."""
    values = _rounded({key: value for key, value in found.to_mapping().items() if value is not None})
    forward, left, yaw = found.residual
    head = (
        f"# Velocity map of the family {found.family}, written by: {command}\n"
        f"# The polynomial leaves {1e3 * forward:.1f} mm forward, {1e3 * left:.1f} mm left, "
        f"{math.degrees(yaw):.2f} deg a cycle (RMS).\n"
        f"# Powers of both inputs in each row: {' '.join(f'{i}{j}' for i, j in EXPONENTS)}\n"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, head + yaml.safe_dump(values, sort_keys=False, default_flow_style=None, width=200))


def _run(case: _Case) -> CycleResult:
    kind = family(case.name)
    shape = kind.shape(case.inputs, case.setup.modules)
    return run_target(case.setup, Target(case.name, shape, case.direction, kind.rolls))


def _rounded(value: object) -> object:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return round(value, 6) if isinstance(value, float) else value
