# SPDX-License-Identifier: MIT
"""Derivatives of the pose of one frame of a chain or tree, and measures made of them.

`path` is the joints from the base to the frame, as indices into the structure. All matrices have the linear rows (m)
above the angular ones (rad). References are Pinocchio's: "local_world_aligned" is the velocity of the frame's origin
in the axes of the base, "world" that of the point which passes the base's origin, "local" that of the frame's origin
in its own axes. Rates and slopes are element by element, d J[r, c] / dt and d J[r, c] / d q_k, as Pinocchio's time
variation.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Dict, Tuple

import numpy as np

from robot_mechanics.errors import SingularPoseError, UnknownNameError
from robot_mechanics.models.structure import JointStructure
from robot_mechanics.motion.rotations import rpy_from_rotation, zyz_from_rotation
from robot_mechanics.motion.se3 import check_reference
from robot_mechanics.native import chain_kernels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ALIGNED = "local_world_aligned"
ANGLES = ("zyz", "rpy")
# rad; nearer than this to a singular orientation the rates of the Euler angles have lost half of their digits
NEAREST_SINGULAR = 1e-6
ROWS: Dict[str, slice] = {"all": slice(0, 6), "translation": slice(0, 3), "rotation": slice(3, 6)}
# smallest over largest singular value at which a Jacobian counts as singular
_RANK = 1e-9


def jacobian(structure: JointStructure, path: np.ndarray, q: ArrayLike, reference: str = ALIGNED) -> np.ndarray:
    """Return the geometric Jacobian (6, n): twist = J q'.

    Parameters
    ----------
    structure : JointStructure
        Of the chain or tree.
    path : (k,) array of int
        Joints from the base to the frame, as rows of the structure.
    q : (n,) array_like
        Coordinates, rad or m.
    reference : str
        Point and axes of the twist, see the beginning of the module.
    """
    return _jacobian(structure, path, q, reference)[1]


def jacobian_dot(
    structure: JointStructure, path: np.ndarray, q: ArrayLike, dq: ArrayLike, reference: str = ALIGNED
) -> np.ndarray:
    """Return the time derivative (6, n) of the geometric Jacobian at the rates dq (n,).

    Parameters
    ----------
    structure, path, q, reference
        As of `jacobian`.
    dq : (n,) array_like
        Rates, rad/s or m/s.
    """
    C, _, _ = _jacobian(structure, path, q, reference)  # noqa: N806
    rates, p = structure.check(dq, "dq"), structure.parameters()
    D = np.empty((structure.n, 6))  # noqa: N806
    chain_kernels.path_jacobian_dot(path, p.kind, p.column, p.ratio, C, rates, check_reference(reference), D)
    return np.ascontiguousarray(D.T)


def hessian(structure: JointStructure, path: np.ndarray, q: ArrayLike, reference: str = ALIGNED) -> np.ndarray:
    """Return H (6, n, n), H[r, c, k] = d J[r, c] / d q_k.

    Parameters
    ----------
    structure, path, q, reference
        As of `jacobian`.
    """
    return _hessian(structure, path, _jacobian(structure, path, q, reference)[0], reference)


def analytic_jacobian(structure: JointStructure, path: np.ndarray, q: ArrayLike, angles: str = "zyz") -> np.ndarray:
    """Return the Jacobian (6, n) of the position, in the axes of the base, over the three Euler angles.

    Parameters
    ----------
    structure, path, q
        As of `jacobian`.
    angles : str
        As of `euler_angles`.

    Raises
    ------
    SingularPoseError
        If the angles do not exist there: theta of ZYZ at 0 or pi, pitch of RPY at +-pi/2.
    """
    _, J, tip = _jacobian(structure, path, q, ALIGNED)  # noqa: N806
    values = euler_angles(tip[:3, :3], angles)
    J[3:] = np.linalg.solve(euler_rate_matrix(values, angles), J[3:])
    return J


def euler_angles(R: np.ndarray, angles: str = "zyz") -> Tuple[float, float, float]:  # noqa: N803
    """Return (phi, theta, psi) of R = Rz(phi) Ry(theta) Rz(psi), or (roll, pitch, yaw) of R = Rz(yaw) Ry(pitch)
    Rx(roll); rad.

    Parameters
    ----------
    R : (3, 3) array
        Orthogonal, with determinant 1; not checked.
    angles : str
        "zyz" or "rpy".

    Raises
    ------
    UnknownNameError
        If `angles` is neither "zyz" nor "rpy".
    """
    _check_angles(angles)
    return zyz_from_rotation(R) if angles == "zyz" else rpy_from_rotation(R)


def euler_rate_matrix(values: Tuple[float, float, float], angles: str = "zyz") -> np.ndarray:
    """Return T (3, 3) with w = T d(angles)/dt, w in the axes of the base; it turns an analytic Jacobian geometric.

    Parameters
    ----------
    values : (3,) sequence of float
        The angles, rad.
    angles : str
        As of `euler_angles`.

    Raises
    ------
    SingularPoseError
        Where T has no inverse, with the angle and its distance from the singular one.
    """
    _check_angles(angles)
    first, second, third = values
    if angles == "zyz":
        nearest = math.pi * round(second / math.pi)
        _refuse_near(second, nearest, "theta of ZYZ", "phi and psi turn about one axis; use rpy there")
        c, s = math.cos(first), math.sin(first)
        return np.array(
            [
                [0.0, -s, c * math.sin(second)],
                [0.0, c, s * math.sin(second)],
                [1.0, 0.0, math.cos(second)],
            ]
        )
    nearest = math.pi * (math.floor(second / math.pi) + 0.5)
    _refuse_near(second, nearest, "pitch of RPY", "roll and yaw turn about one axis; use zyz there")
    c, s = math.cos(third), math.sin(third)
    return np.array(
        [
            [c * math.cos(second), -s, 0.0],
            [s * math.cos(second), c, 0.0],
            [-math.sin(second), 0.0, 1.0],
        ]
    )


def manipulability(structure: JointStructure, path: np.ndarray, q: ArrayLike, rows: str = "all") -> float:
    """Return Yoshikawa's measure: the volume that unit speeds of the joints give the twist (product of the singular
    values); sqrt(det(J J^T)) for as many coordinates as rows or more, sqrt(det(J^T J)) for fewer. Zero where singular.

    Parameters
    ----------
    structure, path, q
        As of `jacobian`.
    rows : str
        "all" (mixes m and rad), "translation", "rotation".
    """
    return volume(_jacobian(structure, path, q, ALIGNED)[1][_rows(rows)])


def manipulability_gradient(structure: JointStructure, path: np.ndarray, q: ArrayLike, rows: str = "all") -> np.ndarray:
    """Return d manipulability / d q (n,): w trace(J^+ dJ/dq_k).

    Parameters
    ----------
    structure, path, q
        As of `jacobian`.
    rows : str
        As of `manipulability`.

    Raises
    ------
    SingularPoseError
        At a singular pose, where the measure has a kink.
    """
    C, J, _ = _jacobian(structure, path, q, ALIGNED)  # noqa: N806
    chosen = _rows(rows)
    J = J[chosen]  # noqa: N806
    if J.shape[1] == 0:
        return np.zeros(0)
    sizes = np.linalg.svd(J, compute_uv=False)
    if sizes[-1] <= _RANK * sizes[0]:
        raise SingularPoseError(
            f"the manipulability ({rows}) of {structure._what} has no gradient at this pose: the Jacobian's smallest "
            f"singular value is {sizes[-1]:.3g}, its largest {sizes[0]:.3g}; expected more than {_RANK:g} of it"
        )
    H = _hessian(structure, path, C, ALIGNED)[chosen]  # noqa: N806
    return float(np.prod(sizes)) * np.einsum("cr,rck->k", np.linalg.pinv(J), H)


def volume(J: np.ndarray) -> float:  # noqa: N803
    """Return the product of the singular values of a Jacobian (r, n); 0 if it has no column.

    Parameters
    ----------
    J : (r, n) array
        Some rows of it, m or rad.
    """
    return float(np.prod(np.linalg.svd(J, compute_uv=False))) if J.shape[1] else 0.0


def _jacobian(
    structure: JointStructure, path: np.ndarray, q: ArrayLike, reference: str
) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the columns of the path's joints (6, len(path)), the Jacobian (6, n), and the frame's pose (4, 4)."""
    number = check_reference(reference)
    frames, axes = structure._evaluate(q)
    p = structure.parameters()
    C, J = np.empty((6, len(path))), np.empty((6, structure.n))  # noqa: N806
    chain_kernels.path_columns(p.kind, path, frames, axes, number, C)
    chain_kernels.gather(path, p.kind, p.column, p.ratio, C, J)
    return C, J, frames[path[-1]]


def _hessian(structure: JointStructure, path: np.ndarray, C: np.ndarray, reference: str) -> np.ndarray:  # noqa: N803
    p = structure.parameters()
    H = np.empty((structure.n, structure.n, 6))  # noqa: N806
    chain_kernels.path_hessian(path, p.kind, p.column, p.ratio, C, check_reference(reference), H)
    return np.ascontiguousarray(H.transpose(2, 1, 0))


def _rows(rows: str) -> slice:
    if rows not in ROWS:
        raise UnknownNameError(f"no rows {rows!r}; expected one of {', '.join(ROWS)}")
    return ROWS[rows]


def _check_angles(angles: str) -> None:
    if angles not in ANGLES:
        raise UnknownNameError(f"no Euler angles {angles!r}; expected one of {', '.join(ANGLES)}")


def _refuse_near(angle: float, singular: float, name: str, why: str) -> None:
    distance = abs(angle - singular)
    if not distance >= NEAREST_SINGULAR:
        raise SingularPoseError(
            f"{name} is {angle:.9g} rad, {distance:.3g} rad from the singular {singular:.9g}; expected at least "
            f"{NEAREST_SINGULAR:g} rad: {why}"
        )
