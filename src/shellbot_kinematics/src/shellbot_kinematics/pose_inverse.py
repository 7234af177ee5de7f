# SPDX-License-Identifier: MIT
"""Inverse of one limb for any part of a pose: closed form where there is one, else Levenberg-Marquardt."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Optional

import numpy as np

from shellbot_kinematics._free_fan import foot_free
from shellbot_kinematics._layout import LEG, REACHED
from shellbot_kinematics.errors import ShapeError
from shellbot_kinematics.inverse import InverseKinematics
from shellbot_kinematics.limb_inverse import limb_seed, solve_limb
from shellbot_kinematics.reports import InverseResult
from shellbot_kinematics.rotations import rotation_from_rpy
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
        Roll, pitch, yaw, rad; default free.
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
    p = np.asarray(p_base, dtype=np.float64)
    if p.shape != (3,) or np.isinf(p).any() or math.isinf(fan_position):
        raise ShapeError(f"p_base is {p.tolist()}, fan_position {fan_position}; expected numbers, or NaN for free ones")
    lower, whole = limb in LOWER_LIMBS, not np.isnan(p).any()
    if lower and whole and not math.isnan(fan_position):
        return solve_limb(model, limb, frame, p, None, fan_position, seed)
    if not lower and (whole or (not math.isnan(p[2]) and rpy_base is not None)):
        return solve_limb(model, limb, frame, p, rpy_base, seed=seed)
    q = limb_seed(model, limb, seed).copy()
    q = np.clip(q, chain.lower, chain.upper)
    if lower and whole and rpy_base is None:
        tip = 0 if frame == Frame.FOOT else 1
        error = foot_free(model.packed, LEG * LOWER_LIMBS.index(limb), tip, *p, True, q, 0)
        reason = "" if error <= REACHED else f"{limb} stops {1e3 * error:.1f} mm from its target for every fan angle"
        return InverseResult(limb, Frame(frame), q, bool(error <= REACHED), float(error), 0, reason)
    if np.isnan(p).all() and rpy_base is None:
        raise ShapeError(f"nothing is given for {limb}; expected a position, an orientation, or a part of them")
    active = None
    if lower and not math.isnan(fan_position):
        q[0] = float(np.clip(fan_position, chain.lower[0], chain.upper[0]))
        active = chain.joint_names[1:]
    rotation = None if rpy_base is None else rotation_from_rpy(*(float(a) for a in np.asarray(rpy_base)))
    found = InverseKinematics(chain).solve((p, rotation), q, active=active)
    reason = ""
    if not found.converged:
        off = f"{1e3 * found.distance:.1f} mm and {math.degrees(found.angle):.1f} deg"
        ends = f", at a limit: {', '.join(found.limits_hit)}" if found.limits_hit else ""
        reason = f"{limb} stops {off} from its target: {found.reason}{ends}"
    return InverseResult(limb, Frame(frame), found.q, found.converged, found.distance, found.iterations, reason)
