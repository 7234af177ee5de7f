# SPDX-License-Identifier: MIT
"""Poses on the floor: arrays (x, y, yaw), m and rad; and small rotations. Kernels, for numpy and for other kernels."""

from __future__ import annotations

import math
from typing import Tuple

import numpy as np

from robot_mechanics.motion.rotations import rotation_from_rpy  # of a package whose changes the kernels' cache sees
from robot_mechanics.native.jit import kernel

LEFT, RIGHT = 0, 1


@kernel
def outwards(side: int) -> float:
    """Return the sign of y on a side: 1 on the left, -1 on the right."""
    return 1.0 if side == LEFT else -1.0


@kernel
def wrapped(angle: float) -> float:
    """Return an angle (rad) in -pi..pi, both included: for kernels, which cannot call `rotations.wrap_angle`."""
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


rotation_of = kernel(rotation_from_rpy)
"""(roll, pitch, yaw), rad: the rotation (3, 3) Rz(yaw) Ry(pitch) Rx(roll)."""


@kernel
def applied(rotation: np.ndarray, x: float, y: float, z: float) -> Tuple[float, float, float]:
    """Return R v, a vector in the frame that the rotated one stands in.

    Parameters
    ----------
    rotation : (3, 3) array
        R, from the rotated frame to the other.
    x, y, z : float
        v in the rotated frame, any unit.
    """
    return (
        rotation[0, 0] * x + rotation[0, 1] * y + rotation[0, 2] * z,
        rotation[1, 0] * x + rotation[1, 1] * y + rotation[1, 2] * z,
        rotation[2, 0] * x + rotation[2, 1] * y + rotation[2, 2] * z,
    )


@kernel
def undone(rotation: np.ndarray, x: float, y: float, z: float) -> Tuple[float, float, float]:
    """Return the transpose of a rotation (3, 3) times a vector: the inverse of `applied`, same arguments."""
    return applied(rotation.T, x, y, z)


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
