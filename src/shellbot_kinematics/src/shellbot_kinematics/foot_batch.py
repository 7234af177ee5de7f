# SPDX-License-Identifier: MIT
"""Closed-form inverse of a lower leg for many targets in one call, on all cores."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Union
from weakref import WeakKeyDictionary

import numpy as np

from shellbot_kinematics import _foot_lanes as kernels
from shellbot_kinematics import _layout as layout
from shellbot_kinematics.errors import InvalidReferenceError, ShapeError
from shellbot_kinematics.limb_inverse import LegBranch
from shellbot_kinematics.references import LOWER_LIMBS, Frame
from shellbot_kinematics.shellbot_model import ShellbotModel
from shellbot_kinematics.threads import call, count_of, helpers, share

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

NEAREST = "nearest"
_PART = 4 * kernels.TILE  # targets, the smallest part of a batch given to a thread
_KEPT = 64  # sets of constants kept for a model
_NONE = np.empty((0, 0))
_local = threading.local()
_made: WeakKeyDictionary[ShellbotModel, Dict[Any, np.ndarray]] = WeakKeyDictionary()


@dataclass(frozen=True, repr=False)
class FootBatch:
    """Answer of `foot_batch`.

    Attributes
    ----------
    q : (3, N) or (N, 3) float64, as the targets
        Coxa, femur, tibia, rad. Where a target is not reached: its distance is the least that this branch has in the
        leg's plane.
    reached : (N,) bool
        Whether the leg's tip comes to the target (to rounding, about 1e-15 m) and, where asked for, within the limits.
    """

    q: np.ndarray
    reached: np.ndarray

    def __repr__(self) -> str:
        """One line, however many targets there are."""
        return f"FootBatch({self.reached.size} targets, {int(self.reached.sum())} reached)"


def foot_batch(
    model: ShellbotModel,
    limb: str,
    p_base: ArrayLike,
    fan: ArrayLike = 0.0,
    branch: Union[LegBranch, str] = LegBranch.FRONT_KNEE_UP,
    seeds: Optional[ArrayLike] = None,
    limits: bool = False,
    frame: Frame = Frame.FOOT,
    threads: Optional[int] = None,
    out: Optional[FootBatch] = None,
) -> FootBatch:
    """Solve one lower leg for many positions of its tip by the closed form.

    Parameters
    ----------
    model : ShellbotModel
        The robot.
    limb : str
        lower_1 .. lower_6.
    p_base : (3, N) or (N, 3) float64
        Targets in base_link, m; by coordinate, (3, N), is the faster form. Three targets are read as (3, N).
    fan : float or (N,)
        Angle of the fan, rad, for all targets or one each.
    branch : LegBranch or "nearest"
        One branch for all targets, or for each target the branch that is nearest to its seed (by the joint that
        changes most) among those that reach it, and that keep to the limits if `limits`.
    seeds : (3,) or like p_base, optional
        Coxa, femur, tibia, rad, for branch="nearest"; default zero.
    limits : bool
        With "nearest": leave branches beyond the joint limits out. Joints are counted from the middle of their limits
        in any case.
    frame : Frame
        FOOT or SPHERE_CENTRE.
    threads : int, optional
        Default: all cores.
    out : FootBatch, optional
        Written to instead of new arrays (of an earlier call of the same size).

    Raises
    ------
    ShapeError
        If shapes do not fit, or numbers are not finite.
    UnknownNameError
        If limb or frame do not exist.
    InvalidReferenceError, InvalidConfigError
        If the branch is neither, or threads is no whole number above zero.

    Notes
    -----
    Sine, cosine and arctangent are polynomials with errors below 1e-15 rad, so that SIMD units can evaluate them;
    answers differ from the single solver's by rounding, and not with the number of threads.
    """
    model.chain(limb, frame)
    if limb not in LOWER_LIMBS or frame not in (Frame.FOOT, Frame.SPHERE_CENTRE):
        raise ShapeError(f"foot_batch solves {', '.join(LOWER_LIMBS)} for FOOT or SPHERE_CENTRE, not {limb} {frame}")
    points = _points("p_base", p_base)
    by_coordinate = points.shape[0] == 3
    count = points.shape[1] if by_coordinate else points.shape[0]
    workers = max(1, min(count_of(threads), -(-count // _PART)))
    with helpers(workers) as held:
        words = call(workers) if held else None  # first, for they need a while to wake
        own_fan = _fan(fan, count)
        shared_fan = 0.0 if own_fan.size else float(np.asarray(fan))
        constants = _kept_constants(model, limb, frame, branch, limits, shared_fan)
        branches = constants.shape[0] // 2
        given = _seeds(seeds, points) if branches > 1 else _NONE
        result = _answer(out, points, count)
        kernel = kernels.feet_by_coordinate if by_coordinate else kernels.feet_by_target
        work = _work(workers)
        asked = constants, branches, points.ravel(), own_fan, given.ravel(), result.q.ravel()
        reached = result.reached.view(np.uint8)
        if words is not None:
            part = kernels.shared_part().address
            bad = kernels.feet_shared(words, part, _PART, workers, by_coordinate, *asked, reached, work.ravel())
        elif workers == 1:
            bad = kernel(*asked, reached, 0, count, work[0])
        else:
            found: List[int] = []

            def task(first: int, last: int, worker: int) -> None:
                found.append(kernel(*asked, reached, first, last, work[worker]))

            share(count, workers, task, _PART)
            bad = sum(found)
    if bad and not np.isfinite(points).all():
        raise ShapeError("p_base holds numbers that are not finite; take them out before the call")
    return result


def _points(what: str, values: ArrayLike) -> np.ndarray:
    try:
        points = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError(f"{what} cannot be read as numbers; expected (3, N) or (N, 3)") from None
    if points.ndim != 2 or 3 not in points.shape:
        raise ShapeError(f"{what} has shape {points.shape}; expected (3, N) or (N, 3)")
    return points


def _fan(fan: ArrayLike, count: int) -> np.ndarray:
    """Return one angle a target, or none if all share one."""
    angles = np.asarray(fan, dtype=np.float64)
    if angles.ndim == 0 or angles.size == 0:
        if angles.size == 0 or not math.isfinite(float(angles)):
            raise ShapeError(f"fan is {fan!r}; expected a finite angle, or {count} of them")
        return np.empty(0)
    if angles.shape != (count,) or not np.isfinite(angles).all():
        raise ShapeError(f"fan has shape {angles.shape}; expected one finite angle, or ({count},) of them")
    return np.ascontiguousarray(angles)


def _seeds(seeds: Optional[ArrayLike], points: np.ndarray) -> np.ndarray:
    if seeds is None:
        return np.zeros_like(points)
    given = np.ascontiguousarray(seeds, dtype=np.float64)
    if given.shape == (3,):
        given = np.ascontiguousarray(np.broadcast_to(given[:, None] if points.shape[0] == 3 else given, points.shape))
    if given.shape != points.shape or not np.isfinite(given).all():
        raise ShapeError(f"seeds has shape {given.shape}; expected finite (3,) or {points.shape}, as the targets")
    return given


def _answer(out: Optional[FootBatch], points: np.ndarray, count: int) -> FootBatch:
    if out is None:
        return FootBatch(np.empty_like(points), np.empty(count, dtype=np.bool_))
    if out.q.shape != points.shape or out.reached.shape != (count,):
        raise ShapeError(f"out holds q {out.q.shape}; expected {points.shape}, as the targets")
    if (
        out.q.dtype != np.float64
        or out.reached.dtype != np.bool_
        or not (out.q.flags.carray and out.reached.flags.carray)
    ):
        raise ShapeError(
            "out holds other arrays than an earlier answer: expected float64 and bool, contiguous, writable"
        )
    return out


def _work(workers: int) -> np.ndarray:
    """Return work memory, kept for the thread of Python that calls: new memory costs more than 5,000 targets."""
    kept: Optional[np.ndarray] = getattr(_local, "work", None)
    if kept is None or kept.shape[0] < workers:
        kept = _local.work = np.empty((workers, kernels.WORK))
    return kept


def _kept_constants(
    model: ShellbotModel, limb: str, frame: Frame, branch: Union[LegBranch, str], limits: bool, fan: float
) -> np.ndarray:
    """Return `_constants`, made once for batches that ask for the same; they cost as much as 10,000 targets."""
    kept = _made.setdefault(model, {})
    key = (limb, frame, branch, bool(limits), fan)
    found = kept.get(key)
    if found is None:
        if len(kept) >= _KEPT:
            kept.clear()
        found = kept[key] = _constants(model, limb, frame, branch, limits, fan)
    return found


def _constants(
    model: ShellbotModel, limb: str, frame: Frame, branch: Union[LegBranch, str], limits: bool, fan: float
) -> np.ndarray:
    """Return the rows (2 * branches, CONSTANTS) that _foot_lanes describes."""
    if branch == NEAREST:
        chosen = list(LegBranch)
    elif isinstance(branch, LegBranch):
        chosen = [branch]
    else:
        raise InvalidReferenceError(f"branch is {branch!r}; expected a LegBranch or '{NEAREST}'")
    leg = LOWER_LIMBS.index(limb)
    g = model.legs[leg]
    low, high = model.lower[4 * leg + 1 : 4 * leg + 4], model.upper[4 * leg + 1 : 4 * leg + 4]
    tip = layout.G_TIP + 3 * (0 if frame == Frame.FOOT else 1)
    h, outer, b0 = g[tip : tip + 3]
    link, a0, sf, st = (float(g[i]) for i in (layout.G_L, layout.G_A0, layout.G_SF, layout.G_ST))
    off = g[layout.G_OFF : layout.G_OFF + 3]
    turn = np.eye(4)
    R = g[layout.G_ROT : layout.G_ROT + 9].reshape(3, 3)  # noqa: N806
    c, s = math.cos(g[layout.G_SFAN] * fan), math.sin(g[layout.G_SFAN] * fan)
    turn[:3, :3] = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ R
    turn[:3, 3] = -turn[:3, :3] @ g[layout.G_FAN : layout.G_FAN + 3] - off - [0.0, 0.0, g[layout.G_ZF]]
    middle = 0.5 * (low + high)
    # from the coxa's middle; the fan's axis is parallel to the coxa's, so that targets may be turned before the fan
    c, s = math.cos(middle[0]), math.sin(middle[0])
    back = np.array([[c, s, 0.0, 0.0], [-s, c, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    off = back[:3, :3] @ off
    c, s = math.cos(a0 - sf * middle[1]), math.sin(a0 - sf * middle[1])  # femur's own zero, from its middle
    bounds = (low, high) if limits else (np.full(3, -np.inf), np.full(3, np.inf))
    rows = []
    for T in (back @ turn, np.eye(4)):  # noqa: N806 - the second: targets that the kernel has turned itself
        for side, knee in (one.value for one in chosen):
            # the tibia covers half a turn from its start on; the part of it beyond the middle + pi is turned back
            start, way = st * (b0 - a0), -st * knee
            least = min(start, start + way * math.pi)
            start -= 2.0 * math.pi * math.floor((least - middle[2]) / (2.0 * math.pi) + 0.5)
            rows.append(
                [*T[:3, :3].ravel(), *T[:3, 3], h, side, g[layout.G_L2]]
                + [0.5 / (link * outer), 0.5 * (link / outer + outer / link), knee]
                + [link * c, outer * c, link * s, outer * s]
                + [middle[0], middle[1], -sf, start, 2.0 * way, middle[2] + math.pi]
                + [*bounds[0], *bounds[1], *off, g[layout.G_SFAN]]
            )
    return np.array(rows)
