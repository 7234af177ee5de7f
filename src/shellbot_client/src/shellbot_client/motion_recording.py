# SPDX-License-Identifier: MIT
"""What the joints did during a part of a program, to be saved as an action."""

from __future__ import annotations

from pathlib import Path
from typing import Any, List, Sequence, Union

import numpy as np

from robot_evaluation.errors import DefinitionError
from shellbot_action_manager.actions.teacher import SavedAction, Teacher
from shellbot_action_manager.actions.teaching import Tolerance
from shellbot_action_manager.errors import ActionManagerError

from .link import Link

_POSTURE = 0.5  # s over which a posture is averaged


class MotionRecording:
    """Joint positions at each tick; `Shellbot.recording` fills it.

    Attributes
    ----------
    t : list of float
        s.
    names : sequence of str
        Of the joints.
    q : list of sequence of float
        Their positions at these times, rad.
    """

    def __init__(self) -> None:
        self.t: List[float] = []
        self.names: Sequence[str] = ()
        self.q: List[Sequence[float]] = []

    def save(
        self,
        name: str,
        file: Union[str, Path],
        text: str = "",
        posture: bool = False,
        tolerance_mm: float = 3.0,
        tolerance_deg: float = 1.0,
        force: bool = False,
    ) -> SavedAction:
        """Save it as an action in a file of actions; a robot whose action folders contain it performs it by name.

        Parameters
        ----------
        name, text : str
            Of the action.
        file : str or Path
            A new one, or one with other actions, which stay as they are.
        posture : bool
            Whether only the posture at the end counts: the action goes to it and holds it.
        tolerance_mm, tolerance_deg : float
            How far the action may be from the recording.
        force : bool
            Whether to replace an action of that name.

        Raises
        ------
        DefinitionError
            If the robot could not perform it, or it cannot be saved there; with the reason. The file is as it was.
        """
        try:
            teacher = Teacher.for_joints(self.names)
            recording = teacher.recording(self.t, self.names, np.array(self.q))
            if posture and self.t:
                recording = recording.window(self.t[-1] - _POSTURE, self.t[-1]).posture()
            return teacher.save(recording, name, file, text, Tolerance(mm=tolerance_mm, deg=tolerance_deg), force)
        except ActionManagerError as error:
            raise DefinitionError(str(error)) from None


class RecordingLink:
    """A link whose ticks are recorded.

    Parameters
    ----------
    link : Link
        The robot.
    motion : MotionRecording
        Where the joints go.
    """

    def __init__(self, link: Link, motion: MotionRecording) -> None:
        self._link, self._motion = link, motion

    def __getattr__(self, name: str) -> Any:
        """Return what the link has."""
        return getattr(self._link, name)

    def tick(self) -> None:
        """Wait for the next tick and record it."""
        self._link.tick()
        names, q = self._link.joints
        self._motion.t.append(self._link.observe().t)
        self._motion.names = names
        self._motion.q.append(q)
