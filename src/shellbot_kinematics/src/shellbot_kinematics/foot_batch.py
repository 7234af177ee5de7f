# SPDX-License-Identifier: MIT
"""Closed-form inverse of a lower leg for many targets in one call, on all cores, for a fan angle that is given."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Optional, Union

import numpy as np

from robot_mechanics.arguments import flag
from robot_mechanics.errors import ShapeError
from robot_mechanics.native.threads import helpers, worker_count
from shellbot_kinematics import _foot_lanes as kernels
from shellbot_kinematics._foot_batch_io import (
    FootBatch,
    answer_of,
    check_limb,
    in_parts,
    numbers_of,
    points_of,
    refuse,
    words_of,
    work_of,
)
from shellbot_kinematics._foot_constants import NEAREST, SLACK, cached_constants
from shellbot_kinematics.limb_inverse import LegBranch
from shellbot_kinematics.shellbot_limbs import LOWER_LIMBS, Frame
from shellbot_kinematics.shellbot_model import ShellbotModel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["NEAREST", "FootBatch", "foot_batch"]
_PART = 4 * kernels.TILE  # targets, the smallest part given to a thread
_NONE = np.empty((0, 0))


def foot_batch(
    model: ShellbotModel,
    limb: str,
    p_base: ArrayLike,
    fan: ArrayLike = 0.0,
    branch: Union[LegBranch, str] = LegBranch.FRONT_KNEE_UP,
    seeds: Optional[ArrayLike] = None,
    limits: bool = True,
    frame: Frame = Frame.FOOT,
    threads: Optional[int] = None,
    out: Optional[FootBatch] = None,
    by_coordinate: Optional[bool] = None,
) -> FootBatch:
    """Solve one lower leg for many positions of its tip by the closed form.

    Parameters
    ----------
    model : ShellbotModel
        The robot.
    limb : str
        lower_1 .. lower_6.
    p_base : (3, N) or (N, 3) float64
        Targets in base_link, m; by coordinate, (3, N), is the faster form.
    fan : float or (N,)
        Angle of the fan, rad, for all targets or one each.
    branch : LegBranch or "nearest"
        One branch for all targets, or for each target the branch that is nearest to its seed (by the joint that
        changes most) among those that reach it, and that keep to the limits if `limits`.
    seeds : (3,) or like p_base, optional
        Coxa, femur, tibia, rad, for branch="nearest"; default zero.
    limits : bool
        A foot whose joints are beyond their limits, the fan among them, is not converged; "nearest" leaves such
        branches out. Joints are counted from the middle of their limits in any case.
    frame : Frame
        FOOT or SPHERE_CENTRE.
    threads : int, optional
        Default: all cores.
    out : FootBatch, optional
        Written to instead of new arrays (of an earlier call of the same size).
    by_coordinate : bool, optional
        Whether targets, seeds and answers are (3, N); default by the shape of `p_base`. Needed for three targets.

    Raises
    ------
    ShapeError
        If shapes do not fit, or numbers are not finite.
    UnknownNameError
        If limb or frame do not exist.
    InvalidReferenceError, InvalidConfigError
        If the branch is neither, limits no truth value, or threads no whole number above zero.

    Notes
    -----
    Sine, cosine and arctangent are polynomials with errors below 1e-15 rad, so that SIMD units can evaluate them;
    answers differ from the single solver's by rounding, and not with the number of threads.
    """
    check_limb(model, limb, frame)
    limits = flag(limits, "limits")
    points, by_coordinate, count = points_of(p_base, by_coordinate)
    workers = worker_count(threads, -(-count // _PART))
    with helpers(workers) as held:
        words, workers = words_of(held, workers)  # first, for helpers need a while to wake
        own_fan = _fan(fan, count)
        shared_fan = 0.0 if own_fan.size else float(np.asarray(fan))
        constants = cached_constants(model, limb, frame, branch, limits, shared_fan)
        branches = constants.shape[0] // 2
        given = _seeds(seeds, points) if branches > 1 else _NONE
        result = answer_of(out, points.shape, count)
        work = work_of(workers, kernels.WORK)
        arguments = constants, branches, points.ravel(), own_fan, given.ravel(), result.q.ravel()  # views
        reached = result.converged.view(np.uint8)
        if words is not None:
            part = kernels.shared_part().address
            bad = kernels.feet_shared(words, part, _PART, workers, by_coordinate, *arguments, reached, work.ravel())
        else:
            kernel = kernels.feet_by_coordinate if by_coordinate else kernels.feet_by_target
            bad = in_parts(kernel, (*arguments, reached), count, workers, work, _PART)
    refuse(bad, points)
    if limits:
        low, high = (limit[4 * LOWER_LIMBS.index(limb)] for limit in (model.lower, model.upper))
        angles = np.asarray(fan, dtype=np.float64)
        allowed = (angles >= low - SLACK) & (angles <= high + SLACK)
        if not np.all(allowed):
            np.logical_and(result.converged, allowed, out=result.converged)
    return result


def _fan(fan: ArrayLike, count: int) -> np.ndarray:
    """Return one angle a target, or none if all share one."""
    angles = numbers_of(fan, "fan", f"a finite angle, or {count} of them")
    if angles.ndim == 0 or angles.size == 0:
        if angles.size == 0 or not math.isfinite(float(angles)):
            raise ShapeError(f"fan is {fan!r}; expected a finite angle, or {count} of them")
        return np.empty(0)
    if angles.shape != (count,) or not np.isfinite(angles).all():
        raise ShapeError(f"fan has shape {angles.shape}; expected one finite angle, or ({count},) of them")
    return angles


def _seeds(seeds: Optional[ArrayLike], points: np.ndarray) -> np.ndarray:
    if seeds is None:
        return np.zeros_like(points)
    given = numbers_of(seeds, "seeds", f"finite (3,) or {points.shape}, as the targets")
    if given.shape == (3,):
        given = np.ascontiguousarray(np.broadcast_to(given[:, None] if points.shape[0] == 3 else given, points.shape))
    if given.shape != points.shape or not np.isfinite(given).all():
        raise ShapeError(f"seeds has shape {given.shape}; expected finite (3,) or {points.shape}, as the targets")
    return given
