# SPDX-License-Identifier: MIT
"""Rotations in plain numpy and floats: roll-pitch-yaw, ZYZ, quaternions (x, y, z, w), axis and angle.

Roll-pitch-yaw is the URDF's: R = Rz(yaw) Ry(pitch) Rx(roll), fixed axes. ZYZ is R = Rz(phi) Ry(theta) Rz(psi), moving
axes. Rotation vectors and poses are in se3.
"""

from __future__ import annotations

import math
from typing import Sequence, Tuple

import numpy as np


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Return the (3, 3) rotation matrix Rz(yaw) Ry(pitch) Rx(roll); angles in rad.

    Parameters
    ----------
    roll, pitch, yaw : float
        rad.
    """
    cr, cp, cy = math.cos(roll), math.cos(pitch), math.cos(yaw)
    sr, sp, sy = math.sin(roll), math.sin(pitch), math.sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_from_rotation(R: np.ndarray) -> Tuple[float, float, float]:  # noqa: N803 - R as in the formulas
    """Return roll, pitch, yaw (rad) of a (3, 3) rotation; at pitch = +-90 deg the roll is set to zero (gimbal lock).

    Parameters
    ----------
    R : (3, 3) array
        Orthogonal, with determinant 1; not checked.
    """
    cp = math.hypot(R[0, 0], R[1, 0])
    pitch = math.atan2(-R[2, 0], cp)
    if cp < 1e-9:
        return 0.0, pitch, math.atan2(-R[0, 1], R[1, 1])
    return math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])


def rotation_from_zyz(phi: float, theta: float, psi: float) -> np.ndarray:
    """Return the (3, 3) rotation matrix Rz(phi) Ry(theta) Rz(psi); angles in rad.

    Parameters
    ----------
    phi, theta, psi : float
        rad.
    """
    ca, sa, cb, sb, cc, sc = (f(a) for a in (phi, theta, psi) for f in (math.cos, math.sin))
    return np.array(
        [
            [ca * cb * cc - sa * sc, -ca * cb * sc - sa * cc, ca * sb],
            [sa * cb * cc + ca * sc, -sa * cb * sc + ca * cc, sa * sb],
            [-sb * cc, sb * sc, cb],
        ]
    )


def zyz_from_rotation(R: np.ndarray) -> Tuple[float, float, float]:  # noqa: N803
    """Return phi, theta, psi (rad, theta in 0 .. pi) of a (3, 3) rotation; where sin(theta) = 0, phi is set to zero.

    Parameters
    ----------
    R : (3, 3) array
        Orthogonal, with determinant 1; not checked.
    """
    st = math.hypot(R[0, 2], R[1, 2])
    theta = math.atan2(st, R[2, 2])
    if st < 1e-9:
        # R = Rz(phi + psi) or, at theta = pi, Ry(pi) Rz(psi - phi)
        return 0.0, theta, math.atan2(R[1, 0], R[1, 1])
    return math.atan2(R[1, 2], R[0, 2]), theta, math.atan2(R[2, 1], -R[2, 0])


def quaternion_from_rpy(roll: float, pitch: float, yaw: float) -> Tuple[float, float, float, float]:
    """Return the unit quaternion (x, y, z, w) of Rz(yaw) Ry(pitch) Rx(roll); angles in rad.

    Parameters
    ----------
    roll, pitch, yaw : float
        rad.
    """
    cr, sr = math.cos(roll / 2), math.sin(roll / 2)
    cp, sp = math.cos(pitch / 2), math.sin(pitch / 2)
    cy, sy = math.cos(yaw / 2), math.sin(yaw / 2)
    return (
        cy * cp * sr - sy * sp * cr,
        cy * sp * cr + sy * cp * sr,
        sy * cp * cr - cy * sp * sr,
        cy * cp * cr + sy * sp * sr,
    )


def rotation_from_quaternion(x: float, y: float, z: float, w: float) -> np.ndarray:
    """Return the (3, 3) rotation of a unit quaternion (x, y, z, w).

    Parameters
    ----------
    x, y, z, w : float
        Of length 1, not checked.
    """
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def rpy_from_quaternion(x: float, y: float, z: float, w: float) -> Tuple[float, float, float]:
    """Return roll, pitch, yaw (rad) of a unit quaternion (x, y, z, w).

    Parameters
    ----------
    x, y, z, w : float
        Of length 1, not checked.
    """
    return rpy_from_rotation(rotation_from_quaternion(x, y, z, w))


def quaternion_from_rotation(R: np.ndarray) -> Tuple[float, float, float, float]:  # noqa: N803
    """Return the unit quaternion (x, y, z, w) with w >= 0 of a (3, 3) rotation, exact at every angle (Shepperd's
    method).

    Parameters
    ----------
    R : (3, 3) array
        Orthogonal, with determinant 1; not checked.
    """
    values = (R[0, 0], R[1, 1], R[2, 2], R[0, 0] + R[1, 1] + R[2, 2])
    largest = int(np.argmax(values))
    if largest == 3:
        q = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], 1.0 + values[3]]
    else:
        i, j, k = largest, (largest + 1) % 3, (largest + 2) % 3
        q = [0.0, 0.0, 0.0, R[k, j] - R[j, k]]
        q[i] = 1.0 + R[i, i] - R[j, j] - R[k, k]
        q[j], q[k] = R[j, i] + R[i, j], R[k, i] + R[i, k]
    scale = math.copysign(1.0 / math.sqrt(sum(c * c for c in q)), q[3])
    return q[0] * scale, q[1] * scale, q[2] * scale, q[3] * scale


def rotation_about(axis: Sequence[float], angle: float) -> np.ndarray:
    """Return the (3, 3) rotation by `angle` (rad) about a unit axis (Rodrigues).

    Parameters
    ----------
    axis : (3,) sequence of float
        Of length 1, not checked.
    angle : float
        rad.
    """
    x, y, z = (float(a) for a in axis)
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])  # noqa: N806 - cross product matrix
    return np.eye(3) + math.sin(angle) * K + (1.0 - math.cos(angle)) * (K @ K)


def transform(R: np.ndarray, p: Sequence[float]) -> np.ndarray:  # noqa: N803
    """Return the (4, 4) homogeneous transform of a rotation (3, 3) and a translation (3,) in m.

    Parameters
    ----------
    R : (3, 3) array
        Orthogonal, with determinant 1; not checked.
    p : (3,) sequence of float
        m.
    """
    T = np.eye(4)  # noqa: N806
    T[:3, :3], T[:3, 3] = R, p
    return T
