# SPDX-License-Identifier: MIT
"""Where rays enter boxes, cylinders and spheres, and at which angle to the surface."""

from __future__ import annotations

import math
from typing import Tuple

import mujoco
import numpy as np

Entry = Tuple[np.ndarray, np.ndarray]
"""Distance, m (infinite for a ray that misses the shape, or begins in it), and cosine of ray and surface normal."""


def into_geom(model: mujoco.MjModel, data: mujoco.MjData, geom: int, origin: np.ndarray, rays: np.ndarray) -> Entry:
    """Return where rays (n, 3) from an origin (3,), m, enter a box, cylinder or sphere of a model, all in the world."""
    axes = data.geom_xmat[geom].reshape(3, 3)
    start, rays = (origin - data.geom_xpos[geom]) @ axes, rays @ axes
    size, kind = model.geom_size[geom], model.geom_type[geom]
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        near, far = _round(start, rays, size[0])
        cosine = np.abs(np.einsum("ij,ij->i", start + near[:, None] * rays, rays)) / size[0]
        return _seen(near, far, cosine)
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        distance, cosine = into_boxes(start[None], rays, size[None])
        return distance[:, 0], cosine[:, 0]
    nears, fars = (faces[:, 0] for faces in _slabs(start[None, 2:], rays[:, 2:], size[None, 1:2]))
    across = np.maximum(np.linalg.norm(rays[:, :2], axis=1), 1e-12)  # may be divided by
    near, far = (distance / across for distance in _round(start[:2], rays[:, :2] / across[:, None], size[0]))
    with np.errstate(invalid="ignore"):  # of rays along the axis that miss
        normal = (start[:2] + near[:, None] * rays[:, :2]) / size[0]
    side = np.abs(np.einsum("ij,ij->i", normal, rays[:, :2]))
    nears, fars = np.column_stack([nears, near]), np.column_stack([fars, far])
    return _through_all(nears, fars, np.column_stack([np.abs(rays[:, 2:]), side]))


def into_boxes(starts: np.ndarray, rays: np.ndarray, halves: np.ndarray) -> Entry:
    """Return where rays enter boxes along the axes, (n, b) each.

    Parameters
    ----------
    starts : (b, 3) array
        Origin of the rays from the middle of each box, m.
    rays : (n, 3) array
        Unit vectors.
    halves : (b, 3) array
        Half of the edges, m.
    """
    nears, fars = _slabs(starts, rays, halves)
    return _through_all(nears, fars, np.broadcast_to(np.abs(rays)[:, None], nears.shape))


def _slabs(starts: np.ndarray, rays: np.ndarray, halves: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Return where rays pass the near and the far face of each pair of faces, (n, b, axes)."""
    rays = np.where(np.abs(rays) < 1e-12, 1e-12, rays)[:, None]  # may be divided by
    middles, widths = -starts / rays, halves / np.abs(rays)
    return middles - widths, middles + widths


def _through_all(nears: np.ndarray, fars: np.ndarray, cosines: np.ndarray) -> Entry:
    """Return where rays are inside all pairs of faces: from the last near one, until they pass a far one."""
    last = nears.argmax(axis=-1)[..., None]
    near, cosine = (np.take_along_axis(values, last, axis=-1)[..., 0] for values in (nears, cosines))
    return _seen(near, fars.min(axis=-1), cosine)


def _seen(near: np.ndarray, far: np.ndarray, cosine: np.ndarray) -> Entry:
    missed = ~((near <= far) & (near >= 0.0))
    return np.where(missed, math.inf, near), np.where(missed, 0.0, cosine)


def _round(start: np.ndarray, rays: np.ndarray, radius: float) -> Tuple[np.ndarray, np.ndarray]:
    """Return where unit rays enter and leave a circle or sphere about zero; a ray that misses it enters after it."""
    middle = -(rays @ start)
    inside = radius * radius - (start @ start - middle * middle)
    half = np.sqrt(np.maximum(inside, 0.0))
    return np.where(inside < 0.0, math.inf, middle - half), np.where(inside < 0.0, -math.inf, middle + half)
