# SPDX-License-Identifier: MIT
"""What a gait does in a cycle: steps in the frame of the virtual chassis, work, falls."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Dict, List, Sequence, Tuple

import numpy as np

from robot_evaluation.errors import EvaluationError
from robot_evaluation.metrics import GRAVITY
from robot_evaluation.stats import spread
from snake_motion.engine_io import Target

from .snake_run import Setup, SnakeRun, Truth

WARM_UP = 2  # cycles before the first that counts
_CASE = ("friction", "alpha_deg", "k")
_CYCLES = 4  # of a gait outside the table
_START = 4.0  # s that a gait may take to begin
_TIPPED = math.radians(60.0)  # of roll against that at the start of the gait


@dataclass(frozen=True)
class CycleResult:
    """Means of a cycle of one run."""

    gait: str
    direction: int
    modules: int
    friction: float
    seed: int
    forward_mm: float
    left_mm: float
    yaw_deg: float
    cost_of_transport: float  #: Positive work over weight and distance; NaN for a step below 1 mm
    power_w: float
    saturated_percent: float  #: Of joints and time, at the stall torque
    greatest_speed: float  #: rad/s, of any measured joint
    odometry_error_percent: float  #: Of the distance, over all cycles
    odometry_yaw_deg_per_m: float
    tipped: bool
    alpha_deg: float = 0.0  #: The gait's greater winding angle; 0 of a gait that is not in shape space
    k: float = 0.0  #: Its undulations; 0 likewise, and of a circular one


def run_cycles(setup: Setup, gait: str, direction: int, cycles: int = 6) -> CycleResult:
    """Return what a gait of the table does.

    Raises
    ------
    EvaluationError
        If the gait does not exist, this robot cannot do it, it does not begin, or no cycle is to count.
    """
    return request_cycles(SnakeRun(setup), gait, direction, cycles)


def request_cycles(run: SnakeRun, gait: str, direction: int, cycles: int) -> CycleResult:
    """As `run_cycles`, on a robot that was made."""
    if cycles < 1:
        raise EvaluationError(f"cycles is {cycles}; give at least 1")
    run.run(0.1)
    run.request(f"{gait} {direction}")
    return measure(run, gait, direction, cycles, run.core.engine.gaits.rows[gait].rolls)


def run_target(setup: Setup, target: Target) -> CycleResult:
    """Return what a gait outside the table does, such as a member of a family."""
    run = SnakeRun(setup, maps={})
    run.run(0.1)
    run.core.engine.drive(target)
    return measure(run, target.name, target.direction, _CYCLES, target.rolls)


def measure(run: SnakeRun, gait: str, direction: int, cycles: int, rolls: bool) -> CycleResult:
    """Let a requested gait begin, warm up, and measure it."""
    engine = run.core.engine
    if not run.run(_START, lambda: engine.active is not None and engine.active.name == gait):
        raise EvaluationError(f"gait {gait} did not begin within {_START:g} s; look at it with scripts/snake film")
    assert engine.active is not None  # it has begun
    period, start_roll = engine.active.shape.period, run.truth.roll
    run.run(WARM_UP * period)
    run.begin_measuring()
    places, estimates, is_tipped = [run.truth], [run.estimate], False
    for _ in range(cycles):
        run.run(period)
        places.append(run.truth)
        estimates.append(run.estimate)
        is_tipped |= not rolls and abs(math.remainder(places[-1].roll - start_roll, 2.0 * math.pi)) > _TIPPED
    steps = steps_of(places)
    mean, distance = steps.mean(axis=0), float(np.hypot(*steps[:, :2].T).sum())
    setup, row = run.setup, engine.gaits.rows.get(gait)
    error, turn = _odometry(places, estimates)
    return CycleResult(
        gait, direction, setup.modules, setup.friction, -1 if setup.seed is None else setup.seed,
        1e3 * mean[0], 1e3 * mean[1], math.degrees(mean[2]),
        cost_of_steps(run.energy, run.simulator.mass, steps),
        run.energy / (cycles * period),
        100.0 * run.saturated / (setup.modules * cycles * period),
        run.greatest_speed, 100.0 * error / distance if distance > 1e-3 * cycles else math.nan,
        math.degrees(turn) / distance if distance > 1e-3 * cycles else math.nan, bool(is_tipped),
        *(row.winding(setup.modules) if row else ()),
    )  # fmt: skip


def steps_of(places: Sequence[Truth]) -> np.ndarray:
    """Return forward, left (m) and turning (rad) between places, each in the frame at its start, (k - 1, 3)."""
    xy, yaw = np.array([(p.x, p.y) for p in places]), np.unwrap([p.yaw for p in places])
    cos, sin = np.cos(yaw[:-1]), np.sin(yaw[:-1])
    dx, dy = np.diff(xy, axis=0).T
    return np.stack([cos * dx + sin * dy, -sin * dx + cos * dy, np.diff(yaw)], axis=1)


def cost_of_steps(work_j: float, mass_kg: float, steps: np.ndarray) -> float:
    """Return the cost of transport of steps (k, 3), m, m and rad: work over m g d; NaN below 1 mm a step."""
    distance = float(np.hypot(*steps[:, :2].T).sum())
    return work_j / (mass_kg * GRAVITY * distance) if distance > 1e-3 * len(steps) else math.nan


def summarise(runs: Sequence[CycleResult]) -> Dict[str, Any]:
    """Return means, and the spread of each figure, of repeated runs of one case; whether any run tipped over."""
    figures = [name for name, value in asdict(runs[0]).items() if isinstance(value, float) and name not in _CASE]
    summary: Dict[str, Any] = {"n": len(runs)}
    for name in figures:
        values = [v for v in (getattr(run, name) for run in runs) if math.isfinite(v)]
        found = spread(values) if values else None
        summary[name] = found.mean if found else math.nan
        summary[f"{name}_std"] = found.std if found else math.nan
    summary["tipped"] = sum(run.tipped for run in runs)
    return summary


def _odometry(places: List[Truth], estimates: List[Tuple[float, float, float]]) -> Tuple[float, float]:
    """Return the error of place (m) and heading (rad) that grew over a run, seen from where it began."""
    own = steps_of([Truth(x, y, yaw, 0.0, 1.0) for x, y, yaw in (estimates[0], estimates[-1])])[0]
    true = steps_of([places[0], places[-1]])[0]
    return float(np.hypot(*(own - true)[:2])), abs(math.remainder(own[2] - true[2], 2.0 * math.pi))
