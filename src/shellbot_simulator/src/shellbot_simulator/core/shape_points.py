# SPDX-License-Identifier: MIT
"""Lowest points of shapes: every collision shape as points with a radius, fixed to its body."""

from __future__ import annotations

import dataclasses
from typing import Iterable, List, NamedTuple, Tuple, Union

import mujoco
import numpy as np

from .errors import ModelError

_RIM_POINTS = 32  # per end of a cylinder; the error is below 0.5 % of its radius


class BodyPoses(NamedTuple):
    """What `ShapePoints` needs of an instant, copied."""

    xpos: np.ndarray  #: (nbody, 3) m
    xmat: np.ndarray  #: (nbody, 9) Bodies -> world


@dataclasses.dataclass(frozen=True)
class ShapePoints:
    """Points on (or in, with a radius) the shapes of some geoms."""

    body: np.ndarray  #: (m,) Body each point belongs to
    p_body: np.ndarray  #: (m, 3) Points in the body's frame, m
    radius: np.ndarray  #: (m,) The shape reaches this far around the point, m

    def near(self, centre: np.ndarray, distance: float) -> ShapePoints:
        """Return the points whose surface comes within `distance` of `centre` (3,), a point in the body's frame, m."""
        keep = np.linalg.norm(self.p_body - centre, axis=1) - self.radius <= distance
        return ShapePoints(self.body[keep], self.p_body[keep], self.radius[keep])

    def heights(self, data: Union[mujoco.MjData, BodyPoses]) -> np.ndarray:
        """Return the height of the lowest part around each point over the floor, m, shape (m,)."""
        z_axis_body = data.xmat.reshape(-1, 3, 3)[self.body, 2]  # (m, 3): third row of the body's rotation
        return data.xpos[self.body, 2] + np.einsum("ij,ij->i", z_axis_body, self.p_body) - self.radius


def shape_points(model: mujoco.MjModel, geoms: Iterable[int]) -> ShapePoints:
    """Collect the points of some geoms.

    Parameters
    ----------
    model : mujoco.MjModel
        The compiled model.
    geoms : iterable of int
        Geom indices; spheres, capsules, cylinders, boxes and meshes.

    Raises
    ------
    ModelError
        For another kind of geom.
    """
    bodies: List[int] = []
    points: List[np.ndarray] = []
    radii: List[float] = []
    for geom in geoms:
        local, radius = _geom_points(model, geom)
        rotation = np.zeros(9)
        mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
        points.append(model.geom_pos[geom] + local @ rotation.reshape(3, 3).T)
        bodies += [int(model.geom_bodyid[geom])] * len(local)
        radii += [radius] * len(local)
    stacked = np.concatenate(points) if points else np.zeros((0, 3))
    return ShapePoints(np.array(bodies, dtype=int), stacked, np.array(radii, dtype=float))


def _geom_points(model: mujoco.MjModel, geom: int) -> Tuple[np.ndarray, float]:
    kind = model.geom_type[geom]
    size = model.geom_size[geom]
    types = mujoco.mjtGeom
    if kind == types.mjGEOM_SPHERE:
        return np.zeros((1, 3)), float(size[0])
    if kind == types.mjGEOM_CAPSULE:
        return np.array([[0, 0, size[1]], [0, 0, -size[1]]]), float(size[0])
    if kind == types.mjGEOM_BOX:
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
        return signs * size, 0.0
    if kind == types.mjGEOM_CYLINDER:
        angle = np.linspace(0.0, 2.0 * np.pi, _RIM_POINTS, endpoint=False)
        rim = np.column_stack([size[0] * np.cos(angle), size[0] * np.sin(angle), np.full_like(angle, size[1])])
        return np.concatenate([rim, rim * [1, 1, -1]]), 0.0
    if kind == types.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        return np.array(model.mesh_vert[start : start + count], dtype=float), 0.0
    raise ModelError(f"geom {geom} has a shape the simulator does not know; use sphere, capsule, cylinder, box or mesh")
