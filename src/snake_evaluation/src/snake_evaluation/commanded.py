# SPDX-License-Identifier: MIT
"""Random velocities through cmd_vel, open loop: what is commanded beside what happens."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Dict, List, Sequence, Tuple

import numpy as np

from robot_evaluation.errors import EvaluationError
from snake_motion.drive import SIDEWAYS_BY
from snake_motion.families import family

from .cycles import WARM_UP, steps_of
from .snake_run import Setup, SnakeRun

COMMANDS = 7  # of one seed
_CYCLES = 4
BEGIN = 2.0  # s, until a family has faded in


@dataclass(frozen=True)
class Commanded:
    """One command; steps a cycle."""

    family: str
    friction: float
    seed: int
    speed_mm: float  #: Predicted by the map for the command, along the family's axis; of a rotation: deg
    yaw_deg: float
    speed_error_mm: float
    yaw_error_deg: float
    drift_mm: float  #: Across the axis

    @staticmethod
    def summary(rows: Sequence[Commanded]) -> Dict[str, Any]:
        """Return root mean squares, and errors in percent of the commands'."""

        def rms(name: str) -> float:
            return math.sqrt(float(np.mean([getattr(row, name) ** 2 for row in rows])))

        speed, yaw = rms("speed_mm"), rms("yaw_deg")
        advance = {
            "speed_mm": speed,
            "speed_error_mm": rms("speed_error_mm"),
            "speed_error_percent": 100.0 * rms("speed_error_mm") / speed,
        }
        return {
            "family": rows[0].family,
            "n": len(rows),
            **(advance if family(rows[0].family).axis < 2 else {}),
            "yaw_deg": yaw,
            "yaw_error_deg": rms("yaw_error_deg"),
            "yaw_error_percent": 100.0 * rms("yaw_error_deg") / yaw,
            "drift_mm": rms("drift_mm"),
        }


def run_commands(argument: Tuple[Setup, Any]) -> List[Commanded]:
    """Run random commands of a family from within its range, each from the start.

    Raises
    ------
    EvaluationError
        If there is no map of the family for this robot.
    """
    setup, name = argument
    kind = family(name)
    by = {found: key for key, found in SIDEWAYS_BY.items()}.get(name, setup.sideways_by)
    rng = np.random.default_rng(setup.seed)
    rows = []
    for number in range(COMMANDS):
        run = SnakeRun(replace(setup, seed=1000 * (setup.seed or 0) + number, sideways_by=by))
        velocity_map = run.core.drive.maps.get(name)
        if velocity_map is None:
            raise EvaluationError(f"no map of {name} for {setup.modules} modules; run scripts/snake identify")
        inputs = np.array([[rng.uniform(*limits) for limits in velocity_map.kind.ranges]])
        direction = int(rng.choice((-1, 1)))
        chosen = velocity_map.steps(inputs, direction)[0]
        twist = np.zeros(3)
        twist[kind.axis] = chosen[kind.axis] / setup.period
        twist[2] = chosen[2] / setup.period
        rows.append(_drive(run, name, twist))
    return rows


def _drive(run: SnakeRun, name: str, twist: np.ndarray) -> Commanded:
    target, velocity = run.core.drive.target(twist.tolist())
    kind, setup, engine = family(name), run.setup, run.core.engine
    step = driven_steps(run, twist, _CYCLES).mean(axis=0)
    if engine.active is None or target is None or engine.active.name != name:
        raise EvaluationError(f"cmd_vel {twist.tolist()} led to {engine.active}, not to {name}")
    expected, given = velocity * setup.period, twist * setup.period
    factor = math.degrees(1.0) if kind.axis == 2 else 1e3
    across = 1e3 * (step[1 - kind.axis] if kind.axis < 2 else float(np.hypot(*step[:2])))
    return Commanded(
        name, setup.friction, setup.seed or 0, factor * given[kind.axis], math.degrees(expected[2]),
        factor * (step[kind.axis] - given[kind.axis]), math.degrees(step[2] - given[2]), across,
    )  # fmt: skip


def driven_steps(run: SnakeRun, twist: np.ndarray, cycles: int) -> np.ndarray:
    """Return the steps of cycles under a twist (3,), m/s and rad/s, after it has begun: (cycles, 3), m, m, rad.

    What the run measures, such as its work, is that of these cycles.
    """

    def drive(seconds: float) -> None:
        for _ in range(round(seconds / 0.1)):
            run.core.command(twist.tolist())
            run.run(0.1)

    run.run(0.1)
    drive(BEGIN + WARM_UP * run.setup.period)
    run.begin_measuring()
    places = [run.truth]
    for _ in range(cycles):
        drive(run.setup.period)
        places.append(run.truth)
    return steps_of(places)
