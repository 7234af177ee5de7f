# SPDX-License-Identifier: MIT
"""Films of gaits, and their steps over the shape space as a figure."""

from __future__ import annotations

from pathlib import Path
from typing import List, Sequence, Tuple

import matplotlib
import numpy as np
from snake_motion.engine import Target
from snake_motion.gait_shape import GaitShape
from snake_motion.waves import WaveRow

from shellbot_evaluation.errors import EvaluationError
from shellbot_evaluation.parallel import map_jobs
from shellbot_evaluation.pictures import save_gif
from shellbot_simulator.core.render_process import View

from .cycles import CycleResult, run_target
from .snake_run import Setup, SnakeRun

FRAME_S = 0.1
_SIZE = (320, 200)  # pixels
_CYCLES = 2
ALPHAS, UNDULATIONS = (15.0, 20.0, 25.0, 30.0, 40.0, 50.0), (1.0, 1.5, 2.0, 2.5)


def film_gait(setup: Setup, name: str, path: Path) -> None:
    """Write two cycles of a gait as a GIF, seen by a camera that stands still.

    Raises
    ------
    EvaluationError
        If this robot cannot do it.
    """
    run = SnakeRun(setup, maps={})
    run.run(0.1)
    accepted, reason = run.core.engine.request_gait(name)
    if not accepted:
        raise EvaluationError(reason)
    period = run.core.engine.gaits.shape(name).period
    run.run(3.0, lambda: run.core.engine.active is not None)
    run.run(period)
    truth = run.truth
    view = View((truth.x, truth.y, 0.0), 1.9, 120.0, -40.0)
    frames: List[Tuple[str, np.ndarray]] = []
    while len(frames) < _CYCLES * period / FRAME_S:
        frames.append((name.replace("_", " "), run.simulator.render(*_SIZE, view)))
        run.run(FRAME_S * max(1.0, period))
    run.simulator.close()
    save_gif(path, frames, FRAME_S)


def shape_space(setup: Setup, path: Path, jobs: int = 1) -> None:
    """Draw step and cost of transport of straight gaits over winding angle and undulations."""
    cases = [(f"alpha {a:.0f} k {k}", (setup, a, k)) for k in UNDULATIONS for a in ALPHAS]
    results = map_jobs(_straight, cases, jobs)
    shape = (len(UNDULATIONS), len(ALPHAS))
    step, cost = (
        np.array([getattr(r, key) for r in results]).reshape(shape) for key in ("forward_mm", "cost_of_transport")
    )
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9.0, 3.6), sharex=True)
    for axis, table, label in zip(axes, (step, cost), ("forward, mm a cycle", "cost of transport")):
        for k, row in zip(UNDULATIONS, table):
            axis.plot(ALPHAS, row, marker="o", markersize=3, label=f"k {k:g}")
        axis.set_xlabel("winding angle, deg")
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=90)
    pyplot.close(figure)


def _straight(argument: Tuple[Setup, float, float]) -> CycleResult:
    setup, alpha, k = argument
    wave = WaveRow(alpha_deg=alpha, k=k).wave(setup.modules, 0)
    return run_target(setup, Target("straight", GaitShape(wave, WaveRow().wave(setup.modules, 1), 1.0)))


def film_all(setup: Setup, names: Sequence[str], folder: Path) -> List[Path]:
    """Write a film of each gait; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"snake_{name}.gif" for name in names]
    for name, path in zip(names, paths):
        film_gait(setup, name, path)
    return paths
