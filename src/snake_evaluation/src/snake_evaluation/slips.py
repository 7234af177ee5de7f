# SPDX-License-Identifier: MIT
"""Measures how the carrying corners slip in each gait, and writes the corrections of the odometry."""

from __future__ import annotations

import cmath
import math
from dataclasses import replace
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
from scipy.optimize import minimize

from robot_evaluation.journal import Journal
from robot_evaluation.parallel import map_jobs
from shellbot_common import write_file
from snake_motion.engine_io import Target
from snake_motion.families import FAMILIES
from snake_motion.odometry import LEAST

from .snake_run import Setup, SnakeRun

_WARM_UP, _CYCLES = 3.0, 4
_LEAST_COHERENCE = 0.9  # of estimated and true steps; below, no factor describes the slip
_STAYS = [0.0, 0.0]  # slip of a rotation, whose estimated steps are all wrong: it stays within 2 cm of its place
_SIMILAR = 0.02  # m: steps of a rotation are small; a smaller one says nothing about a factor
_MOVING = [name for name, kind in FAMILIES.items() if kind.axis < 2]
FAMILY_ROWS = [name + end for name in _MOVING for end in ("", LEAST)]

Steps = Tuple[np.ndarray, np.ndarray]
"""Estimated and true displacements of each cycle, complex, m."""


def identify_slips(
    setup: Setup,
    seeds: Sequence[int],
    frictions: Sequence[float],
    jobs: int = 1,
    gaits: Sequence[str] = (),
    journal: Optional[Journal] = None,
) -> Dict[str, Dict[str, List[float]]]:
    """Return true over estimated distance and direction (deg) by gait or family and direction.

    Both are one complex factor c, which commutes with the heading, so that it can be applied at each tick. Of
    |true - c estimated| / |true| after all cycles of a run it makes the greatest over the runs least, since a robot
    does not know its floor. A gait whose steps no factor describes is left out, and so is one that the robot cannot do.
    Families are measured at the least and at the greatest amplitude of their maps, but for the rotation, which stays
    in its place.

    Parameters
    ----------
    setup : Setup
        Robot and physics; seed and friction are replaced.
    seeds, frictions : sequences
        Each gait is run once for each pair.
    jobs : int
        Processes.
    gaits : sequence of str
        Of the table, or of `FAMILY_ROWS`; none: all of both that the robot can do.
    journal : Journal, optional
        Runs that it holds, packed by `pack_steps`, are not repeated.

    Raises
    ------
    SnakeMotionError
        If the robot cannot do one of `gaits`.
    """
    names = list(gaits) or [name for name in setup.gaits.shapes if name != "still"] + FAMILY_ROWS
    for name in names:
        if name not in FAMILY_ROWS:
            setup.gaits.shape(name)
    keys = [(name, direction) for name in names for direction in (1, -1)]
    cases = [
        (replace(setup, seed=seed, friction=friction), name, direction)
        for name, direction in keys
        for friction in frictions
        for seed in seeds
    ]
    labels = [(f"{name} {d:+d} {s.friction} seed {s.seed}", (s, name, d)) for s, name, d in cases]
    found = map_jobs(_steps, labels, jobs, journal=journal)
    slips: Dict[str, Dict[str, List[float]]] = {}
    for name, direction in keys:
        runs = [steps for case, steps in zip(cases, found) if case[1:] == (name, direction)]
        own, true = (np.concatenate([run[k] for run in runs]) for k in (0, 1))
        weight = 1.0 / np.maximum(np.abs(true), _SIMILAR) ** 2
        power, cross = float(weight @ np.abs(own) ** 2), complex(np.sum(weight * np.conj(own) * true))
        coherence = abs(cross) / math.sqrt(power * float(weight @ np.abs(true) ** 2))
        if coherence >= _LEAST_COHERENCE:
            factor = _fairest(runs, cross / power)
            slips.setdefault(name, {})[str(direction)] = [
                round(abs(factor), 3), round(math.degrees(cmath.phase(factor)), 1),
            ]  # fmt: skip
    return {**slips, **{name: {"1": _STAYS, "-1": _STAYS} for name in FAMILIES if name not in _MOVING}}


def _fairest(runs: Sequence[Steps], start: complex) -> complex:
    """Return the factor of the least greatest error over runs (estimated and true steps); `start` is near it."""
    own, true = (np.array([run[k].sum() for run in runs]) for k in (0, 1))
    scale = np.maximum(np.abs(true), _CYCLES * _SIMILAR)

    def greatest(parts: np.ndarray) -> float:
        return float(np.max(np.abs(complex(*parts) * own - true) / scale))

    found = minimize(greatest, (start.real, start.imag), method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-5})
    return complex(*found.x)


def write_slips(slips: Dict[str, Dict[str, List[float]]], path: Path) -> None:
    """Write the file of the odometry."""
    head = (
        "# How the carrying corners slip, by gait or family of cmd_vel and by direction: true over estimated\n"
        "# distance, and by how many degrees the true direction lies to the left of the estimated one. A gait that is\n"
        "# missing is not corrected: no one factor describes its slip. Written by: scripts/snake slips\n"
    )
    rows = [
        f"{name}: {{{', '.join(f'{chr(34)}{d}{chr(34)}: [{v[0]}, {v[1]}]' for d, v in row.items())}}}\n"
        for name, row in slips.items()
    ]
    write_file(path, head + "".join(rows))


def pack_steps(steps: Steps) -> List[List[Tuple[float, float]]]:
    """Return complex steps as a journal can hold them."""
    return [[(z.real, z.imag) for z in column.tolist()] for column in steps]


def unpack_steps(packed: Sequence[Sequence[Sequence[float]]]) -> Steps:
    """Return what `pack_steps` has packed."""
    own, true = (np.array([complex(*z) for z in column]) for column in packed)
    return own, true


def _steps(case: Any) -> Steps:
    """Return estimated and true displacements of a cycle, complex, m, both in the frames of their start."""
    setup, name, direction = case
    run = SnakeRun(setup, slips={})
    run.run(0.1)
    engine = run.core.engine
    family_name = name.replace(LEAST, "")
    if family_name in FAMILIES:
        velocity_map = run.core.drive.maps.get(family_name)
        kind = velocity_map.kind if velocity_map else FAMILIES[family_name]
        amplitude, steering = kind.ranges[0][not name.endswith(LEAST)], sum(kind.ranges[1]) / 2.0
        engine.drive(Target(kind.name, kind.shape((amplitude, steering), setup.modules), direction, kind.rolls))
    else:
        engine.request_gait(f"{name} {direction}")
    run.run(_WARM_UP)
    period = engine.active.shape.period if engine.active else 1.0
    places = []
    for _ in range(_CYCLES + 1):
        truth, (x, y, yaw) = run.truth, run.estimate
        places.append((complex(x, y), yaw, complex(truth.x, truth.y), truth.yaw))
        run.run(period)
    own, own_yaw, true, true_yaw = (np.array(column) for column in zip(*places))
    return np.diff(own) * np.exp(-1j * own_yaw[:-1]), np.diff(true) * np.exp(-1j * true_yaw[:-1])
