# SPDX-License-Identifier: MIT
"""Inverse of one limb for any part of a pose: closed form where there is one, else Levenberg-Marquardt."""

from __future__ import annotations

import math
import numbers
from dataclasses import replace
from typing import TYPE_CHECKING, List, Optional, Tuple

import numpy as np

from robot_mechanics.errors import ShapeError
from robot_mechanics.inverse.solver import InverseKinematics
from robot_mechanics.inverse.target import read_target
from robot_mechanics.native.lm_kernels import task_errors
from shellbot_kinematics._free_fan import foot_free
from shellbot_kinematics._layout import LEG, REACHED
from shellbot_kinematics.limb_inverse import foot_branches, limb_seed, shell_branches, solve_limb
from shellbot_kinematics.reports import InverseResult, fan_at_limit
from shellbot_kinematics.shellbot_limbs import LOWER_LIMBS, Frame
from shellbot_kinematics.shellbot_model import ShellbotModel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def solve_pose(
    model: ShellbotModel,
    limb: str,
    frame: Frame,
    p_base: ArrayLike,
    rpy_base: Optional[ArrayLike] = None,
    fan_position: float = 0.0,
    seed: Optional[ArrayLike] = None,
) -> InverseResult:
    """Return the joints of one limb, within its limits, for the coordinates of a pose that are given.

    Everything that is given counts. A whole position is met in closed form and so is the height and orientation of an
    upper limb (as `solve_limb`); an orientation that is given is then compared: another branch is taken if it meets
    both, else the joints are those of the position, not converged, with the angle left in `reason`.

    Parameters
    ----------
    model, limb, frame
        As for `solve_limb`.
    p_base : (3,) sequence
        m in base_link; NaN is free.
    rpy_base : (3,) sequence, optional
        Roll, pitch, yaw, rad; default free. NaN frees a turn about one axis of base_link and counts as angle 0, as for
        InverseKinematics.solve.
    fan_position : float
        rad, lower limbs; clamped to its limits, and then not converged. NaN: the fan is free.
    seed : (n,), (4,) or (2,) sequence, optional
        All driven joints, or the limb's own; where the search starts.

    Raises
    ------
    ShapeError, UnknownNameError
        On wrong shapes, infinite numbers, nothing given at all, an unknown limb or frame.
    """
    chain = model.chain(limb, frame)
    p = _three(p_base, "p_base", "x, y, z in m")
    rpy = None if rpy_base is None else _three(rpy_base, "rpy_base", "roll, pitch, yaw in rad")
    if not isinstance(fan_position, numbers.Real) or math.isinf(fan_position):
        raise ShapeError(f"fan_position is {fan_position!r}; expected an angle in rad, or NaN for a free fan")
    lower, whole = limb in LOWER_LIMBS, not np.isnan(p).any()
    if rpy is not None and np.isnan(rpy).all():
        rpy = None
    by_height = rpy is not None and not np.isnan([p[2], *rpy]).any() and np.isnan(p[:2]).all()
    if (whole or by_height) if not lower else (whole and not math.isnan(fan_position)):
        closed = solve_limb(model, limb, frame, p, None if lower else rpy, fan_position, seed)
        return closed if rpy is None else _compared(model, closed, p, rpy)
    q = limb_seed(model, limb, seed).copy()
    q = np.clip(q, chain.lower, chain.upper)
    if lower and whole and rpy is None:
        tip = 0 if frame == Frame.FOOT else 1
        error = foot_free(model.packed, LEG * LOWER_LIMBS.index(limb), tip, *p, True, q, 0)
        reason = "" if error <= REACHED else f"{limb} stops {1e3 * error:.1f} mm from its target for every fan angle"
        return InverseResult(limb, Frame(frame), q, bool(error <= REACHED), float(error), 0, reason)
    if np.isnan(p).all() and rpy is None:
        raise ShapeError(f"nothing is given for {limb}; expected a position, an orientation, or a part of them")
    active: Optional[Tuple[str, ...]] = None
    if lower and not math.isnan(fan_position):
        q[0] = float(np.clip(fan_position, chain.lower[0], chain.upper[0]))
        active = chain.joint_names[1:]
    found = InverseKinematics(chain).solve((p, rpy), q, active=active)
    reasons: List[str] = []
    if not found.converged:
        off = f"{1e3 * found.distance:.1f} mm and {math.degrees(found.angle):.1f} deg"
        reasons.append(f"{limb} stops {off} from its target: {found.reason}")
    if active is not None and q[0] != fan_position:
        reasons.append(fan_at_limit(limb, fan_position, q[0]))
    reason = "; ".join(reasons)
    return InverseResult(limb, Frame(frame), found.q, not reasons, found.distance, found.iterations, reason)


def _compared(model: ShellbotModel, found: InverseResult, p: np.ndarray, rpy: np.ndarray) -> InverseResult:
    """Return what a closed form found for the position alone, judged by the orientation, too."""
    chain, limb = model.chain(found.limb, found.frame), found.limb
    pose, rows = read_target((p, rpy))

    def away(q: np.ndarray) -> Tuple[float, float]:
        error = np.empty(6)
        task_errors(pose, rows, False, chain.fk(q)[:3], error)
        error *= rows
        return float(np.linalg.norm(error[:3])), float(np.linalg.norm(error[3:]))

    angle = away(found.q)[1]
    if angle <= REACHED:
        return found
    if not found.converged:
        return replace(found, reason=f"{found.reason}; its orientation is {math.degrees(angle):.3g} deg off")
    if limb in LOWER_LIMBS:
        others = list(foot_branches(model, limb, p, found.q[0], found.frame).values())
    else:  # by height, both branches have the same orientation
        others = [] if np.isnan(p).any() else list(shell_branches(model, limb, p).values())
    for q in others:
        if chain.within_limits(q) and max(away(q)) <= REACHED:
            return replace(found, q=q)
    reason = (
        f"{limb} stops 0.0 mm and {math.degrees(angle):.3g} deg from its target: its joints cannot meet this "
        "orientation as well; give NaN for what need not be met"
    )
    return replace(found, converged=False, reason=reason)


def _three(values: ArrayLike, what: str, expected: str) -> np.ndarray:
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError(f"{what} is {values!r}; expected {expected}, NaN for what is free") from None
    if found.shape != (3,) or np.isinf(found).any():
        raise ShapeError(f"{what} is {found.tolist()}; expected {expected}, NaN for what is free")
    return found
