# SPDX-License-Identifier: MIT
"""Poses on the floor: arrays (x, y, yaw), m and rad; and small rotations. Kernels, for numpy and for other kernels."""

from __future__ import annotations

import math
from typing import Tuple

import numpy as np

from robot_mechanics.native.jit import kernel

LEFT, RIGHT = 0, 1


@kernel
def outwards(side: int) -> float:
    """Return the sign of y on a side: 1 on the left, -1 on the right."""
    return 1.0 if side == LEFT else -1.0


@kernel
def wrapped(angle: float) -> float:
    """Return an angle within -pi..pi."""
    return math.atan2(math.sin(angle), math.cos(angle))


@kernel
def turned(vector: np.ndarray, yaw: float) -> np.ndarray:
    """Return a vector (2,) turned by yaw, rad."""
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]])


@kernel
def point_of(pose: np.ndarray, x: float, y: float) -> np.ndarray:
    """Return the floor point (2,) at (x, y) of a pose."""
    c, s = math.cos(pose[2]), math.sin(pose[2])
    return np.array([pose[0] + c * x - s * y, pose[1] + s * x + c * y])


@kernel
def moved(pose: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Return a pose after a step (x, y, yaw) in its own frame, along the middle direction of the turn."""
    yaw = pose[2] + 0.5 * step[2]
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([pose[0] + c * step[0] - s * step[1], pose[1] + s * step[0] + c * step[1], pose[2] + step[2]])


@kernel
def seen_from(pose: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the pose `other` in the frame of `pose`."""
    c, s = math.cos(pose[2]), math.sin(pose[2])
    x, y = other[0] - pose[0], other[1] - pose[1]
    return np.array([c * x + s * y, -s * x + c * y, wrapped(other[2] - pose[2])])


@kernel
def rotation_of(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Return the rotation (3, 3) Rz(yaw) Ry(pitch) Rx(roll), as `rotation_from_rpy`."""
    cr, cp, cy = math.cos(roll), math.cos(pitch), math.cos(yaw)
    sr, sp, sy = math.sin(roll), math.sin(pitch), math.sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


@kernel
def applied(rotation: np.ndarray, x: float, y: float, z: float) -> Tuple[float, float, float]:
    """Return a rotation (3, 3) times a vector."""
    return (
        rotation[0, 0] * x + rotation[0, 1] * y + rotation[0, 2] * z,
        rotation[1, 0] * x + rotation[1, 1] * y + rotation[1, 2] * z,
        rotation[2, 0] * x + rotation[2, 1] * y + rotation[2, 2] * z,
    )


@kernel
def undone(rotation: np.ndarray, x: float, y: float, z: float) -> Tuple[float, float, float]:
    """Return the inverse of a rotation (3, 3) times a vector."""
    return (
        rotation[0, 0] * x + rotation[1, 0] * y + rotation[2, 0] * z,
        rotation[0, 1] * x + rotation[1, 1] * y + rotation[2, 1] * z,
        rotation[0, 2] * x + rotation[1, 2] * y + rotation[2, 2] * z,
    )


@kernel
def undone_times(rotation: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the inverse of a rotation (3, 3) times another one."""
    product = np.empty((3, 3))
    for column in range(3):
        product[0, column], product[1, column], product[2, column] = undone(
            rotation, other[0, column], other[1, column], other[2, column]
        )
    return product


@kernel
def clamped(value: float, low: float, high: float) -> float:
    """Return a number within a range."""
    return min(max(value, low), high)
