# SPDX-License-Identifier: MIT
"""A film of the mission: drawn offscreen beside the chain in one process, or from the camera of a running robot."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np

from robot_evaluation.pictures import save_gif, scaled
from shellbot_chain.chain import Chain
from shellbot_client.mission import Mission
from shellbot_client.phases import Phase, Roll

from .mission_experiment import Conditions, execute

SIZE = (480, 336)  # pixels
CUT = (0.131, 0.970, 1.072)  # top, bottom and width around the robot, in heights of the picture
WIDTH = 360  # pixels that are left, of every camera
FRAME_S = 0.1  # that a picture is shown for
FAST = 4.0  # times as fast as the robot
SLOW = 2.0  # rolling


class Reel:
    """Frames of a film, at most one where one is due."""

    def __init__(self) -> None:
        self._frames: List[Tuple[str, np.ndarray]] = []
        self._due = -math.inf

    @property
    def count(self) -> int:
        """How many frames it has."""
        return len(self._frames)

    def due(self, t: float) -> bool:
        """Return whether the film lacks a frame at simulated time t, s."""
        return t > self._due - 1e-6

    def add(self, t: float, since: float, phase: Phase, text: str, picture: np.ndarray) -> None:
        """Add a frame.

        Parameters
        ----------
        t, since : float
            Simulated time of the picture and of the start of the mission, s.
        phase : Phase
            Of the mission; rolling is shown more slowly.
        text : str
            Sentence of the mode, shown in place of the phase's name while the ball rolls upright.
        picture : (height, width, 3) uint8 array
            Of a camera with the robot in the middle.
        """
        speed = SLOW if isinstance(phase, Roll) else FAST
        self._due = t + speed * FRAME_S
        caption = text if "upright" in text else phase.name
        self._frames.append((f"{t - since:4.1f} s  {caption}   ({speed:.0f}x)", cropped(picture)))

    def save(self, path: Path) -> None:
        """Write an animated GIF; raises EvaluationError without frames."""
        save_gif(path, self._frames, FRAME_S)


def film(path: Path, case: Conditions) -> Dict[str, Any]:
    """Run the mission and write an animated GIF of it; returns the row of the run.

    Raises
    ------
    SimulatorError
        If nothing can be rendered here.
    """
    reel = Reel()

    def watch(chain: Chain, mission: Mission) -> None:
        phase = mission.phase
        if phase is None or not mission.records or not reel.due(chain.time):  # not before it stands
            return
        text = chain.output.mode.text if chain.output is not None else ""
        reel.add(chain.time, mission.records[0].t_end, phase, text, chain.simulator.render(*SIZE))

    row = execute(case, watch)
    reel.save(path)
    return row


def cropped(picture: np.ndarray) -> np.ndarray:
    """Return what is around the robot in the middle of a (height, width, 3) uint8 picture, `WIDTH` pixels wide."""
    height, width = picture.shape[:2]
    top, bottom, wide = (round(fraction * height) for fraction in CUT)
    left = max(0, (width - wide) // 2)
    return scaled(picture[top:bottom, left : width - left], WIDTH)
