# SPDX-License-Identifier: MIT
"""The gore: a thin patch of a sphere, as quadrature points and as surfaces, in the frame of the sphere centre.

z is the axis of the ball, x points to the middle of the gore. Upper gores lie above the equator, lower ones below.
"""

from __future__ import annotations

import math
from typing import Dict, List, Tuple, Union

import numpy as np

from shellbot_description.variables import Gore, Variables


def on_sphere(radius: Union[float, np.ndarray], latitude: np.ndarray, azimuth: np.ndarray) -> np.ndarray:
    """Return points (..., 3) from radius (m), latitude and azimuth (rad), broadcast against each other."""
    radius, latitude, azimuth = np.broadcast_arrays(radius, latitude, azimuth)
    level = radius * np.cos(latitude)
    return np.stack([level * np.cos(azimuth), level * np.sin(azimuth), radius * np.sin(latitude)], axis=-1)


def in_slot(gore: Gore, points: np.ndarray) -> np.ndarray:
    """Tell for each point (..., 3) whether it lies in the slot for the gore's own leg."""
    latitude = np.abs(np.arcsin(points[..., 2] / np.linalg.norm(points, axis=-1)))
    inside = (latitude > gore.slot_latitude_min) & (latitude < gore.slot_latitude_max)
    return inside & (np.abs(points[..., 1]) < gore.slot_width / 2)


def gore_quadrature(variables: Variables, lower: bool) -> Tuple[np.ndarray, np.ndarray]:
    """Return midpoints (n, 3) and volumes (n,) of small cells of a gore; a lower gore without its slot."""
    gore = variables.gore
    inner = gore.outer_radius - gore.thickness

    def cells(low: float, high: float, number: int) -> Tuple[np.ndarray, float]:
        width = (high - low) / number
        return low + width * (np.arange(number) + 0.5), width

    radius, dr = cells(inner, gore.outer_radius, 4)
    latitude, dl = cells(gore.latitude_min, gore.latitude_max, 120)
    azimuth, da = cells(-gore.half_width, gore.half_width, 120)
    r, lat, az = np.meshgrid(radius, latitude, azimuth, indexing="ij")
    points = on_sphere(r, -lat if lower else lat, az).reshape(-1, 3)
    volumes = (r**2 * np.cos(lat) * dr * dl * da).reshape(-1)
    if lower:
        keep = ~in_slot(gore, points)
        points, volumes = points[keep], volumes[keep]
    return points, volumes


def _steps(low: float, high: float, greatest: float) -> np.ndarray:
    return np.linspace(low, high, max(1, math.ceil((high - low) / greatest - 1e-9)) + 1)


def convex_pieces(variables: Variables, lower: bool) -> Dict[str, np.ndarray]:
    """Return the vertices (n, 3) of the convex collision pieces of a gore.

    The outer surface is sampled so finely that its facets stay below `facet_max`; of the inner surface only the corners
    matter, because the hull fills the hollow between them. Keys are `piece_<latitude>_<azimuth>`, counted from 1 from
    the equator and from the right edge.
    """
    gore = variables.gore
    inner = gore.outer_radius - gore.thickness
    rows, columns = int(gore.pieces_latitude), int(gore.pieces_azimuth)
    latitudes = np.linspace(gore.latitude_min, gore.latitude_max, rows + 1) * (-1.0 if lower else 1.0)
    azimuths = np.linspace(-gore.half_width, gore.half_width, columns + 1)
    pieces = {}
    for i in range(rows):
        for j in range(columns):
            low, high = sorted(latitudes[i : i + 2])
            lat = _steps(low, high, gore.facet_max)
            az = _steps(azimuths[j], azimuths[j + 1], gore.facet_max)
            outside = on_sphere(gore.outer_radius, *np.meshgrid(lat, az, indexing="ij")).reshape(-1, 3)
            inside = on_sphere(inner, *np.meshgrid(lat[[0, -1]], az[[0, -1]], indexing="ij")).reshape(-1, 3)
            pieces[f"piece_{i + 1}_{j + 1}"] = np.vstack([outside, inside])
    return pieces


def piece_names(variables: Variables) -> List[str]:
    """Return the names of the convex pieces of a gore."""
    gore = variables.gore
    return [f"piece_{i + 1}_{j + 1}" for i in range(int(gore.pieces_latitude)) for j in range(int(gore.pieces_azimuth))]
