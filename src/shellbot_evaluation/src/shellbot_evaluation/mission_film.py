# SPDX-License-Identifier: MIT
"""A film of the mission, drawn offscreen beside the chain in one process."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np

from shellbot_chain.chain import Chain

from .mission import Mission
from .mission_experiment import Conditions, execute
from .phases import GoTo
from .pictures import save_gif

SIZE = (400, 280)  # pixels
FRAME_S = 0.1  # that a picture is shown for
FAST = 4.0  # times as fast as the robot: transformations
SLOW = 2.0  # the rest


def film(path: Path, case: Conditions) -> Dict[str, Any]:
    """Run the mission and write an animated GIF of it; returns the row of the run.

    Raises
    ------
    SimulatorError
        If nothing can be rendered here.
    """
    frames: List[Tuple[str, np.ndarray]] = []
    due = 0.0

    def watch(chain: Chain, mission: Mission) -> None:
        nonlocal due
        phase = mission.phase
        if phase is None or not mission.records or chain.time < due:  # not before it stands
            return
        speed = FAST if isinstance(phase, GoTo) else SLOW
        due = chain.time + speed * FRAME_S
        said = chain.output.mode.text if chain.output and isinstance(phase, GoTo) else ""
        caption = said if "upright" in said else phase.name
        since = chain.time - mission.records[0].t_end
        frames.append((f"{since:4.1f} s  {caption}   ({speed:.0f}x)", chain.simulator.render(*SIZE)))
        if mission.phase is None:
            chain.simulator.close()

    row = execute(case, watch)
    save_gif(path, frames, FRAME_S)
    return row
