# SPDX-License-Identifier: MIT
"""Films of gaits."""

from __future__ import annotations

from pathlib import Path
from typing import List, Sequence, Tuple

import numpy as np

from robot_evaluation.pictures import save_gif
from shellbot_simulator.core.render_process import View

from .snake_run import Setup, SnakeRun

FRAME_S = 0.1
_SIZE = (320, 200)  # pixels
_CYCLES = 2


def film_gait(setup: Setup, name: str, path: Path) -> None:
    """Write two cycles of a gait as a GIF, seen by a camera that stands still.

    Raises
    ------
    EvaluationError
        If this robot cannot do it.
    """
    run = SnakeRun(setup, maps={})
    run.run(0.1)
    run.request(name)
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


def film_all(setup: Setup, names: Sequence[str], folder: Path) -> List[Path]:
    """Write a film of each gait; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"snake_{name}.gif" for name in names]
    for name, path in zip(names, paths):
        film_gait(setup, name, path)
    return paths
