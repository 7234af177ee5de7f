# SPDX-License-Identifier: MIT
"""A film of the mission, drawn offscreen beside the chain in one process."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np

from shellbot_chain.chain import Chain
from shellbot_client.mission import Mission
from shellbot_client.phases import Roll

from .mission_experiment import Conditions, execute
from .pictures import save_gif

SIZE = (480, 336)  # pixels
CUT = (slice(44, 326), slice(60, 420))  # of them, rows and columns: around the robot
FRAME_S = 0.1  # that a picture is shown for
FAST = 4.0  # times as fast as the robot
SLOW = 2.0  # rolling


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
        speed = SLOW if isinstance(phase, Roll) else FAST
        due = chain.time + speed * FRAME_S
        said = chain.output.mode.text if chain.output is not None else ""
        caption = said if "upright" in said else phase.name
        since = chain.time - mission.records[0].t_end
        frames.append((f"{since:4.1f} s  {caption}   ({speed:.0f}x)", chain.simulator.render(*SIZE)[CUT]))

    row = execute(case, watch)
    save_gif(path, frames, FRAME_S)
    return row
