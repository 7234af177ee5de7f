# SPDX-License-Identifier: MIT
"""Inverse of one limb for any part of a pose: closed form where there is one, else Levenberg-Marquardt."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Optional

import numpy as np

from robot_mechanics.errors import ShapeError
from robot_mechanics.inverse.solver import InverseKinematics
from shellbot_kinematics._free_fan import foot_free
from shellbot_kinematics._layout import LEG, REACHED
from shellbot_kinematics.limb_inverse import limb_seed, solve_limb
from shellbot_kinematics.reports import InverseResult
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

    A whole position is met in closed form, its orientation follows (as `solve_limb`), and so is the height and
    orientation of an upper limb. With a coordinate NaN, everything that is given counts, the orientation too.

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
        rad, lower limbs; NaN: the fan is free.
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
    if math.isinf(fan_position):
        raise ShapeError(f"fan_position is {fan_position}; expected an angle in rad, or NaN for a free fan")
    lower, whole = limb in LOWER_LIMBS, not np.isnan(p).any()
    if lower and whole and not math.isnan(fan_position):
        return solve_limb(model, limb, frame, p, None, fan_position, seed)
    if not lower and (whole or (not math.isnan(p[2]) and rpy is not None and not np.isnan(rpy).any())):
        return solve_limb(model, limb, frame, p, rpy, seed=seed)
    q = limb_seed(model, limb, seed).copy()
    q = np.clip(q, chain.lower, chain.upper)
    if rpy is not None and np.isnan(rpy).all():
        rpy = None
    if lower and whole and rpy is None:
        tip = 0 if frame == Frame.FOOT else 1
        error = foot_free(model.packed, LEG * LOWER_LIMBS.index(limb), tip, *p, True, q, 0)
        reason = "" if error <= REACHED else f"{limb} stops {1e3 * error:.1f} mm from its target for every fan angle"
        return InverseResult(limb, Frame(frame), q, bool(error <= REACHED), float(error), 0, reason)
    if np.isnan(p).all() and rpy is None:
        raise ShapeError(f"nothing is given for {limb}; expected a position, an orientation, or a part of them")
    active = None
    if lower and not math.isnan(fan_position):
        q[0] = float(np.clip(fan_position, chain.lower[0], chain.upper[0]))
        active = chain.joint_names[1:]
    found = InverseKinematics(chain).solve((p, rpy), q, active=active)
    reason = ""
    if not found.converged:
        off = f"{1e3 * found.distance:.1f} mm and {math.degrees(found.angle):.1f} deg"
        reason = f"{limb} stops {off} from its target: {found.reason}"
    return InverseResult(limb, Frame(frame), found.q, found.converged, found.distance, found.iterations, reason)


def _three(values: ArrayLike, what: str, expected: str) -> np.ndarray:
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError(f"{what} is {values!r}; expected {expected}, NaN for what is free") from None
    if found.shape != (3,) or np.isinf(found).any():
        raise ShapeError(f"{what} is {found.tolist()}; expected {expected}, NaN for what is free")
    return found
