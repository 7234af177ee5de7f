# SPDX-License-Identifier: MIT
"""Visual meshes of the links, one per link and material, in the frame of the link."""

from __future__ import annotations

from typing import Dict

import numpy as np

from shellbot_description.gore import in_slot, on_sphere
from shellbot_description.surfaces import Triangles, join
from shellbot_description.variables import Variables


def gore_mesh(variables: Variables, lower: bool, step_deg: float = 2.5) -> Triangles:
    """Return a closed thin spherical gore; a lower one with the slot for its leg."""
    gore = variables.gore
    step = np.radians(step_deg)
    outer, inner = gore.outer_radius, gore.outer_radius - gore.thickness

    def ticks(low: float, high: float) -> np.ndarray:
        return np.linspace(low, high, max(1, int(np.ceil((high - low) / step))) + 1)

    def ticks_through(*stops: float) -> np.ndarray:
        parts = [ticks(low, high) for low, high in zip(stops[:-1], stops[1:])]
        return np.concatenate([part[:-1] for part in parts[:-1]] + [parts[-1]])

    if lower:
        lat = -ticks_through(gore.latitude_min, gore.slot_latitude_min, gore.slot_latitude_max, gore.latitude_max)
    else:
        lat = ticks(gore.latitude_min, gore.latitude_max)
    half = ticks(0.0, 1.0)
    del half
    parts = []
    az_fraction = np.linspace(-1, 1, 25)
    # Columns follow the slot's straight sides: inside the slot's latitudes the seam of two columns is at its half width.
    seam = np.full(len(lat), 0.35 * gore.half_width)
    if lower:
        middle = np.clip(np.abs(lat), gore.slot_latitude_min, gore.slot_latitude_max)
        seam = np.arcsin(np.minimum(gore.slot_width / 2 / (outer * np.cos(middle)), 0.95 * np.sin(gore.half_width)))
    del az_fraction
    columns = np.linspace(0, 1, 9)
    right = -gore.half_width + columns * (gore.half_width - seam[:, None])
    centre = -seam[:, None] + np.linspace(0, 1, 7) * 2 * seam[:, None]
    az = np.concatenate([right, centre[:, 1:-1], -right[:, ::-1]], axis=1)
    points_outer, points_inner = on_sphere(outer, lat[:, None], az), on_sphere(inner, lat[:, None], az)
    cells_middle = on_sphere(
        outer, (lat[:-1, None] + lat[1:, None]) / 2, (az[:-1, :-1] + az[1:, 1:] + az[:-1, 1:] + az[1:, :-1]) / 4
    )
    keep = ~in_slot(gore, cells_middle) if lower else np.ones(cells_middle.shape[:2], dtype=bool)
    parts.append(_sheet(points_outer, points_inner, keep, flip=not lower))
    return join(parts)


def _sheet(outer: np.ndarray, inner: np.ndarray, keep: np.ndarray, flip: bool) -> Triangles:
    """Return the closed skin of the kept cells between two grids of points."""
    rows, columns = keep.shape
    quads = []

    def quad(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> None:
        corners = (d, c, b, a) if flip else (a, b, c, d)
        quads.extend([(corners[0], corners[1], corners[2]), (corners[0], corners[2], corners[3])])

    for i in range(rows):
        for j in range(columns):
            if not keep[i, j]:
                continue
            o = (outer[i, j], outer[i + 1, j], outer[i + 1, j + 1], outer[i, j + 1])
            n = (inner[i, j], inner[i + 1, j], inner[i + 1, j + 1], inner[i, j + 1])
            quad(*o)
            quad(*n[::-1])
            neighbours = ((i, j - 1), (i + 1, j), (i, j + 1), (i - 1, j))
            for side, (a, b) in enumerate(neighbours):
                outside = not (0 <= a < rows and 0 <= b < columns) or not keep[a, b]
                if outside:
                    one, two = side, (side + 1) % 4
                    quad(o[two], o[one], n[one], n[two])
    return np.array(quads)


def visual_meshes(variables: Variables) -> Dict[str, Triangles]:
    """Return the meshes by name."""
    return {"lower_gore": gore_mesh(variables, lower=True), "upper_gore": gore_mesh(variables, lower=False)}
