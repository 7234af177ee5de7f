# SPDX-License-Identifier: MIT
"""The visual mesh of a gore: a closed thin shell, with the slot for the leg in a lower one."""

from __future__ import annotations

import math
from typing import List, Sequence, Tuple

import numpy as np

from shellbot_description.gore import on_sphere
from shellbot_description.surfaces import Triangles
from shellbot_description.variables import Gore, Variables

STEP = math.radians(3.0)  # greatest facet of the picture


def _ticks(*stops: float) -> np.ndarray:
    """Return an increasing row of numbers through all stops, no farther apart than `STEP`."""
    parts = []
    for low, high in zip(stops[:-1], stops[1:]):
        count = max(1, math.ceil((high - low) / STEP))
        parts.append(np.linspace(low, high, count + 1)[:-1])
    return np.concatenate([*parts, [stops[-1]]])


def _azimuths(gore: Gore, latitudes: np.ndarray, slotted: bool) -> np.ndarray:
    """Return azimuths (rows, columns): three bands whose seams run along the straight sides of the slot."""
    edge = gore.half_width
    if not slotted:
        return np.tile(_ticks(-edge, edge), (len(latitudes), 1))
    inside = np.clip(latitudes, gore.slot_latitude_min, gore.slot_latitude_max)
    sine = gore.slot_width / 2 / (gore.outer_radius * np.cos(inside))
    seam = np.arcsin(np.minimum(sine, 0.9 * math.sin(edge)))[:, None]  # (rows, 1)
    side, middle = np.linspace(0.0, 1.0, 9), np.linspace(-1.0, 1.0, 7)
    right = -edge + side * (edge - seam)
    return np.concatenate([right[:, :-1], middle * seam, -right[:, -2::-1]], axis=1)


def _skin(outer: np.ndarray, inner: np.ndarray, keep: np.ndarray, flip: bool) -> Triangles:
    """Return the closed skin of the kept cells between two grids of points (rows, columns, 3)."""
    rows, columns = keep.shape
    triangles: List[Tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def quad(corners: Sequence[np.ndarray]) -> None:
        a, b, c, d = corners[::-1] if flip else corners
        triangles.extend([(a, b, c), (a, c, d)])

    def is_present(i: int, j: int) -> bool:
        return 0 <= i < rows and 0 <= j < columns and bool(keep[i, j])

    for i, j in zip(*np.nonzero(keep)):
        corners = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
        over, under = [outer[corner] for corner in corners], [inner[corner] for corner in corners]
        quad(over)
        quad(under[::-1])
        for side, neighbour in enumerate(((i, j - 1), (i + 1, j), (i, j + 1), (i - 1, j))):
            if not is_present(*neighbour):
                end = (side + 1) % 4
                quad([over[end], over[side], under[side], under[end]])
    return np.array(triangles)


def gore_mesh(variables: Variables, lower: bool) -> Triangles:
    """Return the mesh of a gore in its sphere frame."""
    gore = variables.gore
    stops = (gore.slot_latitude_min, gore.slot_latitude_max) if lower else ()
    latitudes = _ticks(gore.latitude_min, *stops, gore.latitude_max)
    azimuths = _azimuths(gore, latitudes, lower)
    keep = np.ones((len(latitudes) - 1, azimuths.shape[1] - 1), dtype=bool)
    if lower:
        centres = (latitudes[:-1] + latitudes[1:]) / 2
        rows = (centres > gore.slot_latitude_min) & (centres < gore.slot_latitude_max)
        keep[np.ix_(rows, np.arange(8, 14))] = False  # the six cells of the middle band, see _azimuths
    level = (-latitudes if lower else latitudes)[:, None]
    outer = on_sphere(gore.outer_radius, level, azimuths)
    inner = on_sphere(gore.outer_radius - gore.thickness, level, azimuths)
    return _skin(outer, inner, keep, flip=not lower)
