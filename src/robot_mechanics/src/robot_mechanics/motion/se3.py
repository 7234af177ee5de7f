# SPDX-License-Identifier: MIT
"""Poses and rotations as Lie groups: exponential, logarithm, adjoint, conversions, the twist between two poses.

Poses are (4, 4) homogeneous transforms, m. Twists are (6,), linear (m) over angular (rad). Quaternions: (x, y, z, w).
Formulas: Lynch and Park, Modern Robotics, ch. 3; the series at small angles are those of the closed forms. Arrays may
have leading dimensions where "..." says so. Euler angles and quaternions of rotations alone are in `rotations`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Tuple

import numpy as np

from robot_mechanics.errors import ShapeError, UnknownNameError
from robot_mechanics.motion.rotations import quaternion_from_rotation, rotation_from_quaternion, transform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

REFERENCES = ("local_world_aligned", "world", "local")
# below this angle the closed forms lose digits to cancellation, and five terms of the series are exact
_SMALL = 0.1


def skew(v: ArrayLike) -> np.ndarray:
    """Return the cross product matrices (..., 3, 3) of vectors (..., 3): skew(v) @ x = v x x.

    Parameters
    ----------
    v : (..., 3) array_like
        Of any unit.
    """
    x = _check(v, (3,), "v")
    K = np.zeros((*x.shape, 3))  # noqa: N806
    K[..., 0, 1], K[..., 0, 2], K[..., 1, 2] = -x[..., 2], x[..., 1], -x[..., 0]
    K[..., 1, 0], K[..., 2, 0], K[..., 2, 1] = x[..., 2], -x[..., 1], x[..., 0]
    return K


def so3_exp(w: ArrayLike) -> np.ndarray:
    """Return the rotations (..., 3, 3) of rotation vectors (..., 3), rad: exp(skew(w)) (Rodrigues).

    Parameters
    ----------
    w : (..., 3) array_like
        rad.
    """
    K = skew(_check(w, (3,), "w"))  # noqa: N806
    a, b, _ = _coefficients(w)
    return np.eye(3) + a * K + b * (K @ K)


def so3_log(R: ArrayLike) -> np.ndarray:  # noqa: N803
    """Return the rotation vectors (..., 3), rad, at most pi long, of rotations (..., 3, 3).

    By way of the quaternion, whose vector part is sin(angle / 2) times the axis: exact near 0 and near pi alike. At pi
    both signs of the axis are right; one is returned.

    Parameters
    ----------
    R : (..., 3, 3) array_like
        Rotations.

    Raises
    ------
    ShapeError
        If the shape is another, or a matrix is no rotation.
    """
    matrices = _rotations(_check(R, (3, 3), "R"), "R")
    flat = [_log(M) for M in matrices.reshape(-1, 3, 3)]
    return np.array(flat).reshape(*matrices.shape[:-2], 3)


def se3_exp(twist: ArrayLike) -> np.ndarray:
    """Return the poses (..., 4, 4) of twists (..., 6): the motion that unit time of a constant body twist makes.

    Parameters
    ----------
    twist : (..., 6) array_like
        Linear part (m) over angular part (rad).
    """
    xi = _check(twist, (6,), "twist")
    K = skew(xi[..., 3:])  # noqa: N806
    a, b, c = _coefficients(xi[..., 3:])
    T = np.zeros((*xi.shape[:-1], 4, 4))  # noqa: N806
    T[..., :3, :3] = np.eye(3) + a * K + b * (K @ K)
    V = np.eye(3) + b * K + c * (K @ K)  # noqa: N806 - the left Jacobian of SO(3)
    T[..., :3, 3] = (V @ xi[..., :3, None])[..., 0]
    T[..., 3, 3] = 1.0
    return T


def se3_log(T: ArrayLike) -> np.ndarray:  # noqa: N803
    """Return the twists (..., 6), linear over angular, whose exponential is the pose (..., 4, 4); inverse of `se3_exp`.

    Parameters
    ----------
    T : (..., 4, 4) array_like
        m.

    Raises
    ------
    ShapeError
        If the shape is another, or a matrix is no pose.
    """
    poses = _poses(T, "T")
    w = so3_log(poses[..., :3, :3])
    K = skew(w)  # noqa: N806
    squared = (w * w).sum(-1)[..., None, None]
    a, b, _ = _coefficients(w)
    with np.errstate(divide="ignore", invalid="ignore"):
        closed = (1.0 - a / (2.0 * b)) / squared
    series = 1.0 / 12.0 + squared * (1.0 / 720.0 + squared * (1.0 / 30240.0 + squared * (1.0 / 1209600.0)))
    d = np.where(squared < _SMALL**2, series, closed)
    V_inverse = np.eye(3) - 0.5 * K + d * (K @ K)  # noqa: N806
    v = (V_inverse @ poses[..., :3, 3, None])[..., 0]
    return np.concatenate([v, w], axis=-1)


def inverse(T: ArrayLike) -> np.ndarray:  # noqa: N803
    """Return the inverses (..., 4, 4) of poses (..., 4, 4), by transposing the rotation.

    Parameters
    ----------
    T : (..., 4, 4) array_like
        m.
    """
    poses = _poses(T, "T")
    out = np.zeros_like(poses)
    back = np.swapaxes(poses[..., :3, :3], -1, -2)
    out[..., :3, :3] = back
    out[..., :3, 3] = -(back @ poses[..., :3, 3, None])[..., 0]
    out[..., 3, 3] = 1.0
    return out


def adjoint(T: ArrayLike) -> np.ndarray:  # noqa: N803
    """Return the matrices (..., 6, 6) that take a twist (linear over angular) of frame b to frame a, for T_a_b.

    Parameters
    ----------
    T : (..., 4, 4) array_like
        Poses T_a_b, m.
    """
    poses = _poses(T, "T")
    R = poses[..., :3, :3]  # noqa: N806
    out = np.zeros((*poses.shape[:-2], 6, 6))
    out[..., :3, :3] = out[..., 3:, 3:] = R
    out[..., :3, 3:] = skew(poses[..., :3, 3]) @ R
    return out


def transform_from_quaternion(p: ArrayLike, quaternion: ArrayLike) -> np.ndarray:
    """Return the pose (4, 4) of a position (3,), m, and a unit quaternion (x, y, z, w); off by 1e-3 it is refused.

    Parameters
    ----------
    p : (3,) array_like
        m.
    quaternion : (4,) array_like
        x, y, z, w.

    Raises
    ------
    ShapeError
        If a shape is another, or the quaternion's length is not 1.
    """
    position, q = _check(p, (3,), "p"), _check(quaternion, (4,), "quaternion")
    if position.ndim != 1 or q.ndim != 1:
        raise ShapeError(f"p and quaternion have shapes {position.shape}, {q.shape}; expected (3,), (4,)")
    length = math.sqrt(float(q @ q))
    if abs(length - 1.0) > 1e-3:
        raise ShapeError(f"quaternion is {q}, of length {length:.6g}; expected length 1")
    x, y, z, w = (float(c) / length for c in q)
    return transform(rotation_from_quaternion(x, y, z, w), [float(c) for c in position])


def position_and_quaternion(T: ArrayLike) -> Tuple[np.ndarray, np.ndarray]:  # noqa: N803
    """Return position (3,), m, and unit quaternion (4,), (x, y, z, w) with w >= 0, of a pose (4, 4).

    Parameters
    ----------
    T : (4, 4) array_like
        m.
    """
    pose = as_pose(T)
    return pose[:3, 3].copy(), np.array(quaternion_from_rotation(pose[:3, :3]))


def twist_between(T_from: ArrayLike, T_to: ArrayLike, reference: str = "local") -> np.ndarray:  # noqa: N803
    """Return the constant twist (..., 6) that takes one pose (..., 4, 4) to another in unit time; divide by the time.

    Parameters
    ----------
    T_from, T_to : (..., 4, 4)
        In the same base.
    reference : str
        "local": T_to = T_from exp(twist), in the axes of T_from; "world": T_to = exp(twist) T_from, about the base's
        origin; "local_world_aligned": the local twist turned to the axes of the base.
    """
    start, end = _poses(T_from, "T_from"), _poses(T_to, "T_to")
    check_reference(reference)
    local = se3_log(inverse(start) @ end)
    if reference == "local":
        return local
    if reference == "world":
        return (adjoint(start) @ local[..., None])[..., 0]
    R = start[..., :3, :3]  # noqa: N806
    return np.concatenate([(R @ half[..., None])[..., 0] for half in (local[..., :3], local[..., 3:])], axis=-1)


def check_reference(reference: str) -> int:
    """Return the number of a reference of twists, as in REFERENCES.

    Parameters
    ----------
    reference : str
        "local_world_aligned", "world" or "local".

    Raises
    ------
    UnknownNameError
        If there is no such reference.
    """
    if reference not in REFERENCES:
        raise UnknownNameError(f"no reference {reference!r}; expected one of {', '.join(REFERENCES)}")
    return REFERENCES.index(reference)


def as_pose(T: ArrayLike, name: str = "T") -> np.ndarray:  # noqa: N803
    """Return a pose (4, 4) as an array; ShapeError with its name if it is none.

    Parameters
    ----------
    T : (4, 4) array_like
        m.
    name : str
        How the message calls it.
    """
    pose = _poses(T, name)
    if pose.ndim != 2:
        raise ShapeError(f"{name} has shape {pose.shape}; expected (4, 4)")
    return pose


def _coefficients(w: ArrayLike) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sin(t)/t, (1 - cos t)/t^2, (t - sin t)/t^3 of the lengths t of rotation vectors, each (..., 1, 1)."""
    vectors = np.asarray(w, dtype=np.float64)
    s = (vectors * vectors).sum(-1)[..., None, None]
    t = np.sqrt(s)
    with np.errstate(divide="ignore", invalid="ignore"):
        closed = np.sin(t) / t, 2.0 * (np.sin(0.5 * t) / t) ** 2, (t - np.sin(t)) / (s * t)
    series = (
        1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0))),
        0.5 - s / 24.0 * (1.0 - s / 30.0 * (1.0 - s / 56.0 * (1.0 - s / 90.0))),
        (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0 * (1.0 - s / 110.0)))) / 6.0,
    )
    small = s < _SMALL**2
    a, b, c = (np.where(small, x, y) for x, y in zip(series, closed))
    return a, b, c


def _log(R: np.ndarray) -> np.ndarray:  # noqa: N803
    x, y, z, w = quaternion_from_rotation(R)
    half_sine = math.sqrt(x * x + y * y + z * z)
    # angle / sin(angle / 2), which tends to 2
    scale = 2.0 * math.atan2(half_sine, w) / half_sine if half_sine > 1e-150 else 2.0
    return np.array([x * scale, y * scale, z * scale])


def _check(value: ArrayLike, tail: Tuple[int, ...], name: str) -> np.ndarray:
    shape = f"(..., {', '.join(str(n) for n in tail)})"
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ShapeError(f"{name} is {value!r}; expected numbers of shape {shape}") from None
    if array.shape[-len(tail) :] != tail:
        raise ShapeError(f"{name} has shape {array.shape}; expected {shape}")
    if not np.isfinite(array).all():
        raise ShapeError(f"{name} is {array}; expected finite numbers")
    return array


def _rotations(R: np.ndarray, name: str) -> np.ndarray:  # noqa: N803
    with np.errstate(over="ignore", invalid="ignore"):
        off = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(initial=0.0)
    if not off <= 1e-6 or (np.linalg.det(R) < 0.0).any():
        raise ShapeError(f"{name} holds no rotation: R R^T differs from the identity by {off:.3g}, or det(R) = -1")
    return R


def _poses(T: ArrayLike, name: str) -> np.ndarray:  # noqa: N803
    poses = _check(T, (4, 4), name)
    _rotations(poses[..., :3, :3], f"the upper left of {name}")
    if not (poses[..., 3, :] == (0.0, 0.0, 0.0, 1.0)).all():
        raise ShapeError(f"{name} is no pose: its last row is {poses[..., 3, :]}; expected 0 0 0 1")
    return poses
