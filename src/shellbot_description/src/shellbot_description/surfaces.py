# SPDX-License-Identifier: MIT
"""Triangle meshes: a few builders, and binary STL with the same bytes each time."""

from __future__ import annotations

from pathlib import Path
from typing import Iterable, Sequence, Tuple

import numpy as np
from scipy.spatial import ConvexHull
from stl import mesh as stl_mesh

Triangles = np.ndarray  # (n, 3, 3) corners, m, counter-clockwise seen from outside


def join(parts: Iterable[Triangles]) -> Triangles:
    """Return one mesh of several; they may overlap."""
    return np.concatenate(list(parts), axis=0)


def hull(points: np.ndarray) -> Triangles:
    """Return the convex hull of points (n, 3), its triangles turned outwards."""
    found = ConvexHull(points)
    triangles = points[found.simplices]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    inwards = np.einsum("ni,ni->n", normals, found.equations[:, :3]) < 0
    triangles[inwards] = triangles[inwards][:, ::-1]
    return triangles


def grid(points: np.ndarray, flip: bool = False) -> Triangles:
    """Return the triangles of a surface given as a grid of points (rows, columns, 3)."""
    a, b = points[:-1, :-1], points[:-1, 1:]
    c, d = points[1:, 1:], points[1:, :-1]
    one = np.stack([a, b, c], axis=2).reshape(-1, 3, 3)
    two = np.stack([a, c, d], axis=2).reshape(-1, 3, 3)
    triangles = np.concatenate([one, two])
    return triangles[:, ::-1] if flip else triangles


def box(size: Sequence[float], centre: Sequence[float] = (0.0, 0.0, 0.0), chamfer: float = 0.0) -> Triangles:
    """Return a box with its edges cut by `chamfer` (m)."""
    half = np.asarray(size, dtype=float) / 2
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    if chamfer <= 0.0:
        return hull(signs * half) + np.asarray(centre)
    corners = [signs * (half - chamfer * (1 - np.eye(3)[axis])) for axis in range(3)]
    return hull(np.vstack(corners)) + np.asarray(centre)


def prism(outline: np.ndarray, low: float, high: float) -> Triangles:
    """Return a convex outline (n, 2) in x, y stretched from z = low to high."""
    bottom = np.column_stack([outline, np.full(len(outline), low)])
    top = np.column_stack([outline, np.full(len(outline), high)])
    return hull(np.vstack([bottom, top]))


def circle(radius: float, sides: int = 24, centre: Tuple[float, float] = (0.0, 0.0)) -> np.ndarray:
    """Return the corners (sides, 2) of a regular polygon."""
    angles = 2 * np.pi * np.arange(sides) / sides
    return np.column_stack([radius * np.cos(angles) + centre[0], radius * np.sin(angles) + centre[1]])


def cylinder(
    radius: float, low: float, high: float, centre: Tuple[float, float] = (0.0, 0.0), sides: int = 24
) -> Triangles:
    """Return a cylinder along z."""
    return prism(circle(radius, sides, centre), low, high)


def transformed(triangles: Triangles, matrix: np.ndarray) -> Triangles:
    """Return the mesh moved by a (4, 4) or turned by a (3, 3) matrix."""
    turned = triangles @ matrix[:3, :3].T
    return turned + matrix[:3, 3] if matrix.shape == (4, 4) else turned


def rounded(triangles: Triangles) -> np.ndarray:
    """Return the corners as STL keeps them: float32, on a grid of 0.1 micrometre so that no last bit varies."""
    return (np.round(triangles * 1e7) / 1e7).astype(np.float32)


def canonical(triangles: Triangles) -> np.ndarray:
    """Return rounded triangles in a fixed order, each beginning with its smallest corner.

    The order qhull finds its facets in may change with its version; the file should not.
    """
    corners = rounded(triangles)
    first = np.array([np.lexsort(triangle.T[::-1])[0] for triangle in corners])
    rolled = np.stack([corners[np.arange(len(corners)), (first + i) % 3] for i in range(3)], axis=1)
    keys = rolled.reshape(len(rolled), 9)
    return rolled[np.lexsort(keys.T[::-1])]


def write_stl(path: Path, triangles: Triangles) -> None:
    """Write a binary STL, m."""
    corners = canonical(triangles)
    data = np.zeros(len(corners), dtype=stl_mesh.Mesh.dtype)
    data["vectors"] = corners
    solid = stl_mesh.Mesh(data, remove_empty_areas=False, calculate_normals=True)
    header = b"shellbot_description generated".ljust(80)
    with path.open("wb") as file:  # numpy-stl's own save() writes the date into the header
        file.write(header)
        file.write(np.uint32(len(corners)).tobytes())
        file.write(solid.data.tobytes())
