# SPDX-License-Identifier: MIT
"""Shellbot as a robot on a floating base: joints for a pose of the body with its feet fixed, or for any mix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, Mapping, Optional, Tuple, Union

import numpy as np

from robot_mechanics.errors import ShapeError, UnknownNameError
from robot_mechanics.motion.se3 import as_pose
from shellbot_kinematics._free_fan import fan_ends
from shellbot_kinematics._layout import G_SFAN, LEG, REACHED
from shellbot_kinematics._planar import wrap
from shellbot_kinematics.base_pose import fit_pose
from shellbot_kinematics.limb_inverse import solve_limb
from shellbot_kinematics.reports import InverseResult
from shellbot_kinematics.shellbot_limbs import LOWER_LIMBS, Frame
from shellbot_kinematics.shellbot_model import ShellbotModel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Points = Union[ArrayLike, Mapping[str, ArrayLike]]


@dataclass(frozen=True, eq=False)
class FloatingBaseResult:
    """Joints of the whole robot for a pose of its body."""

    T_world_base: np.ndarray  #: (4, 4) Pose of the body, as given or as found
    q: np.ndarray  #: (n,) All driven joints, rad
    limbs: Tuple[InverseResult, ...]  #: Of the limbs that were given a point, in the order of the model's limbs
    p_world: Dict[str, np.ndarray]  #: Where the led frames of these limbs are by forward kinematics, m
    errors: Dict[str, float]  #: How far that is from where they should be, m

    @property
    def converged(self) -> bool:
        """Whether every limb meets its point, by forward kinematics, with its joints within their limits."""
        return all(limb.converged for limb in self.limbs) and all(e <= REACHED for e in self.errors.values())

    @property
    def reason(self) -> str:
        """What is not met, in words; empty if all is."""
        return "; ".join(limb.reason for limb in self.limbs if limb.reason)


def floating_base_inverse(
    model: ShellbotModel,
    T_world_base: Optional[ArrayLike],  # noqa: N803
    p_world: Optional[Points] = None,
    p_base: Optional[Points] = None,
    joints: Optional[Mapping[str, ArrayLike]] = None,
    frames: Optional[Mapping[str, Frame]] = None,
    fan_position: Optional[float] = 0.0,
    seed: Optional[ArrayLike] = None,
) -> FloatingBaseResult:
    """Return the joints that hold limbs where they shall be, some in the world, some in the body, some by joints.

    Each limb has a closed form; nothing is iterated.

    Parameters
    ----------
    model : ShellbotModel
        The robot.
    T_world_base : (4, 4) array or None
        Pose of the body. None: it is fitted to the limbs that have both joints and a point in the world.
    p_world, p_base : (6, 3) array or mapping of limb to (3,), optional
        Points in the world and in base_link, m; an array is for the six feet, a row of NaN leaves a limb out.
    joints : mapping of limb to (4,) or (2,), optional
        Joints given, rad. The fan of a lower limb counts like the others here.
    frames : mapping of limb to Frame, optional
        What is led to the point; default FOOT for lower limbs, SPHERE_CENTRE for upper ones.
    fan_position : float or None
        rad, common to the lower limbs given by points. None: the angle nearest to the seed's (of lower_1) at which all
        of them meet their points within their limits, or else the one that leaves the least distance.
    seed : (n,) array, optional
        Joints to stay near to; also those of limbs that nothing is said about. Default 0.

    Raises
    ------
    ShapeError, UnknownNameError
        On wrong shapes, unknown limbs, a limb that is given twice, or a pose that cannot be found.
    """
    world, base = _points("p_world", p_world), _points("p_base", p_base)
    given = {limb: _joints(model, limb, values) for limb, values in (joints or {}).items()}
    q = np.zeros(model.n) if seed is None else np.array(seed, dtype=np.float64)
    if q.shape != (model.n,) or not np.isfinite(q).all():
        raise ShapeError(f"seed has shape {q.shape}; expected ({model.n},) finite numbers, one per driven joint")
    for limb, values in given.items():
        q[model.columns(limb)] = values
    frame = {limb: Frame.FOOT if limb in LOWER_LIMBS else Frame.SPHERE_CENTRE for limb in model.limbs}
    for limb, name in (frames or {}).items():
        model.chain(limb, name)
        frame[limb] = Frame(name)
    if T_world_base is None:
        T = _fitted(model, q, {limb: p for limb, p in world.items() if limb in given}, frame)  # noqa: N806
        world = {limb: p for limb, p in world.items() if limb not in given}
    else:
        T = as_pose(np.asarray(T_world_base, dtype=np.float64), "T_world_base")  # noqa: N806
    twice = sorted((set(world) & set(base)) | (set(given) & (set(world) | set(base))))
    if twice:
        raise ShapeError(f"limb {twice[0]} is given twice; give it in the world, in the body, or by joints")
    targets = {limb: T[:3, :3].T @ (p - T[:3, 3]) for limb, p in world.items()}
    targets.update(base)
    lower = {limb: (p, frame[limb]) for limb, p in targets.items() if limb in LOWER_LIMBS}
    fan = _common_fan(model, lower, q) if fan_position is None and lower else fan_position
    limbs, reached, errors = [], {}, {}
    for limb in model.limbs:
        if limb not in targets:
            continue
        result = solve_limb(model, limb, frame[limb], targets[limb], fan_position=0.0 if fan is None else fan, seed=q)
        q[model.columns(limb)] = result.q
        limbs.append(result)
        p = model.chain(limb, frame[limb]).fk(result.q)[:3, 3]
        reached[limb] = T[:3, :3] @ p + T[:3, 3]
        errors[limb] = float(np.linalg.norm(p - targets[limb]))
    unknown = sorted(set(targets) - set(model.limbs))
    if unknown:
        raise UnknownNameError(f"this robot has no limb '{unknown[0]}'; it has {', '.join(model.limbs)}")
    return FloatingBaseResult(T, q, tuple(limbs), reached, errors)


def _points(what: str, given: Optional[Points]) -> Dict[str, np.ndarray]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        points = {limb: np.asarray(p, dtype=np.float64) for limb, p in given.items()}
    else:
        feet = np.asarray(given, dtype=np.float64)
        if feet.shape != (6, 3):
            raise ShapeError(f"{what} has shape {feet.shape}; expected (6, 3), or a mapping of limb to (3,)")
        points = {limb: p for limb, p in zip(LOWER_LIMBS, feet) if not np.isnan(p).all()}
    for limb, p in points.items():
        if p.shape != (3,) or not np.isfinite(p).all():
            raise ShapeError(f"{what} of {limb} is {p.tolist()}; expected three finite numbers, m")
    return points


def _joints(model: ShellbotModel, limb: str, values: ArrayLike) -> np.ndarray:
    frame = Frame.FOOT if limb in LOWER_LIMBS else Frame.SPHERE_CENTRE
    return model.chain(limb, frame).check(values)


def _fitted(
    model: ShellbotModel, q: np.ndarray, world: Mapping[str, np.ndarray], frame: Mapping[str, Frame]
) -> np.ndarray:
    if len(world) < 3:
        raise ShapeError(
            f"without T_world_base three limbs need both joints and a point in the world; {len(world)} have"
        )
    there = [model.chain(limb, frame[limb]).fk(q[model.columns(limb)])[:3, 3] for limb in world]
    return fit_pose(there, list(world.values())).T_world_base


def _common_fan(model: ShellbotModel, lower: Mapping[str, Tuple[np.ndarray, Frame]], q: np.ndarray) -> float:
    """Return the fan angle for several legs: the ends of each leg's intervals (see _free_fan) are tried, nearest first.

    The angles that suit all legs are intervals too, and each ends where one leg's does.
    """
    low, high = model.lower[0], model.upper[0]
    now = float(np.clip(q[0], low, high))
    turns = [now]
    ends = np.empty(40)
    for limb, (p, frame) in lower.items():
        o = LEG * LOWER_LIMBS.index(limb)
        count = fan_ends(model.packed, o, 0 if frame == Frame.FOOT else 1, *p, True, ends)
        sign = model.packed[o + G_SFAN]
        for end in ends[:count]:
            turn = wrap(sign * end, 0.5 * (low + high))
            if low - 1e-12 <= turn <= high + 1e-12:
                turns.append(min(max(turn, low), high))
    best, least = now, np.inf
    for turn in sorted(turns, key=lambda value: abs(value - now)):
        worst = max(
            solve_limb(model, limb, frame, p, fan_position=turn, seed=q).error for limb, (p, frame) in lower.items()
        )
        if worst < least - 1e-9:
            best, least = turn, worst
        if least <= 1e-3 * REACHED:
            break
    return best
