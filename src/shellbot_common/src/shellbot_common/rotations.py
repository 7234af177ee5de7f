# SPDX-License-Identifier: MIT
"""Angles, roll, pitch, yaw, quaternions and matrices, for every tick: no objects, no checks.

Loaded by those who need it and not with the package, because it needs numpy.
"""

from __future__ import annotations

import math
from typing import List, Tuple

import numpy as np


def wrap_angle(angle: float) -> float:
    """Return an angle (rad) in (-pi, pi], without rounding where it is there already."""
    wrapped = math.remainder(angle, 2.0 * math.pi)
    return math.pi if wrapped <= -math.pi else wrapped


def rotation_2d(angle: float) -> np.ndarray:
    """Return the (2, 2) rotation by an angle, rad."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]])


def yaw_from_quaternion(quaternion: np.ndarray) -> np.ndarray:
    """Heading of the body's x axis about the world's z axis.

    Parameters
    ----------
    quaternion : (..., 4) array
        Orientation of the body in the world, component order x, y, z, w, unit length.

    Returns
    -------
    (...) array
        Yaw in -pi..pi, rad.
    """
    x, y, z, w = np.moveaxis(np.asarray(quaternion, dtype=float), -1, 0)
    return np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def tilt_from_quaternion(quaternion: np.ndarray) -> np.ndarray:
    """Angle between the body's z axis and the world's z axis, rad, (...); quaternion as of `yaw_from_quaternion`."""
    x, y = np.moveaxis(np.asarray(quaternion, dtype=float)[..., :2], -1, 0)
    return np.arccos(np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0))


def quaternion_from_rpy(roll: float, pitch: float, yaw: float) -> Tuple[float, float, float, float]:
    """Quaternion (x, y, z, w) of the rotation Rz(yaw) Ry(pitch) Rx(roll); angles in rad (REP 103)."""
    cr, sr = math.cos(roll / 2), math.sin(roll / 2)
    cp, sp = math.cos(pitch / 2), math.sin(pitch / 2)
    cy, sy = math.cos(yaw / 2), math.sin(yaw / 2)
    return (
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )


def rpy_from_quaternion(x: float, y: float, z: float, w: float) -> Tuple[float, float, float]:
    """Roll, pitch, yaw (rad) of a quaternion; a quaternion of no length or with NaN gives NaN."""
    norm = math.sqrt(x * x + y * y + z * z + w * w)
    if not math.isfinite(norm) or norm < 1e-9:
        return (math.nan, math.nan, math.nan)
    x, y, z, w = x / norm, y / norm, z / norm, w / norm
    roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = math.asin(min(1.0, max(-1.0, 2 * (w * y - z * x))))
    yaw = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return (roll, pitch, yaw)


def is_attitude(quaternion: np.ndarray) -> bool:
    """Whether a measured quaternion (x, y, z, w) is one: not NaN or of hardly any length, as units send for "none"."""
    x, y, z, w = quaternion.tolist()
    return bool(0.25 < x * x + y * y + z * z + w * w < math.inf)


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Rotation matrix (3, 3) Rz(yaw) Ry(pitch) Rx(roll); angles in rad."""
    cr, cp, cy = math.cos(roll), math.cos(pitch), math.cos(yaw)
    sr, sp, sy = math.sin(roll), math.sin(pitch), math.sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def turned_about_z(quaternion: np.ndarray, angle: float) -> np.ndarray:
    """Quaternion (x, y, z, w) of length 1 of Rz(angle) R for a quaternion of R of any length but zero; angle in rad."""
    x, y, z, w = _unit(quaternion)
    c, s = math.cos(0.5 * angle), math.sin(0.5 * angle)
    return np.array([c * x - s * y, c * y + s * x, c * z + s * w, c * w - s * z])


def rotation_from_quaternion(quaternion: np.ndarray) -> np.ndarray:
    """Rotation matrix (3, 3) of a quaternion (x, y, z, w) of any length but zero."""
    x, y, z, w = _unit(quaternion)
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def up_from_quaternion(quaternion: np.ndarray) -> np.ndarray:
    """Up direction (3,) seen from a body with orientation (x, y, z, w)."""
    x, y, z, w = _unit(quaternion)
    return np.array([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)])


def _unit(quaternion: np.ndarray) -> List[float]:
    # as floats: scalars of numpy cost three times as much
    unit: List[float] = (quaternion / math.sqrt(np.dot(quaternion, quaternion))).tolist()
    return unit


def quaternion_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Quaternion (x, y, z, w) of the rotation b followed by the rotation a, about the same axes."""
    return np.concatenate((a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3]), [a[3] * b[3] - a[:3] @ b[:3]]))
