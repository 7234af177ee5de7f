# SPDX-License-Identifier: MIT
"""The simulator's own model of a robot, posed by measurements and never simulated."""

from __future__ import annotations

from typing import Mapping, Optional, Tuple

import mujoco
import numpy as np

from shellbot_common import RobotProfile
from shellbot_common.rotations import quaternion_from_rpy

from .config import load_config
from .model_builder import build_model

BasePose = Tuple[np.ndarray, np.ndarray]
"""Position (3,), m, and quaternion (x, y, z, w) of the base in the world."""


class PosedModel:
    """A model and its position.

    Parameters
    ----------
    urdf_text : str
        The robot description.
    profile : RobotProfile
        What the URDF cannot say.

    Attributes
    ----------
    model : mujoco.MjModel
        To be read only.
    qpos : (nq,) array
        Its position; at first the pose in which the profile puts the robot.
    has_free_base : bool
        Whether the base moves.

    Raises
    ------
    ModelError
        If the text is no usable URDF; names the link, joint or mesh.
    """

    def __init__(self, urdf_text: str, profile: RobotProfile) -> None:
        self.model = model = build_model(urdf_text, profile, load_config())
        self.qpos = np.array(mujoco.MjData(model).qpos)
        self._index = {name: int(model.jnt_qposadr[model.joint(name).id]) for name in profile.joints}
        self.has_free_base = profile.base.kind == "free"
        upright = np.array(quaternion_from_rpy(*np.radians(profile.base.rpy_deg)))
        self.put(profile.pose(profile.base.spawn_pose), (np.array(profile.base.position), upright))

    def put(self, angles: Mapping[str, float], base: Optional[BasePose]) -> None:
        """Take measurements over.

        Parameters
        ----------
        angles : mapping of str to float
            Joint angles by name, rad. Unknown names and values that are not finite leave the joint where it was.
        base : BasePose or None
            Where the base is; None: where it was last. A fixed base stays where its profile says.
        """
        for name, angle in angles.items():
            if name in self._index and np.isfinite(angle):
                self.qpos[self._index[name]] = angle
        if base is not None:
            self.qpos[:] = self.with_base(base)

    def with_base(self, base: BasePose) -> np.ndarray:
        """Return the position (nq,) with the base elsewhere; a pose that is not finite leaves it where it is."""
        position, quaternion = base
        qpos = self.qpos.copy()
        length = float(np.linalg.norm(quaternion))
        if self.has_free_base and np.isfinite(position).all() and np.isfinite(length) and length > 1e-9:
            qpos[:3] = position
            qpos[3:7] = np.roll(quaternion, 1) / length
        return qpos
