# SPDX-License-Identifier: MIT
"""The body's pose from where the feet stand: least squares over the feet, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional

import numpy as np

from robot_mechanics.errors import ShapeError
from shellbot_kinematics._lower_leg import lower_feet
from shellbot_kinematics.shellbot_limbs import LOWER_LIMBS
from shellbot_kinematics.shellbot_model import ShellbotModel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_LINE = 1e-6  # m: points closer than this to one line do not tell a turn about it


@dataclass(frozen=True, eq=False)
class BasePose:
    """A pose of the body and how well it fits."""

    T_world_base: np.ndarray  #: (4, 4) The pose
    residual: np.ndarray  #: (k,) Distance of each point from where the pose puts it, m; NaN for points not given

    @property
    def worst(self) -> float:
        """The largest residual, m."""
        return float(np.nanmax(self.residual))


def fit_pose(p_base: ArrayLike, p_world: ArrayLike, weights: Optional[ArrayLike] = None) -> BasePose:
    """Return the pose that brings points given in the base (k, 3) nearest to points of the world (k, 3), m.

    Minimises sum w |T p_base - p_world|^2 by the singular value decomposition of their correlation (Kabsch, Acta Cryst.
    A32, 1976; Umeyama, IEEE PAMI 13(4), 1991, for the sign).

    Parameters
    ----------
    p_base, p_world : (k, 3) sequences
        At least three points not on one line; a row with NaN is left out.
    weights : (k,) sequence, optional
        0 or more; default 1.

    Raises
    ------
    ShapeError
        On wrong shapes, infinite numbers, negative weights, or points that do not determine a pose.
    """
    a, b = np.asarray(p_base, dtype=np.float64), np.asarray(p_world, dtype=np.float64)
    if a.ndim != 2 or a.shape[1] != 3 or a.shape != b.shape:
        raise ShapeError(f"p_base and p_world have shapes {a.shape} and {b.shape}; expected (k, 3) each")
    w = np.ones(len(a)) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != (len(a),) or not np.isfinite(w).all() or (w < 0.0).any():
        raise ShapeError(f"weights are {weights!r}; expected {len(a)} numbers of 0 or more")
    if np.isinf(a).any() or np.isinf(b).any():
        raise ShapeError("p_base or p_world are infinite; expected m, or NaN for points that are not known")
    known = ~np.isnan(a).any(axis=1) & ~np.isnan(b).any(axis=1) & (w > 0.0)
    if np.count_nonzero(known) < 3:
        raise ShapeError(f"{np.count_nonzero(known)} points are known in base and world; a pose needs three")
    weight = w[known, None] / w[known].sum()
    middle_a, middle_b = (weight * a[known]).sum(axis=0), (weight * b[known]).sum(axis=0)
    from_a, from_b = a[known] - middle_a, b[known] - middle_b
    for what, points in (("p_base", from_a), ("p_world", from_b)):
        if np.linalg.svd(points, compute_uv=False)[1] < _LINE:
            raise ShapeError(f"the points of {what} lie on one line; a pose needs three that do not")
    U, _, Vt = np.linalg.svd(from_b.T @ (weight * from_a))  # noqa: N806
    R = U @ np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ Vt))]) @ Vt  # noqa: N806
    T = np.eye(4)  # noqa: N806
    T[:3, :3], T[:3, 3] = R, middle_b - R @ middle_a
    return BasePose(T, np.linalg.norm(a @ R.T + T[:3, 3] - b, axis=1))


def base_pose_from_feet(
    model: ShellbotModel, q: ArrayLike, p_world_feet: ArrayLike, weights: Optional[ArrayLike] = None
) -> BasePose:
    """Return the body pose that fits all joints q (n,), rad, to feet that stand fixed in the world (6, 3), m.

    A row of NaN is a foot in the air. Raises as `fit_pose`, and a ShapeError if q has the wrong length.

    Parameters
    ----------
    model : ShellbotModel
        The robot.
    q : (n,) array_like
        All driven joints, rad.
    p_world_feet : (6, 3) array_like
        Feet in the world, m.
    weights : (6,) array_like, optional
        As of `fit_pose`.
    """
    values = np.ascontiguousarray(q, dtype=np.float64)
    if values.shape != (model.n,) or not np.isfinite(values).all():
        raise ShapeError(f"q has shape {values.shape}; expected ({model.n},) finite numbers, one per driven joint")
    feet = np.empty((len(LOWER_LIMBS), 3))
    lower_feet(model.packed, values, feet)
    return fit_pose(feet, p_world_feet, weights)
