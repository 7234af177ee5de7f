# SPDX-License-Identifier: MIT
"""Closed-form inverse of one limb for the position of its frame: every branch by name, or the best one."""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING, Dict, Optional, Tuple

import numpy as np

from robot_mechanics.errors import ShapeError
from robot_mechanics.native.angles import sincos
from shellbot_kinematics._layout import (
    G_SFAN,
    LEG,
    P_SHELL,
    REACHED,
    SHELL,
    STOP_NONE,
    U_A0,
    U_B0,
    U_L,
    U_M,
    U_ORG,
    U_SH,
    U_SS,
)
from shellbot_kinematics._lower_inverse import lower_branch, lower_inverse
from shellbot_kinematics._lower_leg import to_coxa
from shellbot_kinematics._planar import wrap
from shellbot_kinematics._upper_inverse import upper_branch, upper_inverse, upper_sum
from shellbot_kinematics._upper_leg import upper_plane
from shellbot_kinematics.reports import InverseResult, fan_at_limit, limit_name
from shellbot_kinematics.shellbot_limbs import LOWER_LIMBS, UPPER_LIMBS, Frame
from shellbot_kinematics.shellbot_model import ShellbotModel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class LegBranch(Enum):
    """The four solutions of a lower leg as (side of the coxa's axis on which the tip is, bend of the knee)."""

    FRONT_KNEE_UP = (1.0, -1.0)
    FRONT_KNEE_DOWN = (1.0, 1.0)
    INSIDE_KNEE_UP = (-1.0, -1.0)
    """The tip lies behind the coxa axis, towards the body, without a half turn of the coxa."""
    INSIDE_KNEE_DOWN = (-1.0, 1.0)


class ShellBranch(Enum):
    """The two solutions of an upper leg for one point, or for one height and orientation, by where its elbow is.

    The report's "low" and "high" elbow (closed ball, q5 = -26.69 deg; shells up, q5 = +26.69 deg) are ELBOW_OUT at two
    heights.
    """

    ELBOW_OUT = "out"
    """The elbow (the shell's axis) is the farther of the two from the body: the ones that Shellbot uses."""
    ELBOW_IN = "in"


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
    o, tip = LEG * LOWER_LIMBS.index(limb), 0 if frame == Frame.FOOT else 1
    x, y, z = to_coxa(model.packed, o, *_point(p_base), *sincos(model.packed[o + G_SFAN] * float(fan_position)))
    found = {}
    for branch in LegBranch:
        q2, q3, q4, _, _, stop = lower_branch(model.packed, o, tip, x, y, z, *branch.value)
        if stop == STOP_NONE:
            found[branch] = np.array([fan_position] + [wrap(angle, 0.0) for angle in (q2, q3, q4)])
    return found


def shell_branches(
    model: ShellbotModel,
    limb: str,
    p_base: Optional[ArrayLike] = None,
    height: Optional[float] = None,
    rpy_base: Optional[ArrayLike] = None,
) -> Dict[ShellBranch, np.ndarray]:
    """Return both solutions (shoulder, shell), rad in -pi .. pi, joint limits not looked at; empty if out of reach.

    Parameters
    ----------
    model : ShellbotModel
        The robot.
    limb : str
        upper_1 .. upper_6.
    p_base : (3,) sequence, optional
        Position of the sphere centre in base_link, m; its part across the limb's plane is left out.
    height, rpy_base : float and (3,) sequence, optional
        Instead: z of the sphere centre (m) and its orientation (rad), as the second report leads the upper shells.

    Raises
    ------
    ShapeError, UnknownNameError
        If neither or both are given, numbers are missing or not finite, or the limb is no upper one.
    """
    model.chain(limb, Frame.SPHERE_CENTRE)
    if limb not in UPPER_LIMBS:
        raise ShapeError(f"limb {limb} is no upper limb; shell_branches is for {', '.join(UPPER_LIMBS)}")
    if (p_base is None) == (height is None) or (height is None) != (rpy_base is None):
        raise ShapeError("give p_base, or height and rpy_base")
    u = P_SHELL + SHELL * UPPER_LIMBS.index(limb)
    leg = model.packed[u : u + SHELL]
    B = 0.0  # noqa: N806 - as in the formulas
    if height is None:
        x, _, z = upper_plane(leg, 0, *_point(p_base))
    else:
        B = upper_sum(leg, 0, *_point(rpy_base, "rpy_base", "rad"))  # noqa: N806
        x, z = 0.0, _point([height, 0.0, 0.0], "height", "m")[0] - leg[U_ORG + 2]
    return _by_elbow(leg, x, z, B, height is not None)


def shell_joints(leg: np.ndarray, height: float, turn: float) -> np.ndarray:
    """Return shoulder and shell (2,), rad, of an upper leg with its elbow out; NaN if the height is out of reach.

    Parameters
    ----------
    leg : (28,) array
        Its packed geometry, from `pack_upper`.
    height : float
        z of the sphere centre in base_link, m.
    turn : float
        Turn of the shell about the shoulder's axis since both joints were zero, rad.
    """
    found = _by_elbow(leg, 0.0, height - leg[U_ORG + 2], leg[U_B0] - leg[U_SS] * turn, True)
    return found.get(ShellBranch.ELBOW_OUT, np.full(2, np.nan))


def shell_heights(leg: np.ndarray, q: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Return z of the sphere centre in base_link, m, and whether the elbow is out, for an upper leg's joints.

    Parameters
    ----------
    leg : (28,) array
        Its packed geometry, from `pack_upper`.
    q : (..., 2) array
        Shoulder and shell, rad.
    """
    A = leg[U_A0] - leg[U_SS] * q[..., 0]  # noqa: N806
    B = leg[U_B0] - leg[U_SS] * q[..., 0] - leg[U_SH] * q[..., 1]  # noqa: N806
    return leg[U_ORG + 2] + leg[U_L] * np.sin(A) + leg[U_M] * np.sin(B), np.cos(A) > 0.0


def _by_elbow(leg: np.ndarray, x: float, z: float, B: float, by_height: bool) -> Dict[ShellBranch, np.ndarray]:  # noqa: N803
    """Return both solutions of `upper_branch` as joints, rad in -pi .. pi; empty if out of reach."""
    both = [upper_branch(leg, 0, x, z, B, by_height, number) for number in range(2)]
    if any(solution[4] != STOP_NONE for solution in both):
        return {}
    both.sort(key=lambda solution: -math.cos(solution[0]))  # A, the direction of the inner link
    a0, b0 = leg[U_A0], leg[U_B0]
    found = {}
    for branch, (A, gamma, _, _, _) in zip(ShellBranch, both):  # noqa: N806
        angles = leg[U_SS] * (a0 - A), leg[U_SH] * (b0 - a0 - gamma)
        found[branch] = np.array([wrap(angle, 0.0) for angle in angles])
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
        All driven joints, or those of the limb; rad.

    Raises
    ------
    ShapeError, UnknownNameError
        On wrong lengths, values that are not finite, unknown limb or frame.
    """
    chain = model.chain(limb, frame)
    where = model.columns(limb)
    last = limb_seed(model, limb, seed)
    low, high = model.lower[where], model.upper[where]
    p = np.asarray(p_base, dtype=np.float64)
    q = np.zeros(chain.n)
    row = LOWER_LIMBS.index(limb) if limb in LOWER_LIMBS else 6 + UPPER_LIMBS.index(limb)
    if row < 6:
        if not np.isfinite(fan_position):
            raise ShapeError(f"fan_position is {fan_position}; expected one finite angle in rad")
        q[0] = np.clip(fan_position, low[0], high[0])
        tip = 0 if frame == Frame.FOOT else 1
        error, stop = lower_inverse(model.packed, row * LEG, tip, *_point(p), last, 0, True, False, q, 0)
    else:
        rpy = np.full(3, np.nan) if rpy_base is None else np.asarray(rpy_base, dtype=np.float64)
        if p.shape != (3,) or rpy.shape != (3,):
            raise ShapeError(f"p_base and rpy_base of {limb} have shapes {p.shape} and {rpy.shape}; expected (3,) each")
        free = np.isnan(p[:2]).any()
        if np.isinf(p).any() or np.isnan(p[2]) or (free and not np.isfinite(rpy).all()):
            raise ShapeError(f"p_base of {limb} is {p}; expected three finite numbers, or a finite z and rpy_base")
        u = P_SHELL + SHELL * (row - 6)
        error, stop = upper_inverse(model.packed, u, *p, *rpy, last, 0, True, False, q, 0)
    return closed_form_result(limb, Frame(frame), q, error, stop, fan_position if row < 6 else None)


def closed_form_result(
    limb: str, frame: Frame, q: np.ndarray, error: float, stop: int, fan_position: Optional[float]
) -> InverseResult:
    """Return what a closed form found, in words.

    Parameters
    ----------
    limb, frame, fan_position
        As for `solve_limb`; fan_position is None where none was commanded.
    q, error, stop : (4,) or (2,) array, float, int
        Joints of the limb, rad; distance from the target, m; code of the kernels.
    """
    row = LOWER_LIMBS.index(limb) if limb in LOWER_LIMBS else 6 + UPPER_LIMBS.index(limb)
    converged = bool(error <= REACHED)
    reason = "" if converged else f"{limb} stops {1e3 * error:.1f} mm from its target: {limit_name(row, stop)}"
    if fan_position is not None and q[0] != fan_position:
        converged = False
        end = fan_at_limit(limb, fan_position, q[0])
        reason = f"{reason}; {end}" if reason else end
    return InverseResult(limb, frame, q, converged, float(error), 0, reason)


def limb_seed(model: ShellbotModel, limb: str, seed: Optional[ArrayLike]) -> np.ndarray:
    """Return the joints of a limb, rad, from a seed that holds all joints or its own; zeros for none.

    Parameters
    ----------
    model, limb, seed
        As for `solve_limb`; ShapeError on another length, or joints that are no finite numbers.
    """
    where = model.columns(limb)
    count = where.stop - where.start
    expected = f"expected ({model.n},), all driven joints, or ({count},), those of {limb}, rad"
    try:
        values = np.asarray(() if seed is None else seed, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError(f"seed is {seed!r}; {expected}") from None
    if not values.size:
        return np.zeros(count)
    if values.shape == (model.n,):
        values = np.ascontiguousarray(values[where])
    if values.shape != (count,):
        raise ShapeError(f"seed has shape {values.shape}; {expected}")
    if not all(map(math.isfinite, values.tolist())):
        raise ShapeError(f"seed of {limb} is {values.tolist()}; expected finite numbers, rad, or no seed")
    return values


def _point(p_base: Optional[ArrayLike], what: str = "p_base", unit: str = "m in base_link") -> np.ndarray:
    p = np.asarray(p_base, dtype=np.float64)
    if p.shape != (3,) or not np.isfinite(p).all():
        raise ShapeError(f"{what} is {p.tolist()}; expected three finite numbers, {unit}")
    return p
