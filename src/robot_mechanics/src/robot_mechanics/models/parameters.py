# SPDX-License-Identifier: MIT
"""The numbers of a chain or tree as packed arrays: what kernels and the code generator read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Sequence, Tuple

import numpy as np

from robot_mechanics.errors import InvalidChainError
from robot_mechanics.models.joint import FIXED, KINDS, Joint
from robot_mechanics.native.chain_kernels import LARGEST as LARGEST_COORDINATE


@dataclass(frozen=True, eq=False)
class ChainParameters:
    """Constant arrays of m joints with n coordinates; all arrays read-only.

    The pose behind joint i is T_i = T_parent[i] . pre[i] . motion(kind[i], value[i]) . post[i], where the motion is
    about or along z and value[i] = ratio[i] * q[column[i]] + offset[i].
    """

    #: pre, post: (m, 4, 4) Constant transforms before and after the motion, m
    pre: np.ndarray
    post: np.ndarray
    kind: np.ndarray  #: (m,) 0 revolute, 1 prismatic, 2 fixed
    parent: np.ndarray  #: (m,) Joint before this one, -1 for the base; in a serial chain i - 1
    column: np.ndarray  #: (m,) Coordinate that drives the joint, -1 for a fixed one
    #: ratio, offset: (m,) 1 and 0, but for joints that mimic another
    ratio: np.ndarray
    offset: np.ndarray
    n: int  #: Number of coordinates
    coordinates: Tuple[int, ...]  #: For each coordinate the joint that owns it
    #: lower, upper, velocity: (n,) Limits of the coordinates (rad or m, and per second), those of the joints that mimic
    #: included
    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray


def pack(joints: Sequence[Joint], parent: Sequence[int], what: str) -> ChainParameters:
    """Return the packed arrays of joints; `what` names the chain or tree in messages.

    A joint that mimics another of `joints` follows it (also through several). Those whose master is not among them
    follow the first of them, whose coordinate stands for the master's, within limits of their own.

    Parameters
    ----------
    joints : sequence of Joint
        Parents before their children.
    parent : sequence of int
        Row of each joint's parent in `joints`, -1 for the root.
    what : str
        Of the chain or tree.

    Raises
    ------
    InvalidChainError
        If a joint mimics itself or a fixed joint, or the limits of a joint and its followers exclude each other.
    """
    by_name = {joint.name: i for i, joint in enumerate(joints)}
    first_of: Dict[str, int] = {}
    m = len(joints)
    column, ratio, offset = np.full(m, -1, dtype=np.int64), np.ones(m), np.zeros(m)
    for i in reversed(range(m)):
        mimic = joints[i].mimic
        if mimic is not None and joints[i].kind != FIXED and mimic.joint not in by_name and mimic.ratio:
            first_of[mimic.joint] = i
    masters = [_master(i, joints, by_name, first_of, what) for i in range(m)]
    coordinates = tuple(i for i in range(m) if joints[i].kind != FIXED and masters[i][0] == i)
    column_of: Dict[int, int] = {i: c for c, i in enumerate(coordinates)}
    for i, (master, r, o) in enumerate(masters):
        if joints[i].kind != FIXED:
            column[i], ratio[i], offset[i] = column_of[master], r, o
    turned = [_z_to(joint.axis) for joint in joints]  # the kernels move along and about z only
    pre = np.array([joint.origin @ A for joint, A in zip(joints, turned)]).reshape(m, 4, 4)
    post = np.array([A.T @ joint.after for joint, A in zip(joints, turned)]).reshape(m, 4, 4)
    kind = np.array([KINDS.index(joint.kind) for joint in joints], dtype=np.int64)
    lower, upper, velocity = _limits(joints, coordinates, column, ratio, offset, what)
    before = np.array(parent, dtype=np.int64)
    for array in (pre, post, kind, before, column, ratio, offset, lower, upper, velocity):
        array.setflags(write=False)
    return ChainParameters(
        pre, post, kind, before, column, ratio, offset, len(coordinates), coordinates, lower, upper, velocity
    )


def _master(
    i: int, joints: Sequence[Joint], by_name: Dict[str, int], first_of: Dict[str, int], what: str
) -> Tuple[int, float, float]:
    """Return the joint whose coordinate drives joint i, with ratio and offset to it.

    `first_of` has the first follower of each master that is not among the joints.
    """
    ratio, offset, at = 1.0, 0.0, i
    seen: List[int] = []
    while True:
        mimic = joints[at].mimic
        if mimic is None or joints[at].kind == FIXED:
            return at, ratio, offset
        if mimic.joint not in by_name:
            first = first_of.get(mimic.joint, at)
            leads = joints[first].mimic
            if first == at or leads is None:
                return at, ratio, offset
            # q_at = a q_master + b and q_first = c q_master + d
            r = mimic.ratio / leads.ratio
            return first, ratio * r, ratio * (mimic.offset - r * leads.offset) + offset
        seen.append(at)
        # q_i = ratio * q_at + offset and q_at = mimic.ratio * q_next + mimic.offset
        offset, ratio = ratio * mimic.offset + offset, ratio * mimic.ratio
        at = by_name[mimic.joint]
        if at in seen:
            raise InvalidChainError(f"joint '{joints[i].name}' of {what} mimics itself, through '{mimic.joint}'")
        if joints[at].kind == FIXED:
            raise InvalidChainError(
                f"joint '{joints[seen[-1]].name}' of {what} mimics '{mimic.joint}', which is fixed; "
                "expected one that moves"
            )


def _limits(
    joints: Sequence[Joint],
    coordinates: Sequence[int],
    column: np.ndarray,
    ratio: np.ndarray,
    offset: np.ndarray,
    what: str,
) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    lower = np.array([joints[i].lower for i in coordinates], dtype=np.float64)
    upper = np.array([joints[i].upper for i in coordinates], dtype=np.float64)
    velocity = np.array([joints[i].velocity for i in coordinates], dtype=np.float64)
    for i, joint in enumerate(joints):
        c, r, o = int(column[i]), float(ratio[i]), float(offset[i])
        if c < 0 or coordinates[c] == i:
            continue
        if r == 0.0:
            low, high = (-np.inf, np.inf) if joint.lower <= o <= joint.upper else (np.inf, -np.inf)
        else:
            low, high = sorted(((joint.lower - o) / r, (joint.upper - o) / r))
            velocity[c] = min(velocity[c], joint.velocity / abs(r))
        lower[c], upper[c] = max(lower[c], low), min(upper[c], high)
        if not lower[c] <= upper[c]:
            raise InvalidChainError(
                f"joint '{joint.name}' of {what} (limits {joint.lower} .. {joint.upper}) follows "
                f"'{joints[coordinates[c]].name}' (limits {joints[coordinates[c]].lower} .. "
                f"{joints[coordinates[c]].upper}), but no position is within the limits of both"
            )
    for c, i in enumerate(coordinates):
        if not (lower[c] <= LARGEST_COORDINATE and upper[c] >= -LARGEST_COORDINATE):
            raise InvalidChainError(
                f"limits of joint '{joints[i].name}' of {what}, and of those that follow it, are {lower[c]} .. "
                f"{upper[c]}; expected some of it within +-{LARGEST_COORDINATE:g} (rad or m)"
            )
    return lower, upper, velocity


def _z_to(axis: np.ndarray) -> np.ndarray:
    """Return a rotation (4, 4) whose third column is the axis; the identity for z."""
    T = np.eye(4)  # noqa: N806
    if axis[0] == 0.0 and axis[1] == 0.0 and axis[2] > 0.0:
        return T
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    T[:3, 0], T[:3, 1], T[:3, 2] = x, np.cross(axis, x), axis
    return T
