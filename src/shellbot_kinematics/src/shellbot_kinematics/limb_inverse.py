# SPDX-License-Identifier: MIT
"""Closed-form inverse of one limb: every branch by name, or the best one."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Dict, Optional

import numpy as np

from shellbot_kinematics import _kernels
from shellbot_kinematics.errors import ShapeError
from shellbot_kinematics.references import LOWER_LIMBS, UPPER_LIMBS, Frame
from shellbot_kinematics.reports import InverseResult, limit_name
from shellbot_kinematics.shellbot_model import ShellbotModel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class LegBranch(Enum):
    """The four solutions of a lower leg: where the tip is seen from the coxa axis, and how the knee bends (side,
    knee).
    """

    FRONT_KNEE_UP = (1.0, -1.0)
    FRONT_KNEE_DOWN = (1.0, 1.0)
    INSIDE_KNEE_UP = (-1.0, -1.0)
    """The tip lies behind the coxa axis, towards the body, without a half turn of the coxa."""
    INSIDE_KNEE_DOWN = (-1.0, 1.0)


def foot_branches(
    model: ShellbotModel, limb: str, p_base: ArrayLike, fan_position: float, frame: Frame = Frame.FOOT
) -> Dict[LegBranch, np.ndarray]:
    """Return all solutions (fan, coxa, femur, tibia), rad in -pi .. pi, joint limits not looked at; empty if out of
    reach.

    Parameters
    ----------
    model : ShellbotModel
        The robot.
    limb : str
        lower_1 .. lower_6.
    p_base : (3,) sequence
        Position of the frame in base_link, m.
    fan_position : float
        rad.
    frame : Frame
        FOOT or SPHERE_CENTRE.

    Raises
    ------
    ShapeError, UnknownNameError
        If p_base is not three finite numbers, or limb or frame do not exist.
    """
    model.chain(limb, frame)
    if limb not in LOWER_LIMBS:
        raise ShapeError(f"limb {limb} is no lower limb; foot_branches is for {', '.join(LOWER_LIMBS)}")
    g, tip = model.legs[LOWER_LIMBS.index(limb)], 0 if frame == Frame.FOOT else 1
    x, y, z = _kernels.to_coxa(g, *_point(p_base), float(fan_position), 0)
    found = {}
    for branch in LegBranch:
        q2, q3, q4, _, _, stop = _kernels.lower_branch(g, tip, x, y, z, *branch.value)
        if stop == _kernels.STOP_NONE:
            found[branch] = np.array([fan_position] + [_kernels.wrap(angle, 0.0) for angle in (q2, q3, q4)])
    return found


def solve_limb(
    model: ShellbotModel,
    limb: str,
    frame: Frame,
    p_base: ArrayLike,
    rpy_base: Optional[ArrayLike] = None,
    fan_position: float = 0.0,
    seed: Optional[ArrayLike] = None,
) -> InverseResult:
    """Return the joints of one limb that bring its frame to a position, within the limits.

    Of all branches the one that comes nearest to the target is taken, among equals the one closest to the seed.

    Parameters
    ----------
    model : ShellbotModel
        The robot.
    limb : str
        lower_1 .. upper_6.
    frame : Frame
        FOOT (lower limbs) or SPHERE_CENTRE.
    p_base : (3,) sequence
        m in base_link. Upper limbs: x and y may be NaN; then z and `rpy_base` decide.
    rpy_base : (3,) sequence, optional
        rad; used by upper limbs if x or y is NaN.
    fan_position : float
        rad, lower limbs; clamped to its limits.
    seed : (n,) or (4,) or (2,) sequence, optional
        All driven joints, or the limb's own.

    Raises
    ------
    ShapeError, UnknownNameError
        On wrong lengths, values that are not finite where they must be, unknown limb or frame.
    """
    chain = model.chain(limb, frame)
    where = model.columns(limb)
    last = _seed(model, limb, seed)
    low, high = model.lower[where], model.upper[where]
    p = np.asarray(p_base, dtype=np.float64)
    q = np.zeros(chain.n)
    row = LOWER_LIMBS.index(limb) if limb in LOWER_LIMBS else 6 + UPPER_LIMBS.index(limb)
    if row < 6:
        if not np.isfinite(fan_position):
            raise ShapeError(f"fan_position is {fan_position}; expected one finite angle in rad")
        q[0] = np.clip(fan_position, low[0], high[0])
        tip = 0 if frame == Frame.FOOT else 1
        error, stop = _kernels.lower_inverse(model.legs[row], tip, *_point(p), last, low, high, False, q)
    else:
        rpy = np.full(3, np.nan) if rpy_base is None else np.asarray(rpy_base, dtype=np.float64)
        if p.shape != (3,) or rpy.shape != (3,):
            raise ShapeError(f"p_base and rpy_base of {limb} have shapes {p.shape} and {rpy.shape}; expected (3,) each")
        free = np.isnan(p[:2]).any()
        if np.isinf(p).any() or np.isnan(p[2]) or (free and not np.isfinite(rpy).all()):
            raise ShapeError(f"p_base of {limb} is {p}; expected three finite numbers, or a finite z and rpy_base")
        error, stop = _kernels.upper_inverse(model.shells[row - 6], *p, *rpy, last, low, high, False, q)
    converged = bool(error <= 1e-6)
    reason = "" if converged else f"{limb} stops {1e3 * error:.1f} mm from its target: {limit_name(row, stop)}"
    if row < 6 and q[0] != fan_position:
        converged = False
        end = f"{limb}_fan was asked to stand at {fan_position:.3f} rad and stops at its limit {q[0]:.3f} rad"
        reason = f"{reason}; {end}" if reason else end
    return InverseResult(limb, Frame(frame), q, converged, float(error), 0, reason)


def _seed(model: ShellbotModel, limb: str, seed: Optional[ArrayLike]) -> np.ndarray:
    where = model.columns(limb)
    count = where.stop - where.start
    values = np.zeros(0) if seed is None else np.asarray(seed, dtype=np.float64)
    if values.size == 0:
        return np.zeros(count)
    if values.shape == (model.n,):
        return np.ascontiguousarray(values[where])
    if values.shape == (count,):
        return values
    raise ShapeError(
        f"seed has shape {values.shape}; expected ({model.n},), all driven joints, or ({count},), those of {limb}"
    )


def _point(p_base: ArrayLike) -> np.ndarray:
    p = np.asarray(p_base, dtype=np.float64)
    if p.shape != (3,) or not np.isfinite(p).all():
        raise ShapeError(f"p_base is {p.tolist()}; expected three finite numbers, m in base_link")
    return p
