# SPDX-License-Identifier: MIT
"""The polygon of the standing feet, and how far the body's centre is inside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional

import numpy as np


@dataclass(frozen=True, eq=False)
class Support:
    """Convex hull of the standing feet on the ground, and its edge nearest to a point."""

    corners: np.ndarray  #: (n, 2) Counter-clockwise, m
    nearest: np.ndarray  #: (2,) Point of the hull's border that is nearest, m
    margin: float  #: Distance to it, m: positive inside, negative outside


def find_support(feet: np.ndarray, centre: np.ndarray) -> Optional[Support]:
    """Return the support of standing feet; None if they span no area.

    Parameters
    ----------
    feet : (k, 2) array
        Where the feet stand on the ground, in any order, m.
    centre : (2,) array
        The body's centre over the same ground, m.
    """
    corners = _hull(feet)
    if len(corners) < 3:
        return None
    along = np.roll(corners, -1, axis=0) - corners
    to = centre - corners
    fraction = np.clip((to * along).sum(axis=1) / (along * along).sum(axis=1), 0.0, 1.0)
    on_edge = corners + fraction[:, None] * along
    distance = np.linalg.norm(centre - on_edge, axis=1)
    edge = int(distance.argmin())
    inside = (along[:, 0] * to[:, 1] - along[:, 1] * to[:, 0] >= 0.0).all()
    return Support(corners, on_edge[edge], float(distance[edge] if inside else -distance[edge]))


def _hull(points: np.ndarray) -> np.ndarray:
    """Return the corners (n, 2) of the convex hull, counter-clockwise (Andrew's monotone chain)."""
    ordered = sorted(map(tuple, np.asarray(points, dtype=np.float64).tolist()))
    halves: List[List[tuple]] = []
    for order in (ordered, ordered[::-1]):
        half: List[tuple] = []
        for x, y in order:
            while len(half) > 1 and _turn(half[-2], half[-1], (x, y)) <= 1e-12:
                half.pop()
            half.append((x, y))
        halves.append(half[:-1])
    return np.array(halves[0] + halves[1]).reshape(-1, 2)


def _turn(a: tuple, b: tuple, c: tuple) -> float:
    """Return twice the area of a triangle, m^2: positive if it is counter-clockwise."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
