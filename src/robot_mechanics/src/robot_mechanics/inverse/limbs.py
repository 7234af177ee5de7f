# SPDX-License-Identifier: MIT
"""Inverse of limbs on a floating base by the general Levenberg-Marquardt: limb by limb, or together where needed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Dict, Mapping, Optional, Set, Tuple

import numpy as np

from robot_mechanics.errors import ShapeError
from robot_mechanics.inverse.config import IkResult, InverseConfig
from robot_mechanics.inverse.shared_drives import SharedDrivesInverse, groups
from robot_mechanics.inverse.solver import InverseKinematics
from robot_mechanics.inverse.target import read_target
from robot_mechanics.models.chain import SerialChain
from robot_mechanics.models.joint import Mimic
from robot_mechanics.models.limbs import LimbSet
from robot_mechanics.motion.se3 import as_pose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False, repr=False)
class LimbsResult:
    """Coordinates of all limbs."""

    q: np.ndarray  #: (n,) All joints, in the order of the chain's `joint_names`
    u: np.ndarray  #: (drives,) The same by drive, in the order of `drive_names`: what the motors are commanded
    limbs: Dict[str, IkResult]  #: Of the limbs that had a target

    @property
    def converged(self) -> bool:
        """Whether every limb reached its target."""
        return all(result.converged for result in self.limbs.values())

    def __repr__(self) -> str:
        """One line: which limbs reached their targets, and why others did not."""
        missed = [f"; {name} {result.reason}" for name, result in self.limbs.items() if not result.converged]
        return f"LimbsResult({len(self.limbs) - len(missed)} of {len(self.limbs)} reached{''.join(missed)})"


def inverse_limbs(
    robot: LimbSet,
    T_world_base: ArrayLike,  # noqa: N803
    world: Optional[Mapping[str, object]] = None,
    base: Optional[Mapping[str, object]] = None,
    seed: Optional[ArrayLike] = None,
    config: Optional[InverseConfig] = None,
) -> LimbsResult:
    """Return the joints that bring limbs to their targets with the base at a pose.

    The robot can take them: joints that share a drive inside a limb, and joints that mimic another, move together.
    Limbs are solved one by one, with drives of several limbs where seed has them. Limbs that miss their targets so are
    solved together with those that they share drives with, over the drives' coordinates. A drive that also moves a
    limb without a target rests, and the reason of a limb that misses its target says so.

    Parameters
    ----------
    robot : LimbSet
        Any.
    T_world_base : (4, 4) array
        Pose of the base.
    world, base : mapping of limb to target, optional
        Targets as for InverseKinematics.solve, given in the world or in the base. NaN frees a row of a target in the
        base; of one in the world only a whole position or orientation can be free, because the base may be turned.
    seed : (n,) array, optional
        Start, and the joints of limbs without a target; default: every drive at 0, or what of its limits is nearest.
    config : InverseConfig, optional

    Raises
    ------
    ShapeError, UnknownNameError
        On targets that cannot be used, a limb that is unknown or given twice, or a seed that the drives cannot take.
    """
    T = as_pose(np.asarray(T_world_base, dtype=np.float64), "T_world_base")  # noqa: N806
    targets: Dict[str, object] = dict(base or {})
    for limb, target in (world or {}).items():
        if limb in targets:
            raise ShapeError(f"limb {limb} is given twice; give it in the world or in the base")
        targets[limb] = _in_base(limb, T, target)
    u0 = np.clip(np.zeros(len(robot.drive_names)), robot.lower, robot.upper)
    if seed is not None:
        try:
            u0 = robot.reduce(seed)
        except ShapeError as error:
            raise ShapeError(f"seed cannot be started from: {error}") from None
    q = robot.expand(u0)
    results: Dict[str, IkResult] = {}
    for limb, target in targets.items():
        where = robot.columns(limb)
        chain, ratio, offset, column, active = _driven(robot, limb)
        # a joint of the driven chain is the first one of its drive
        first = [robot.limb(limb).joint_names.index(name) for name in chain.joint_names]
        found = InverseKinematics(chain, config).solve(target, q[where][first], active=active)
        q[where] = ratio * found.q[column] + offset
        joints = q[where].copy()
        joints.setflags(write=False)
        results[limb] = replace(found, q=joints)
    if not all(result.converged for result in results.values()):
        q = _together(robot, targets, q, results, config)
    return LimbsResult(q, robot.reduce(q), results)


def _together(
    robot: LimbSet,
    targets: Mapping[str, object],
    q: np.ndarray,
    results: Dict[str, IkResult],
    config: Optional[InverseConfig],
) -> np.ndarray:
    """Return the joints where limbs that share drives are solved together if one misses its target; the results of
    these are replaced, and the reasons of those that still miss completed.
    """
    limbs_of_group, rests = groups(robot, targets)
    drive, gear, _ = robot.transmission()
    for limbs in limbs_of_group:
        if len(limbs) > 1 and not all(results[limb].converged for limb in limbs):
            outside = np.ones(len(q), dtype=bool)
            for limb in limbs:
                outside[robot.columns(limb)] = False
            free = np.ones(len(robot.drive_names), dtype=bool)
            free[drive[outside & (gear != 0.0)]] = False
            search = SharedDrivesInverse(
                robot, {limb: targets[limb] for limb in limbs}, free, config or InverseConfig()
            )
            u, found = search.solve(robot.reduce(q))
            q = robot.expand(u)
            for limb, result in found.items():
                results[limb] = replace(result, iterations=results[limb].iterations + result.iterations)
    for limb, result in results.items():
        if not result.converged:
            results[limb] = replace(result, reason=result.reason + rests[limb])
    return q


def _driven(robot: LimbSet, limb: str) -> Tuple[SerialChain, np.ndarray, np.ndarray, np.ndarray, Tuple[str, ...]]:
    """Return a limb with one coordinate per drive, how its joints follow from those, and which of them are its own.

    Joint i is ratio[i] * q[column[i]] + offset[i].
    """
    chain, where = robot.limb(limb), robot.columns(limb)
    drive, gear, zero = robot.transmission()
    elsewhere: Set[int] = set(drive[: where.start].tolist() + drive[where.stop :].tolist())
    drive, gear, zero = drive[where], gear[where], zero[where]
    masters: Dict[int, int] = {}  # drive -> the first joint that it turns
    for i, d in enumerate(drive.tolist()):
        if d not in elsewhere and gear[i] != 0.0:
            masters.setdefault(d, i)
    follows = {i: masters[d] for i, d in enumerate(drive.tolist()) if masters.get(d, i) != i}
    names, n = chain.joint_names, len(chain.joint_names)
    ratio, offset, leader = np.ones(n), np.zeros(n), np.arange(n)
    for i, m in follows.items():
        leader[i], ratio[i] = m, gear[i] / gear[m]
        offset[i] = zero[i] - ratio[i] * zero[m]
    mimics = {names[i]: Mimic(names[m], float(ratio[i]), float(offset[i])) for i, m in follows.items()}
    joints = [replace(joint, mimic=mimics[joint.name]) if joint.name in mimics else joint for joint in chain.joints]
    driven = SerialChain(joints, chain.name, chain.base, chain.tip) if mimics else chain
    column = np.array([driven.joint_names.index(names[m]) for m in leader], dtype=np.int64)
    return driven, ratio, offset, column, tuple(names[i] for i in masters.values())


def _in_base(limb: str, T: np.ndarray, target: object) -> Tuple[Optional[np.ndarray], Optional[np.ndarray]]:  # noqa: N803
    pose, rows = read_target(target)
    for part, what in ((rows[:3], "position"), (rows[3:], "orientation")):
        if part.any() and not part.all():
            raise ShapeError(f"the {what} of {limb} in the world is free in part; give it in the base, or all or none")
    nothing = np.full(3, np.nan)
    position = T[:3, :3].T @ (pose[:, 3] - T[:3, 3]) if rows[0] else nothing
    return position, (T[:3, :3].T @ pose[:, :3] if rows[3] else None)
