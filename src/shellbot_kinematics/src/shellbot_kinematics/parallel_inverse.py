# SPDX-License-Identifier: MIT
"""Inverse of any parallel robot on a floating base, limb by limb, by the general Levenberg-Marquardt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, Mapping, Optional, Tuple

import numpy as np

from shellbot_kinematics.errors import ShapeError
from shellbot_kinematics.inverse import InverseKinematics
from shellbot_kinematics.inverse_config import IkResult, InverseConfig
from shellbot_kinematics.inverse_target import read_target
from shellbot_kinematics.parallel import ParallelChain
from shellbot_kinematics.se3 import as_pose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False)
class ParallelResult:
    """Coordinates of a parallel robot."""

    q: np.ndarray  #: (n,) All joints, in the order of the chain's `joint_names`
    limbs: Dict[str, IkResult]  #: Of the limbs that had a target

    @property
    def converged(self) -> bool:
        """Whether every limb reached its target."""
        return all(result.converged for result in self.limbs.values())


def parallel_inverse(
    robot: ParallelChain,
    T_world_base: ArrayLike,  # noqa: N803
    world: Optional[Mapping[str, object]] = None,
    base: Optional[Mapping[str, object]] = None,
    q0: Optional[ArrayLike] = None,
    config: Optional[InverseConfig] = None,
) -> ParallelResult:
    """Return the joints that bring limbs to their targets with the base at a pose.

    Joints of a common drive that several limbs share stay where q0 has them, so that one limb does not move another.

    Parameters
    ----------
    robot : ParallelChain
        Any.
    T_world_base : (4, 4) array
        Pose of the base.
    world, base : mapping of limb to target, optional
        Targets as for InverseKinematics.solve, given in the world or in the base. NaN frees a row of a target in the
        base; of one in the world only a whole position or orientation can be free, because the base may be turned.
    q0 : (n,) array, optional
        Start, and the joints of limbs without a target; default 0.
    config : InverseConfig, optional

    Raises
    ------
    ShapeError, UnknownNameError
        On targets that cannot be used, or a limb that is unknown or given twice.
    """
    T = as_pose(np.asarray(T_world_base, dtype=np.float64), "T_world_base")  # noqa: N806
    targets: Dict[str, object] = dict(base or {})
    for limb, target in (world or {}).items():
        if limb in targets:
            raise ShapeError(f"limb {limb} is given twice; give it in the world or in the base")
        targets[limb] = _in_base(limb, T, target)
    n = len(robot.joint_names)
    q = np.zeros(n) if q0 is None else np.array(q0, dtype=np.float64)
    if q.shape != (n,) or not np.isfinite(q).all():
        raise ShapeError(f"q0 has shape {q.shape}; expected ({n},) finite numbers: {', '.join(robot.joint_names)}")
    shared = _shared(robot)
    results: Dict[str, IkResult] = {}
    for limb, target in targets.items():
        chain, where = robot.limb(limb), robot.columns(limb)
        active = [name for name in chain.joint_names if name not in shared]
        results[limb] = InverseKinematics(chain, config).solve(target, q[where], active=active)
        q[where] = results[limb].q
    return ParallelResult(q, results)


def _in_base(limb: str, T: np.ndarray, target: object) -> Tuple[Optional[np.ndarray], Optional[np.ndarray]]:  # noqa: N803
    pose, rows = read_target(target)
    for part, what in ((rows[:3], "position"), (rows[3:], "orientation")):
        if part.any() and not part.all():
            raise ShapeError(f"the {what} of {limb} in the world is free in part; give it in the base, or all or none")
    nothing = np.full(3, np.nan)
    position = T[:3, :3].T @ (pose[:, 3] - T[:3, 3]) if rows[0] else nothing
    return position, (T[:3, :3].T @ pose[:, :3] if rows[3] else None)


def _shared(robot: ParallelChain) -> Tuple[str, ...]:
    limb_of = {name: limb for limb in robot.limb_names for name in robot.limb(limb).joint_names}
    return tuple(
        name for members in robot.common.values() if len({limb_of[m] for m in members}) > 1 for name in members
    )
