# SPDX-License-Identifier: MIT
"""Films of gaits, and their steps over the shape space as a figure."""

from __future__ import annotations

import io
from pathlib import Path
from typing import List, Sequence, Tuple

import matplotlib
import numpy as np

from robot_evaluation.errors import EvaluationError
from robot_evaluation.parallel import map_jobs
from robot_evaluation.pictures import save_gif
from shellbot_common import write_file
from shellbot_simulator.core.render_process import View
from snake_motion.engine_io import Target
from snake_motion.gait_table import GaitRow
from snake_motion.waves import WaveRow

from .cycles import CycleResult, run_target
from .snake_run import Setup, SnakeRun

FRAME_S = 0.1
_SIZE = (320, 200)  # pixels
_CYCLES = 2
ALPHAS, UNDULATIONS = (15.0, 20.0, 25.0, 30.0, 40.0, 50.0), (1.0, 1.5, 2.0, 2.5)
ARCS = (45.0, 60.0, 90.0, 120.0, 150.0, 180.0)
_STEPS = {  # label, and what weighs alike
    "forward_mm": ("forward, mm a cycle", 50.0),
    "left_mm": ("left, mm a cycle", 50.0),
    "yaw_deg": ("yaw, deg a cycle", 10.0),
}


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


def shape_space(setup: Setup, gait: str, path: Path, jobs: int = 1) -> None:
    """Draw step and cost of transport of a gait over winding angle and undulations.

    Its greater winding angle goes through `ALPHAS` (of circular waves: the arc, through `ARCS`), its undulations of
    that wave through `UNDULATIONS`; the other wave changes in proportion.

    Raises
    ------
    SnakeMotionError
        If there is no such gait.
    EvaluationError
        If its row is not in shape space.
    """
    table = setup.gaits
    table.shape(gait)
    row = table.rows[gait]
    main = max((row.pitch, row.yaw), key=lambda wave: abs(wave.alpha_deg or 0.0))
    if not main.alpha_deg:
        raise EvaluationError(f"gait {gait} has no alpha_deg; choose one whose row is in shape space, such as straight")
    alphas, undulations = (ALPHAS, UNDULATIONS) if main.k else (ARCS, (0.0,))
    grid = [(alpha / main.alpha_deg, k / main.k if main.k else 1.0) for k in undulations for alpha in alphas]
    cases = [(f"{gait} alpha x {a:.2f} k x {k:.2f}", (setup, gait, _scaled(row, a, k))) for a, k in grid]
    results = map_jobs(_run, cases, jobs)
    matplotlib.use("Agg")
    from matplotlib import pyplot

    key = max(_STEPS, key=lambda name: float(np.abs([getattr(r, name) for r in results]).max()) / _STEPS[name][1])
    figure, axes = pyplot.subplots(1, 2, figsize=(9.0, 3.6), sharex=True)
    for axis, name, label in zip(axes, (key, "cost_of_transport"), (_STEPS[key][0], "cost of transport")):
        values = np.array([getattr(r, name) for r in results]).reshape(len(undulations), len(alphas))
        for k, line in zip(undulations, values):
            axis.plot(alphas, line, marker="o", markersize=3, label=f"k {k:g}")
        axis.set_xlabel("winding angle, deg" if main.k else "arc, deg")
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    stream = io.BytesIO()
    figure.savefig(stream, dpi=90, format=path.suffix[1:] or "png")
    pyplot.close(figure)
    write_file(path, stream.getvalue())


def _scaled(row: GaitRow, alpha: float, k: float) -> GaitRow:
    """Return a row whose winding angles and undulations are multiplied."""

    def wave(given: WaveRow) -> WaveRow:
        changes = {"alpha_deg": (given.alpha_deg, alpha), "k": (given.k, k)}
        return given.replace(**{key: value * factor for key, (value, factor) in changes.items() if value is not None})

    return row.replace(pitch=wave(row.pitch), yaw=wave(row.yaw))


def _run(argument: Tuple[Setup, str, GaitRow]) -> CycleResult:
    setup, gait, row = argument
    return run_target(setup, Target(gait, row.shape(setup.modules, setup.time_scale), rolls=row.rolls))


def film_all(setup: Setup, names: Sequence[str], folder: Path) -> List[Path]:
    """Write a film of each gait; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"snake_{name}.gif" for name in names]
    for name, path in zip(names, paths):
        film_gait(setup, name, path)
    return paths
