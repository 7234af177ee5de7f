# SPDX-License-Identifier: MIT
"""What closed-form batches of feet have in common: how targets come in, how answers go out, how threads share them."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, List, Optional, Tuple

import numpy as np

from robot_mechanics.errors import ShapeError
from robot_mechanics.native import shared_job
from robot_mechanics.native.threads import call, run_parts
from shellbot_kinematics.shellbot_limbs import LOWER_LIMBS, Frame
from shellbot_kinematics.shellbot_model import ShellbotModel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_local = threading.local()


@dataclass(frozen=True, repr=False)
class FootBatch:
    """Answer of `foot_batch` and `foot_batch_free_fan`."""

    #: (3, N) Coxa, femur, tibia, rad, with free fan the fan before them. Where a target is not reached: of
    #: `foot_batch`, the angles whose distance is the least that this branch has in the leg's plane; with free fan, of
    #: the nearest point found.
    q: np.ndarray
    #: (N,) Whether the leg's tip comes to the target (to rounding, about 1e-15 m; with free fan to 1e-9 m) and, with
    #: `limits`, all four joints are within theirs (to 1e-12 rad)
    converged: np.ndarray

    def __repr__(self) -> str:
        """One line, however many targets there are."""
        return f"FootBatch({self.converged.size} targets, {int(self.converged.sum())} reached)"


def check_limb(model: ShellbotModel, limb: str, frame: Frame) -> None:
    """Raise if the limb is no lower one, or the frame not one of its own."""
    model.chain(limb, frame)
    if limb not in LOWER_LIMBS or frame not in (Frame.FOOT, Frame.SPHERE_CENTRE):
        raise ShapeError(f"expected one of {', '.join(LOWER_LIMBS)} for FOOT or SPHERE_CENTRE, not {limb} {frame}")


def points_of(values: ArrayLike, by_coordinate: Optional[bool]) -> Tuple[np.ndarray, bool, int]:
    """Return the targets, whether they come by coordinate, (3, N), and how many there are."""
    try:
        points = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError("p_base cannot be read as numbers; expected (3, N) or (N, 3)") from None
    if points.ndim != 2 or 3 not in points.shape:
        raise ShapeError(f"p_base has shape {points.shape}; expected (3, N) or (N, 3)")
    if by_coordinate is None:
        if points.shape == (3, 3):
            raise ShapeError(
                "p_base has shape (3, 3), three targets, which can be read in two ways; give "
                "by_coordinate=True for rows x, y, z, or False for one target a row"
            )
        by_coordinate = points.shape[0] == 3
    elif points.shape[0 if by_coordinate else 1] != 3:
        raise ShapeError(f"p_base has shape {points.shape}; expected {'(3, N)' if by_coordinate else '(N, 3)'}")
    return points, by_coordinate, points.shape[1] if by_coordinate else points.shape[0]


def numbers_of(values: ArrayLike, what: str, expected: str) -> np.ndarray:
    """Return the numbers as one block; ShapeError if they are none."""
    try:
        return np.asarray(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ShapeError(f"{what} is {values!r}; expected {expected}") from None


def answer_of(out: Optional[FootBatch], shape: Tuple[int, ...], count: int) -> FootBatch:
    """Return what is to be filled: new, or the caller's if it fits."""
    if out is None:
        return FootBatch(np.empty(shape), np.empty(count, dtype=np.bool_))
    if out.q.shape != shape or out.converged.shape != (count,):
        held = f"q {out.q.shape} and converged {out.converged.shape}"
        raise ShapeError(f"out holds {held}; expected {shape} and ({count},)")
    sound = out.q.flags.carray and out.converged.flags.carray
    if not sound or out.q.dtype != np.float64 or out.converged.dtype != np.bool_:
        raise ShapeError("out holds no arrays of an earlier answer; expected float64 and bool, contiguous, writable")
    return out


def work_of(workers: int, floats: int) -> np.ndarray:
    """Return work memory, kept for the thread of Python that calls: new memory costs more than 5,000 targets."""
    buffer: Optional[np.ndarray] = getattr(_local, "work", None)
    if buffer is None or buffer.shape[0] < workers or buffer.shape[1] != floats:
        buffer = _local.work = np.empty((workers, floats))
    return buffer


def words_of(held: Optional[bool], workers: int) -> Tuple[Optional[np.ndarray], int]:
    """Return the words that lead a job (crew) and for how many workers: with helpers where they are held, else alone.

    Alone, too, a batch runs the C function: code compiled twice may round differently. None where kernels are
    interpreted.
    """
    if held:
        return call(workers), workers
    if not shared_job.NATIVE:
        return None, workers
    words: Optional[np.ndarray] = getattr(_local, "words", None)
    if words is None:
        words = _local.words = shared_job.new_words(1)
    return words, 1


def in_parts(kernel: Any, arguments: Tuple[Any, ...], count: int, workers: int, work: np.ndarray, part: int) -> int:
    """Call kernel(*arguments, first, last, work), interpreted, until all is done; return the sum of what it returns."""
    found: List[int] = []

    def task(first: int, last: int, worker: int) -> None:
        found.append(kernel(*arguments, first, last, work[worker]))

    run_parts(count, workers, task, part)
    return sum(found)


def refuse(bad: int, points: np.ndarray) -> None:
    """Raise if the kernel came across numbers that are not finite (or too large to tell)."""
    if bad and not np.isfinite(points).all():
        raise ShapeError("p_base holds numbers that are not finite; take them out before the call")
