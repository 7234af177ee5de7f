# SPDX-License-Identifier: MIT
"""What a robot looks like, for a renderer elsewhere: its visual shapes once, then where its bodies are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Optional, Tuple

import mujoco
import numpy as np

from shellbot_common import RobotProfile

from .posed_model import BasePose, PosedModel
from .urdf_tree import VISUAL_GROUP

_KINDS = {
    mujoco.mjtGeom.mjGEOM_BOX: "box",
    mujoco.mjtGeom.mjGEOM_SPHERE: "sphere",
    mujoco.mjtGeom.mjGEOM_CYLINDER: "cylinder",
    mujoco.mjtGeom.mjGEOM_MESH: "mesh",
}


@dataclass(frozen=True)
class Mesh:
    """Triangles: vertices (n, 3) float32, m; faces (m, 3) uint32, corners counter-clockwise from outside."""

    vertices: np.ndarray
    faces: np.ndarray


@dataclass(frozen=True)
class Shape:
    """A visual shape of a body."""

    body: int  #: Row of `RobotShapes.poses`
    kind: str  #: box, sphere, cylinder (along z) or mesh
    #: size: Box: half edges; sphere: radius; cylinder: radius, half length, m
    size: Tuple[float, ...]
    position: Tuple[float, ...]  #: (3,) In the body's frame, m
    quaternion: Tuple[float, ...]  #: (4,) x, y, z, w, in the body's frame
    colour: Tuple[float, ...]  #: (4,) Red, green, blue, alpha, 0..1
    mesh: int = -1  #: Number in `RobotShapes.meshes`


class RobotShapes:
    """The visual shapes of a robot and where they are.

    Parameters
    ----------
    urdf_text : str
        The robot description.
    profile : RobotProfile
        What the URDF cannot say.

    Attributes
    ----------
    shapes, meshes : tuple of Shape, tuple of Mesh
        What is to be drawn; a mesh may occur in several shapes.

    Raises
    ------
    ModelError
        If the text is no usable URDF; names the link, joint or mesh.
    """

    def __init__(self, urdf_text: str, profile: RobotProfile) -> None:
        self._robot = PosedModel(urdf_text, profile)
        model = self._robot.model
        self._data = mujoco.MjData(model)
        seen = np.flatnonzero(model.geom_group == VISUAL_GROUP)
        self._bodies = np.unique(model.geom_bodyid[seen])
        numbers = np.unique(model.geom_dataid[seen][model.geom_dataid[seen] >= 0])
        self.meshes = tuple(_mesh(model, int(number)) for number in numbers)
        self.shapes = tuple(
            Shape(
                int(np.searchsorted(self._bodies, model.geom_bodyid[geom])),
                _KINDS[mujoco.mjtGeom(model.geom_type[geom])],
                tuple(model.geom_size[geom].tolist()),
                tuple(model.geom_pos[geom].tolist()),
                tuple(np.roll(model.geom_quat[geom], -1).tolist()),
                tuple(model.geom_rgba[geom].tolist()),
                int(np.searchsorted(numbers, model.geom_dataid[geom])) if model.geom_dataid[geom] >= 0 else -1,
            )
            for geom in seen
        )

    def poses(self, angles: Mapping[str, float], base: Optional[BasePose]) -> np.ndarray:
        """Return where the bodies are.

        Parameters
        ----------
        angles : mapping of str to float
            Joint angles by name, rad. Unknown names and values that are not finite leave the joint where it was.
        base : BasePose or None
            Where the base is; None: where it was last. A fixed base stays where its profile says.

        Returns
        -------
        (n, 7) float32 array
            Position, m, and quaternion (x, y, z, w) of each body that has a shape, in the world.
        """
        self._robot.put(angles, base)
        self._data.qpos[:] = self._robot.qpos
        mujoco.mj_kinematics(self._robot.model, self._data)
        turns = np.roll(self._data.xquat[self._bodies], -1, axis=1)
        return np.hstack((self._data.xpos[self._bodies], turns)).astype(np.float32)


def _mesh(model: mujoco.MjModel, number: int) -> Mesh:
    first, count = model.mesh_vertadr[number], model.mesh_vertnum[number]
    face, faces = model.mesh_faceadr[number], model.mesh_facenum[number]
    return Mesh(
        np.array(model.mesh_vert[first : first + count], dtype=np.float32),
        np.array(model.mesh_face[face : face + faces], dtype=np.uint32),
    )
