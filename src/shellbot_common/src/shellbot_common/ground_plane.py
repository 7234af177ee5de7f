# SPDX-License-Identifier: MIT
"""The ground as the plane z = a x + b y + c through feet, seen from base_link; a plane is the array (a, b, c)."""

from __future__ import annotations

from typing import Optional, Tuple

import numpy as np


def plane_through(points: np.ndarray) -> Optional[np.ndarray]:
    """Return the plane through three points (3, 3), m; None when they lie nearly in a line from above."""
    matrix = np.column_stack((points[:, :2], np.ones(3)))
    if abs(np.linalg.det(matrix)) < 1e-4:
        return None
    return np.linalg.solve(matrix, points[:, 2])


def fit_plane(points: np.ndarray) -> np.ndarray:
    """Return the plane that is nearest in height to points (n, 3), m; n >= 3."""
    return np.linalg.lstsq(np.column_stack((points[:, :2], np.ones(len(points)))), points[:, 2], rcond=None)[0]


def height_over(points: np.ndarray, plane: np.ndarray) -> np.ndarray:
    """Return how far points (n, 3) are above a plane along z, (n,), m."""
    return points[:, 2] - (points[:, :2] @ plane[:2] + plane[2])


def plane_normal(plane: np.ndarray) -> np.ndarray:
    """Return the upward unit normal (3,)."""
    return np.array([-plane[0], -plane[1], 1.0]) / np.sqrt(1.0 + plane[0] ** 2 + plane[1] ** 2)


def tilt_over(plane: np.ndarray) -> Tuple[float, float]:
    """Return roll and pitch (rad) of a body that sees level ground as this plane.

    The up direction seen from the body is (-sin p, cos p sin r, cos p cos r).
    """
    normal = plane_normal(plane)
    return float(np.arctan2(normal[1], normal[2])), float(-np.arcsin(normal[0]))
