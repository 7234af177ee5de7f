# SPDX-License-Identifier: MIT
"""Pictures of a robot that something else moves: as its description says it looks, with marks drawn into the scene."""

from __future__ import annotations

from typing import Mapping, Optional, Sequence

import numpy as np

from shellbot_common import RobotProfile
from shellbot_common.view import Mark, View

from .posed_model import BasePose, PosedModel
from .render_process import RenderProcess

_NICENESS = 15  # an operator waits for the robot, not for its picture


class RobotPicture:
    """The simulator's own model of a robot, posed by measurements and never simulated.

    Parameters
    ----------
    urdf_text : str
        The robot description.
    profile : RobotProfile
        What the URDF cannot say.

    Raises
    ------
    ModelError
        If the text is no usable URDF; names the link, joint or mesh.
    """

    def __init__(self, urdf_text: str, profile: RobotProfile) -> None:
        self._robot = PosedModel(urdf_text, profile)
        self._renderer = RenderProcess(self._robot.model, nice=False, niceness=_NICENESS)

    def render(
        self,
        base: Optional[BasePose],
        angles: Mapping[str, float],
        width: int,
        height: int,
        view: View,
        marks: Sequence[Mark] = (),
        ghost: Optional[BasePose] = None,
    ) -> np.ndarray:
        """Return a picture.

        Parameters
        ----------
        base : BasePose or None
            Where the base is; None: where it was last. A fixed base stays where its profile says.
        angles : mapping of str to float
            Joint angles by name, rad. Unknown names and values that are not finite leave the joint where it was.
        width, height : int
            Pixels, 16 .. 2048.
        view : View
            From where.
        marks : sequence of Mark
            Drawn into the scene, in the world's axes.
        ghost : BasePose, optional
            Where the same robot is drawn once more, transparent.

        Returns
        -------
        (height, width, 3) uint8 array
            Red, green, blue.

        Raises
        ------
        RenderError
            If no picture can be made here; says what to install.
        """
        self._robot.put(angles, base)
        second = self._robot.with_base(ghost) if ghost is not None and self._robot.has_free_base else None
        return self._renderer.render(self._robot.qpos, width, height, view, marks, second)

    def close(self) -> None:
        """End the process that draws."""
        self._renderer.close()
