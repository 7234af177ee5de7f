# SPDX-License-Identifier: MIT
"""Poses on the floor: arrays (x, y, yaw), m and rad."""

from __future__ import annotations

import math

import numpy as np

LEFT, RIGHT = 0, 1


def outwards(side: int) -> float:
    """Return the sign of y on a side: 1 on the left, -1 on the right."""
    return 1.0 if side == LEFT else -1.0


def wrapped(angle: float) -> float:
    """Return an angle within -pi..pi."""
    return math.atan2(math.sin(angle), math.cos(angle))


def turned(vector: np.ndarray, yaw: float) -> np.ndarray:
    """Return a vector (2,) turned by yaw, rad."""
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]])


def point_of(pose: np.ndarray, x: float, y: float) -> np.ndarray:
    """Return the floor point (2,) at (x, y) of a pose."""
    return pose[:2] + turned(np.array([x, y]), pose[2])


def moved(pose: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Return a pose after a step (x, y, yaw) in its own frame, along the middle direction of the turn."""
    return np.append(pose[:2] + turned(step[:2], pose[2] + 0.5 * step[2]), pose[2] + step[2])


def seen_from(pose: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the pose `other` in the frame of `pose`."""
    return np.append(turned(other[:2] - pose[:2], -pose[2]), wrapped(other[2] - pose[2]))


def yaw_matrix(yaw: float) -> np.ndarray:
    """Return the rotation (3, 3) about z."""
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
