# SPDX-License-Identifier: MIT
"""Complete closed-form inverse of a lower leg for many targets in one call: all four joints, the fan free."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Tuple

import numpy as np

from robot_mechanics.arguments import flag
from robot_mechanics.errors import ShapeError
from robot_mechanics.native.threads import helpers, worker_count
from shellbot_kinematics import _free_lanes as kernels
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
from shellbot_kinematics._foot_constants import NEAREST, cached_constants
from shellbot_kinematics.shellbot_limbs import LOWER_LIMBS, Frame
from shellbot_kinematics.shellbot_model import ShellbotModel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_PART = kernels.TILE  # targets, the smallest part given to a thread


def foot_batch_free_fan(
    model: ShellbotModel,
    limb: str,
    p_base: ArrayLike,
    seeds: Optional[ArrayLike] = None,
    limits: bool = True,
    frame: Frame = Frame.FOOT,
    threads: Optional[int] = None,
    out: Optional[FootBatch] = None,
    by_coordinate: Optional[bool] = None,
) -> FootBatch:
    """Solve one lower leg for many positions of its tip, turning the fan only where, and as little as, it takes.

    Parameters
    ----------
    model : ShellbotModel
        The robot.
    limb : str
        lower_1 .. lower_6.
    p_base : (3, N) or (N, 3) float64
        Targets in base_link, m.
    seeds : (4,), or (4, N) or (N, 4) as the targets, optional
        Where the leg is, or the angles preferred: fan, coxa, femur, tibia, rad; default zero.
    limits : bool
        Keep to the joint limits; else coxa, femur, tibia, and the fan where it turns, come in -pi .. pi.
    frame : Frame
        FOOT or SPHERE_CENTRE.
    threads : int, optional
        Default: all cores.
    out : FootBatch, optional
        Written to instead of new arrays (of an earlier call of the same size).
    by_coordinate : bool, optional
        Whether targets, seeds and answers are (3, N); default by the shape of `p_base`. Needed for three targets.

    Returns
    -------
    FootBatch
        With q (4, N) or (N, 4): fan, coxa, femur, tibia. Complete: within the limits, if they are to be kept, every
        target that can be met is met. Others get the nearest point found.

    Raises
    ------
    ShapeError
        If shapes do not fit, or numbers are not finite.
    UnknownNameError
        If limb or frame do not exist.
    InvalidConfigError
        If limits is no truth value, or threads no whole number above zero.

    Notes
    -----
    The rule is that of `packed.foot_inverse_free_fan`: where the fan's seed (within its limits, with `limits`) will do,
    it stays, and of the branches the one nearest to the seed is taken, by the joint that changes most; otherwise the
    nearest fan angle that will do. Targets of the first kind are solved by SIMD code, the others one by one, each some
    ten times as long. Answers do not depend on the number of threads.
    """
    check_limb(model, limb, frame)
    limits = flag(limits, "limits")
    points, by_coordinate, count = points_of(p_base, by_coordinate)
    workers = worker_count(threads, -(-count // _PART))
    with helpers(workers) as held:
        words, workers = words_of(held, workers)  # first, for helpers need a while to wake
        constants = cached_constants(model, limb, frame, NEAREST, limits, 0.0, from_zero=not limits)
        shape = (4, count) if by_coordinate else (count, 4)
        given = _seeds(seeds, shape)
        result = answer_of(out, shape, count)
        work = work_of(workers, kernels.WORK)
        leg, tip = model.legs[LOWER_LIMBS.index(limb)], int(frame == Frame.SPHERE_CENTRE)
        arguments = leg, tip, limits, by_coordinate, constants, points.ravel(), given.ravel(), result.q.ravel()
        reached = result.converged.view(np.uint8)
        if words is not None:
            part = kernels.shared_part().address
            bad = kernels.free_shared(words, part, _PART, workers, *arguments, reached, work.ravel())
        else:
            bad = in_parts(kernels.free_feet, (*arguments, reached), count, workers, work, _PART)
    refuse(bad, points)
    return result


def _seeds(seeds: Optional[ArrayLike], shape: Tuple[int, int]) -> np.ndarray:
    if seeds is None:
        return np.zeros(4)
    given = numbers_of(seeds, "seeds", f"finite (4,) or {shape}, as the targets")
    if given.shape not in ((4,), shape) or not np.isfinite(given).all():
        raise ShapeError(f"seeds has shape {given.shape}; expected finite (4,) or {shape}, as the targets")
    return given
