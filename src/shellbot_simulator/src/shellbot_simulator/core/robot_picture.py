# SPDX-License-Identifier: MIT
"""Pictures of a robot that something else moves: as its description says it looks, with marks drawn into the scene."""

from __future__ import annotations

from typing import Mapping, Optional, Sequence, Tuple

import mujoco
import numpy as np

from shellbot_common import RobotProfile
from shellbot_common.rotations import quaternion_from_rpy
from shellbot_common.view import Mark, View

from .config import load_config
from .model_builder import build_model
from .render_process import RenderProcess

BasePose = Tuple[np.ndarray, np.ndarray]
"""Position (3,), m, and quaternion (x, y, z, w) of the base in the world."""

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
        model = build_model(urdf_text, profile, load_config())
        self._qpos = np.array(mujoco.MjData(model).qpos)
        self._index = {name: int(model.jnt_qposadr[model.joint(name).id]) for name in profile.joints}
        for name, angle in profile.pose(profile.base.spawn_pose).items():
            if name in self._index:
                self._qpos[self._index[name]] = angle
        self._free = profile.base.kind == "free"
        if self._free:
            self._put_base(self._qpos, (np.array(profile.base.position), _quaternion(profile)))
        self._renderer = RenderProcess(model, nice=False, niceness=_NICENESS)

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
        for name, angle in angles.items():
            if name in self._index and np.isfinite(angle):
                self._qpos[self._index[name]] = angle
        if base is not None:
            self._put_base(self._qpos, base)
        second = None
        if ghost is not None and self._free:
            second = self._qpos.copy()
            self._put_base(second, ghost)
        return self._renderer.render(self._qpos, width, height, view, marks, second)

    def close(self) -> None:
        """End the process that draws."""
        self._renderer.close()

    def _put_base(self, qpos: np.ndarray, base: BasePose) -> None:
        position, quaternion = base
        length = float(np.linalg.norm(quaternion))
        if self._free and np.isfinite(position).all() and np.isfinite(length) and length > 1e-9:
            qpos[:3] = position
            qpos[3:7] = np.roll(quaternion, 1) / length


def _quaternion(profile: RobotProfile) -> np.ndarray:
    return np.array(quaternion_from_rpy(*np.radians(profile.base.rpy_deg)))
